/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The options of a run, and the place of its server. */
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <prism/result.hpp>

#include "bench/frame/run_options.hpp"
#include "bench/rpc/sizes.hpp"
#include "rpc/client/client_link.hpp"
#include "rpc/way.hpp"
#include "service/hello.hpp"

namespace prism::echo
{

constexpr double ns_per_us = 1000;

struct ServerPlace {
	std::string host = "127.0.0.1";
	std::uint16_t port = apps::default_store_port;
	std::string device; /**< empty: the first one */
	rpc::Way way = rpc::Way::two_sided;
	double timeout = 5; /**< seconds that connecting may take */

	[[nodiscard]] std::string text() const { return host + ":" + std::to_string(port); }
};

/** Share and time of calls that take longer than others. */
struct SlowCalls {
	double share = 0;       /**< 0 to 1 */
	std::uint32_t time = 0; /**< ns that the server is busy with each of them */
};

struct RunOptions : bench::CommonOptions {
	unsigned connections = 1; /**< connections of each thread, which serves them in turn */
	std::uint32_t depth = 1;  /**< calls that each connection has under way */
	rpc::FetchOptions fetch;

	Sizes sizes;                     /**< of responses */
	std::uint32_t request_size = 32; /**< bytes of a request's payload */
	std::uint32_t time = 0;          /**< ns that the server is busy with a call */
	SlowCalls slow;

	[[nodiscard]] std::uint64_t all_connections() const noexcept { return std::uint64_t{threads} * connections; }
};

/** Refuses options that make no sense, with EINVAL. */
[[nodiscard]] Result<void> check(const RunOptions &options);

} // namespace prism::echo
