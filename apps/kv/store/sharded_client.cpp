/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "sharded_client.hpp"

#include <cerrno>
#include <charconv>

namespace prism::kv
{

namespace
{

/** A server of several that is down, and not one that is another than was meant. */
bool does_not_answer(int error) noexcept
{
	return error == ETIMEDOUT || error == ECONNREFUSED || error == ECONNRESET || error == EHOSTUNREACH ||
	       error == ENETUNREACH;
}

} // namespace

Result<ServerAddress> ServerAddress::parse(const std::string &text, std::uint16_t default_port)
{
	const auto wrong = [&] { return make_error(EINVAL, "'" + text + "' is no server", "write HOST or HOST:PORT"); };
	ServerAddress address{text, default_port};
	const bool bracketed = !text.empty() && text.front() == '[';
	const std::size_t end = bracketed ? text.find(']') : std::string::npos;
	if (bracketed && (end == std::string::npos || (end + 1 < text.size() && text[end + 1] != ':')))
		return wrong();
	const std::size_t colon = text.find(':', bracketed ? end : 0);
	/* More than one colon and no brackets: an IPv6 address alone */
	const bool has_port =
		colon != std::string::npos && (bracketed || text.find(':', colon + 1) == std::string::npos);
	if (has_port) {
		const auto [rest, error] =
			std::from_chars(text.data() + colon + 1, text.data() + text.size(), address.port);
		if (error != std::errc{} || rest != text.data() + text.size() || !address.port)
			return wrong();
		address.host = text.substr(0, colon);
	}
	if (bracketed)
		address.host = text.substr(1, end - 1);
	if (address.host.empty())
		return wrong();
	return address;
}

std::string ServerAddress::text() const
{
	const bool bare_ipv6 = host.find(':') != std::string::npos;
	return (bare_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<std::unique_ptr<ShardedClient>> ShardedClient::connect(
	const Context &context, const std::vector<ServerAddress> &servers, const PrismClientOptions &options)
{
	if (servers.empty())
		return make_error(EINVAL, "cannot connect to a store", "name at least one server");
	std::vector<Shard> shards;
	std::size_t connected = 0;
	for (const ServerAddress &server : servers) {
		auto client = PrismClient::connect(context, server.host, server.port, options);
		Shard shard{server, nullptr, {}};
		if (client) {
			shard.client = *std::move(client);
			connected++;
		} else {
			shard.absence = {client.error().code, server.text() + ": " + client.error().message};
			if (!does_not_answer(client.error().code))
				return shard.absence;
		}
		shards.push_back(std::move(shard));
	}
	if (connected == 0)
		return shards.front().absence;
	return std::unique_ptr<ShardedClient>(new ShardedClient(std::move(shards), options.depth));
}

/* Not by a server's own secret: all clients agree on it before they know one. */
std::size_t ShardedClient::shard_of(std::span<const std::byte> key) const noexcept
{
	return shards_.size() == 1 ? 0 : fingerprint_of(HashKey{}, key).high % shards_.size();
}

int ShardedClient::start(apps::Operation &operation) noexcept
{
	Shard &shard = shards_[shard_of(operation.key)];
	return shard.client ? shard.client->start(operation) : shard.absence.code;
}

std::size_t ShardedClient::poll(std::span<apps::Operation *> completed) noexcept
{
	std::size_t count = 0;
	for (const Shard &shard : shards_)
		count += shard.client ? shard.client->poll(completed.subspan(count)) : 0;
	return count;
}

} // namespace prism::kv
