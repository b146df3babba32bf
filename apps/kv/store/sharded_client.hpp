/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "prism_client.hpp"

namespace prism::kv
{

/** Where a server listens. */
struct ServerAddress {
	std::string host;
	std::uint16_t port = 0;

	/** Reads "HOST:PORT" or "[IPv6]:PORT", or a host alone with @p default_port. Errors: EINVAL. */
	static Result<ServerAddress> parse(const std::string &text, std::uint16_t default_port);
};

/**
 * Several PRISM-KV servers as one store: each key is on the server that its hash names. All clients must name the same
 * servers in the same order. As PrismClient otherwise; a server that fails takes only its own keys with it.
 */
class ShardedClient final : public apps::StoreClient
{
public:
	/** Errors: EINVAL (no servers), those of PrismClient::connect(); the message names the server. */
	static Result<std::unique_ptr<ShardedClient>> connect(const Context &context,
		const std::vector<ServerAddress> &servers, const PrismClientOptions &options = {});

	/** Of each server. */
	[[nodiscard]] std::size_t depth() const noexcept override { return shards_.front()->depth(); }
	int start(apps::Operation &operation) noexcept override;
	std::size_t poll(std::span<apps::Operation *> completed) noexcept override;

	[[nodiscard]] std::size_t shard_of(std::span<const std::byte> key) const noexcept;
	[[nodiscard]] PrismClient &shard(std::size_t index) noexcept { return *shards_[index]; }
	[[nodiscard]] PrismClient &shard_with(std::span<const std::byte> key) noexcept { return shard(shard_of(key)); }
	[[nodiscard]] std::size_t shards() const noexcept { return shards_.size(); }

private:
	explicit ShardedClient(std::vector<std::unique_ptr<PrismClient>> shards) : shards_(std::move(shards)) {}

	std::vector<std::unique_ptr<PrismClient>> shards_;
};

} // namespace prism::kv
