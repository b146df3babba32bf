/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stat/rates.hpp"

#include <algorithm>
#include <array>

namespace prism::stat
{

namespace
{

/* Counters of troubles, without those that are part of another, such as tx_too_big of tx_errors. */
constexpr std::array<std::string_view, 25> troubles{"rx_too_short", "rx_too_long", "rx_bad_icrc",
	"rx_misdirected_dropped", "rx_socket_drops", "tx_errors", "rx_unknown_qp", "rx_wrong_source",
	"rx_unknown_opcode", "rx_bad_format", "rx_bad_flags", "rx_bad_operand", "rx_bad_alignment", "rx_bad_qkey",
	"rx_no_receive", "rx_management_dropped", "rx_message_dropped", "rx_access_error", "rx_bad_free_list",
	"rx_payload_too_large", "memory_faults", "rx_excess_request", "rx_out_of_sequence", "rx_held_overflow",
	"rx_backlog_drops"};

} // namespace

const Source *find_again(const Snapshot &earlier, const Source &source)
{
	const auto same = [&source](const Source &other) {
		return other.kernel == source.kernel && other.device == source.device && other.page == source.page &&
		       other.pid == source.pid;
	};
	const auto found = std::ranges::find_if(earlier.sources, same);
	return found == earlier.sources.end() ? nullptr : &*found;
}

Interval::Interval(const Source &now, const Source *before, double seconds)
	: now_(now), before_(before), seconds_(seconds)
{
}

double Interval::rate(const Count &count) const
{
	const std::uint64_t before = before_ ? before_->count(count.name) : 0;
	/* Counters only grow; a smaller one was reset, or is false. */
	return count.value < before ? 0 : static_cast<double>(count.value - before) / seconds_;
}

double Interval::rate(std::string_view name) const
{
	const auto found = std::ranges::find(now_.counts, name, &Count::name);
	return found == now_.counts.end() || found->gauge ? 0 : rate(*found);
}

double Interval::trouble() const
{
	double sum = 0;
	for (const std::string_view name : troubles)
		sum += rate(name);
	return sum;
}

std::vector<std::pair<std::string_view, double>> Interval::rates() const
{
	std::vector<std::pair<std::string_view, double>> all;
	for (const Count &count : now_.counts)
		if (!count.gauge)
			all.emplace_back(count.name, rate(count));
	return all;
}

} // namespace prism::stat
