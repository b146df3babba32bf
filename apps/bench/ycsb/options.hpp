/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The options of a run of the workload driver, and the functions that it needs from outside. */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <prism/result.hpp>

#include "bench/frame/pace.hpp"
#include "bench/frame/run_options.hpp"
#include "bench/frame/workload.hpp"
#include "common/store_client.hpp"

namespace prism::ycsb
{

struct RunOptions : bench::CommonOptions {
	bench::Mix mix;
	bench::Distribution distribution = bench::Distribution::zipfian;
	double theta = 0.99;
	std::uint64_t records = 100'000;
	std::size_t key_size = 8;     /**< bytes */
	bool numbered_keys = false;   /**< a key is the record's number, 8 bytes in host order */
	std::size_t value_size = 512; /**< bytes */

	unsigned processes = 1;
	unsigned clients = 1; /**< clients of each thread, which serves them in turn: one connection each */
	unsigned depth = 1;   /**< requests that each client has under way */

	double rate = 0; /**< requests a second of all clients together; 0: a closed loop */
	bench::Arrivals arrivals = bench::Arrivals::even;

	bool load = true;    /**< store all records first */
	bool verify = false; /**< check every value that is read */

	[[nodiscard]] unsigned workers() const noexcept { return processes * threads; }
	[[nodiscard]] unsigned all_clients() const noexcept { return workers() * clients; }
};

/** Refuses senseless options, with EINVAL. */
[[nodiscard]] Result<void> check(const RunOptions &options);

/**
 * Connects client number @p client (0 .. all_clients() - 1) of the run. Called in the thread that will use the client,
 * several threads at once. The client's depth() may be below RunOptions::depth: then it, not the driver, is the limit.
 */
using ClientFactory = std::function<Result<std::unique_ptr<apps::StoreClient>>(unsigned client)>;

/** Called once in each process, after the fork: opens what the clients of one process share. */
using FactoryOpener = std::function<Result<ClientFactory>()>;

} // namespace prism::ycsb
