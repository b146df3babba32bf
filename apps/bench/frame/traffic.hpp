/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The traffic that the clients of a run send and receive, as their devices count it. */
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace prism::bench
{

/** Packets, and their trains: the packets that one system call sends or takes. Acknowledgements are packets. */
struct Traffic {
	/** The counters by their names in prismdv_query_counters(3). */
	static const std::array<std::pair<const char *, std::uint64_t Traffic::*>, 6> counters;

	std::uint64_t tx_packets = 0;
	std::uint64_t tx_trains = 0;
	std::uint64_t rx_packets = 0;
	std::uint64_t rx_trains = 0;
	std::uint64_t tx_bytes = 0; /**< from BTH to ICRC */
	std::uint64_t rx_bytes = 0;

	Traffic &operator+=(const Traffic &other) noexcept;
	/** Returns the increase since @p before. */
	[[nodiscard]] Traffic since(const Traffic &before) const noexcept;
	/** Conversion for the pipe between processes. */
	[[nodiscard]] nlohmann::json to_json() const;
	/** Reverses to_json(). Throws nlohmann::json::exception if @p json did not come from to_json(). */
	[[nodiscard]] static Traffic from_json(const nlohmann::json &json);
	[[nodiscard]] bool empty() const noexcept { return tx_packets + rx_packets == 0; }
};

/** Returns the average for each of @p requests; null if there is nothing to report. */
[[nodiscard]] nlohmann::json traffic_to_json(const Traffic &traffic, std::uint64_t requests);
/** Prints the same as a line. @p unit: such as "request". */
void print_traffic(std::FILE *out, const Traffic &traffic, std::uint64_t requests, std::string_view unit);

} // namespace prism::bench
