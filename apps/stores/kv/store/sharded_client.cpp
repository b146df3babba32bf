/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "sharded_client.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>

#include "base/clock.hpp"

namespace prism::kv
{

namespace
{

/** Returns true for the errors of a server that is down, rather than a wrong one. */
bool does_not_answer(int error) noexcept
{
	return error == ETIMEDOUT || error == ECONNREFUSED || error == ECONNRESET || error == EHOSTUNREACH ||
	       error == ENETUNREACH;
}

/** Returns the share of the time until @p end for one of @p servers that are to be tried until then. */
std::chrono::milliseconds share_of(std::chrono::steady_clock::time_point end, std::size_t servers)
{
	return std::max<std::chrono::milliseconds>(
		time_left(end) / static_cast<std::int64_t>(servers), std::chrono::milliseconds(1));
}

/** Returns @p why with the server's address in the message, once. */
Error named(const ServerAddress &server, const Error &why)
{
	const std::string address = server.text();
	return why.message.find(address) == std::string::npos ? Error{why.code, address + ": " + why.message} : why;
}

} // namespace

Result<std::unique_ptr<ShardedClient>> ShardedClient::connect(
	const Context &context, const std::vector<ServerAddress> &servers, const PrismClientOptions &options)
{
	if (servers.empty() || servers.size() > std::numeric_limits<std::uint16_t>::max())
		return make_error(EINVAL, "cannot connect to a store", "name 1 to 65535 servers");
	std::vector<Shard> shards;
	PrismClientOptions each = options;
	each.shard.shards = static_cast<std::uint16_t>(servers.size());
	const auto end = std::chrono::steady_clock::now() + options.timeout;
	for (const ServerAddress &server : servers) {
		each.shard.shard = static_cast<std::uint16_t>(shards.size());
		each.setup_timeout = share_of(end, servers.size() - shards.size());
		auto client = PrismClient::connect(context, server.host, server.port, each);
		Shard shard{server, nullptr, {}, nullptr};
		if (client) {
			shard.client = *std::move(client);
			each.store = shard.client->server().shard.store;
		} else {
			shard.absence = named(server, client.error());
			if (!does_not_answer(client.error().code))
				return shard.absence;
		}
		shards.push_back(std::move(shard));
	}
	if (!each.store)
		return shards.front().absence;
	return std::unique_ptr<ShardedClient>(new ShardedClient(context, std::move(shards), each));
}

/** Keeps trying to connect to servers that are absent. */
ShardedClient::ShardedClient(const Context &context, std::vector<Shard> shards, const PrismClientOptions &options)
	: shards_(std::move(shards)), depth_(options.depth)
{
	for (std::size_t number = 0; number < shards_.size(); number++) {
		Shard &shard = shards_[number];
		if (shard.client)
			continue;
		PrismClientOptions mine = options;
		mine.setup_timeout = {};
		mine.shard.shard = static_cast<std::uint16_t>(number);
		shard.connector = std::make_unique<apps::Connector<PrismClient>>();
		shard.connector->want([context, address = shard.address, mine] {
			return PrismClient::connect(context, address.host, address.port, mine);
		});
	}
}

/* Without a server's own secret, as all clients must agree before they know one. */
std::size_t ShardedClient::shard_of(std::span<const std::byte> key) const noexcept
{
	return shards_.size() == 1 ? 0 : fingerprint_of(HashKey{}, key).high % shards_.size();
}

int ShardedClient::start(apps::Operation &operation, Version *version) noexcept
{
	Shard &shard = shards_[shard_of(operation.key)];
	if (!shard.client)
		shard.client = shard.connector->take();
	return shard.client ? shard.client->start(operation, version) : ENOTCONN;
}

Error ShardedClient::absence(std::size_t shard) const
{
	const Shard &one = shards_[shard];
	const Error why = one.client ? one.client->why_disconnected() : one.connector->why();
	if (one.client && !why.code)
		return {};
	return why.code ? named(one.address, why) : one.absence;
}

std::size_t ShardedClient::poll(std::span<apps::Operation *> completed) noexcept
{
	std::size_t count = 0;
	for (Shard &shard : shards_) {
		if (!shard.client)
			shard.client = shard.connector->take();
		if (shard.client)
			count += shard.client->poll(completed.subspan(count));
	}
	return count;
}

} // namespace prism::kv
