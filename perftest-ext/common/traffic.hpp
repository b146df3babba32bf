/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Packets and bytes that a device sends and receives for a job, by its own counters. */
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <infiniband/verbs.h>
#include <nlohmann/json.hpp>

namespace prism::perftest
{

/**
 * Packets, their bytes from BTH to ICRC, and their trains over UDP; and the packets by shared memory, so that the path
 * is certain. A device may count less: a kernel device counts packets only, of all processes that use it.
 * Acknowledgements are packets.
 */
class Traffic
{
public:
	/** Reads all counts of @p context's device. */
	[[nodiscard]] static Traffic read(ibv_context *context);

	/** Adds the counts between @p before and @p after. */
	void add(const Traffic &before, const Traffic &after);

	/** Returns true if the device counts trains as well; the counters of such devices are never stale. */
	[[nodiscard]] bool counts_trains() const { return of("tx_trains").has_value(); }

	/** Returns averages for each of @p jobs, by the names of prismdv_query_counters(3); null if nothing was
	 * counted. */
	[[nodiscard]] nlohmann::json to_json(std::uint64_t jobs) const;

	/** Returns the same as a line for people; empty if nothing was counted. */
	[[nodiscard]] std::string to_text(std::uint64_t jobs) const;

private:
	static constexpr std::array names{"tx_packets", "tx_bytes", "tx_trains", "rx_packets", "rx_bytes", "rx_trains",
		"local_tx_packets", "local_rx_packets"};

	[[nodiscard]] std::optional<std::uint64_t> of(std::string_view name) const;
	[[nodiscard]] std::string direction(const std::string &prefix, const char *verb, double jobs) const;

	std::array<std::optional<std::uint64_t>, names.size()> values_{};
};

} // namespace prism::perftest
