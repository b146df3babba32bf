/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "prism_client.hpp"
#include "service/server_address.hpp"

namespace prism::kv
{

/**
 * Several PRISM-KV servers as one store: each key is on the server that its hash selects. All clients name all servers
 * in the order of their numbers, which the servers know (PrismServerOptions::shard). Another order is an error, and so
 * are servers of different stores. While a server is gone, from the beginning or later, operations on its keys fail
 * with ENOTCONN; other keys are not affected. apps::run_all() reads many keys at once. Otherwise as PrismClient.
 */
class ShardedClient final : public apps::StoreClient
{
public:
	/**
	 * Connects to all servers. Errors: EINVAL (no servers, more than 65535, depth), EPROTONOSUPPORT (another order,
	 * another store), those of PrismClient::connect(), the message naming the server. @p options: shard and store
	 * are ignored, and the timeout is for all servers together. If one of several servers does not answer
	 * (ETIMEDOUT, ECONNREFUSED, ECONNRESET, EHOSTUNREACH, ENETUNREACH), this is no error: see absence().
	 */
	static Result<std::unique_ptr<ShardedClient>> connect(const Context &context,
		const std::vector<ServerAddress> &servers, const PrismClientOptions &options = {});

	/** Returns the depth of each server. */
	[[nodiscard]] std::size_t depth() const noexcept override { return depth_; }
	int start(apps::Operation &operation) noexcept override { return start(operation, nullptr); }
	/** See PrismClient::start(). */
	int start(apps::Operation &operation, Version *version) noexcept;
	std::size_t poll(std::span<apps::Operation *> completed) noexcept override;

	[[nodiscard]] std::size_t shards() const noexcept { return shards_.size(); }
	[[nodiscard]] std::size_t shard_of(std::span<const std::byte> key) const noexcept;
	[[nodiscard]] const ServerAddress &address(std::size_t shard) const noexcept { return shards_[shard].address; }
	/**
	 * Returns the client of server number @p shard; null if that has not been connected yet, which start()
	 * and poll() see to.
	 */
	[[nodiscard]] PrismClient *client(std::size_t shard) noexcept { return shards_[shard].client.get(); }
	/**
	 * Returns the reason why there is no connection to server number @p shard, with its address in the message;
	 * code 0: there is one.
	 */
	[[nodiscard]] Error absence(std::size_t shard) const;

private:
	struct Shard {
		ServerAddress address;
		std::unique_ptr<PrismClient> client;
		Error absence;                                           /* error of the first attempt */
		std::unique_ptr<apps::Connector<PrismClient>> connector; /* set while there is no client */
	};

	ShardedClient(const Context &context, std::vector<Shard> shards, const PrismClientOptions &options);

	std::vector<Shard> shards_;
	std::size_t depth_;
};

} // namespace prism::kv
