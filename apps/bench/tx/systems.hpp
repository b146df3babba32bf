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

/** Where the store is, and what the clients have to be prepared for. */
struct SystemOptions {
	Shards shards;
	std::string device;         /**< RDMA device; empty: by the address */
	unsigned depth = 1;         /**< transactions under way a client */
	std::size_t key_size = 0;   /**< largest, bytes */
	std::size_t value_size = 0; /**< largest, bytes */
	std::size_t most_keys = 0;  /**< of a transaction */
	std::uint64_t objects = 0;  /**< that are loaded */
	bool loads = false;         /**< they are not there yet */
	double timeout = 5;         /**< seconds that connecting may take */
	bool numbered = false;      /**< keys are numbers of 8 bytes in host order, from 0 on without gaps */
	std::uint64_t seed = 1;     /**< of what the clients draw, as the pauses after conflicts */
	gam::DriverOptions gam;     /**< of a global memory, whose master the only shard is */
};

/** Connects client number @p client of the run, in the thread that will use it; several threads at once. */
using ClientFactory = std::function<Result<std::unique_ptr<TransactionClient>>(unsigned client)>;

struct System {
	std::string name; /**< of --system */
	std::string description;
	/** What it opens lives as long as the factory that it gives. */
	std::function<Result<ClientFactory>(const SystemOptions &)> open;
	bool is_gam = false; /**< in a global memory: the driver joins as nodes */
};

/** What a client draws is its own: pauses that are alike would make the same ones meet again. */
[[nodiscard]] inline RetryOptions retry_of(const SystemOptions &options, unsigned client) noexcept
{
	RetryOptions retry;
	retry.seed = options.seed * 1000003 + client + 1;
	return retry;
}

using Systems = bench::Registry<System>;

} // namespace prism::tx
