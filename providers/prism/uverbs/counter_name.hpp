/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <string_view>
#include <utility>

namespace prism::uverbs
{

/** Returns the name that docs/semantics.md (S.12) gives to rxe's counter @p name. */
inline std::string_view our_name(std::string_view name)
{
	static constexpr std::pair<std::string_view, std::string_view> names[] = {
		{"backlog_drops", "rx_backlog_drops"},
		{"completer_retry_err", "retransmits"},
		{"duplicate_request", "rx_duplicate"},
		{"out_of_seq_request", "rx_out_of_sequence"},
		{"rcvd_pkts", "rx_packets"},
		{"rcvd_rnr_err", "rx_rnr_nak"},
		{"retry_exceeded_err", "retry_exceeded"},
		{"retry_rnr_exceeded_err", "rnr_exceeded"},
		{"send_err", "tx_errors"},
		{"send_rnr_err", "tx_rnr_nak"},
		{"sent_pkts", "tx_packets"},
	};
	for (const auto &[theirs, ours] : names)
		if (name == theirs)
			return ours;
	return name;
}

} // namespace prism::uverbs
