/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The transactional stores that the driver can measure, by name. */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <prism/result.hpp>

#include "bench/frame/registry.hpp"
#include "bench/gam/driver/driver_options.hpp"
#include "tx/transaction/client.hpp"
#include "tx/transaction/shards.hpp"

namespace prism::tx
{

/** Location of the store, and the sizes and counts that its clients must be prepared for. */
struct SystemOptions {
	Shards shards;
	std::string device;         /**< RDMA device; empty: by the address */
	unsigned depth = 1;         /**< transactions under way a client */
	std::size_t key_size = 0;   /**< largest, bytes */
	std::size_t value_size = 0; /**< largest, bytes */
	std::size_t most_keys = 0;  /**< most keys of one transaction */
	std::uint64_t objects = 0;  /**< objects that are loaded */
	bool loads = false;         /**< true if the objects are still to be loaded */
	double timeout = 5;         /**< seconds that connecting may take */
	bool numbered = false;      /**< keys are numbers of 8 bytes in host order, from 0 on without gaps */
	std::uint64_t seed = 1;     /**< seed of the clients' random choices, such as pauses after conflicts */
	gam::DriverOptions gam;     /**< options of a global memory, whose master is the only shard */
};

/** Connects client number @p client of the run, in the thread that will use it; several threads at once. */
using ClientFactory = std::function<Result<std::unique_ptr<TransactionClient>>(unsigned client)>;

struct System {
	std::string name; /**< of --system */
	std::string description;
	/** Opens the store. Its resources live as long as the factory that it returns. */
	std::function<Result<ClientFactory>(const SystemOptions &)> open;
	bool is_gam = false; /**< true if in a global memory: the driver joins as nodes */
};

/**
 * Returns the retry options of @p client, with a seed of its own: with equal pauses the same clients would conflict
 * again.
 */
[[nodiscard]] inline RetryOptions retry_of(const SystemOptions &options, unsigned client) noexcept
{
	RetryOptions retry;
	retry.seed = options.seed * 1000003 + client + 1;
	return retry;
}

using Systems = bench::Registry<System>;

} // namespace prism::tx
