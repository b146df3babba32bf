/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "sharded_client.hpp"

#include <cerrno>

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
