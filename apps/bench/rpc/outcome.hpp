/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/frame/measure.hpp"
#include "bench/frame/process_usage.hpp"
#include "bench/frame/traffic.hpp"
#include "bench/rpc/echo.hpp"
#include "rpc/client/client_link.hpp"

namespace prism::echo
{

/** Counters of links, by their names in reports. */
inline constexpr std::array<std::pair<const char *, std::uint64_t rpc::LinkCounters::*>, 7> link_counters{{
	{"calls", &rpc::LinkCounters::calls},
	{"fetches", &rpc::LinkCounters::fetches},
	{"failed_fetches", &rpc::LinkCounters::failed_fetches},
	{"second_fetches", &rpc::LinkCounters::second_fetches},
	{"switches", &rpc::LinkCounters::switches},
	{"refused", &rpc::LinkCounters::refused},
	{"retransmissions", &rpc::LinkCounters::retransmissions},
}};
static_assert(sizeof(rpc::LinkCounters) == link_counters.size() * sizeof(std::uint64_t));

void add(rpc::LinkCounters &sum, const rpc::LinkCounters &other) noexcept;
/** Returns the increase since @p before. */
[[nodiscard]] rpc::LinkCounters since(const rpc::LinkCounters &before, const rpc::LinkCounters &now) noexcept;

/** Results of one thread, or of all of them. */
struct RunResult {
	std::vector<bench::LatencyHistogram> latency; /**< by the index of the size among Sizes */
	std::uint64_t calls = 0;                      /**< calls that ended */
	std::uint64_t in_time = 0;                    /**< calls that ended before the time was up */
	std::uint64_t wrong = 0;                      /**< calls with a response that was not theirs, or not whole */
	std::uint64_t slow = 0;                       /**< calls for which the server was to take longer */
	std::uint64_t abandoned = 0;                  /**< calls that never ended */
	std::uint64_t nanoseconds = 0;
	bench::Traffic traffic;  /**< of the clients */
	rpc::LinkCounters links; /**< sums over all connections */

	/* Of the whole process, and of the server: set by one thread. */
	bench::ProcessUsage client_idle; /**< before it connected */
	bench::ProcessUsage client_before;
	bench::ProcessUsage client_after;
	Figures server_first; /**< with one connection */
	Figures server_before;
	Figures server_after;

	void merge(const RunResult &other);
	[[nodiscard]] bench::LatencyHistogram all_latencies() const;
	/** Returns the calls a second. */
	[[nodiscard]] double rate() const noexcept;
	/** Returns true if every call ended with its correct response. */
	[[nodiscard]] bool clean() const noexcept { return wrong + abandoned == 0; }
};

} // namespace prism::echo
