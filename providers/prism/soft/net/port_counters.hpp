/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Counters that carriers keep themselves. Names and meaning: docs/semantics.md S.12, which also has the kernel's
 * drops. */
#pragma once

#include <array>

#include "counter.hpp"

#define PRISM_PORT_COUNTERS(X)                                                                                         \
	X(rx_packets)                                                                                                  \
	X(rx_trains)                                                                                                   \
	X(rx_bytes)                                                                                                    \
	X(rx_too_short)                                                                                                \
	X(rx_too_long)                                                                                                 \
	X(rx_bad_icrc)                                                                                                 \
	X(rx_icrc_id_unknown)                                                                                          \
	X(rx_misdirected_forwarded)                                                                                    \
	X(rx_misdirected_dropped)                                                                                      \
	X(rx_forwarded_to_us)                                                                                          \
	X(tx_packets)                                                                                                  \
	X(tx_trains)                                                                                                   \
	X(tx_bytes)                                                                                                    \
	X(tx_errors)                                                                                                   \
	X(tx_too_big)                                                                                                  \
	X(tx_no_route)                                                                                                 \
	X(tx_segment_fallbacks)

/* The rings between processes of one host; the other counters include their packets and bytes. */
#define PRISM_LOCAL_COUNTERS(X)                                                                                        \
	X(local_rx_packets)                                                                                            \
	X(local_tx_packets)                                                                                            \
	X(local_tx_waited)                                                                                             \
	X(local_tx_dropped)                                                                                            \
	X(local_tx_wakeups)                                                                                            \
	X(local_refused)                                                                                               \
	X(local_broken)

namespace prism::soft
{

struct PortCounters {
#define X(name) Counter name;
	PRISM_PORT_COUNTERS(X)
#undef X
};

struct LocalCounters {
#define X(name) Counter name;
	PRISM_LOCAL_COUNTERS(X)
#undef X
};

/** One bit for each slot of a context that this one shares rings with. Written like counters. */
using LocalPeers = std::array<Counter, 1024 / 64>;

/** Memory for the carriers' counters, for others to see; outlives them. Null: they use memory of their own. */
struct PortCounts {
	PortCounters *all = nullptr;
	LocalCounters *local = nullptr;
	LocalPeers *peers = nullptr;
};

} // namespace prism::soft
