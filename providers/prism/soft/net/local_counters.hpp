/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the rings between processes of one host count. Names and meaning: docs/semantics.md S.12. */
#pragma once

#include "counter.hpp"

#define PRISM_LOCAL_COUNTERS(X)                                                                                        \
	X(local_rx_packets)                                                                                            \
	X(local_rx_bytes)                                                                                              \
	X(local_tx_packets)                                                                                            \
	X(local_tx_bytes)                                                                                              \
	X(local_tx_waited)                                                                                             \
	X(local_tx_dropped)                                                                                            \
	X(local_tx_wakeups)                                                                                            \
	X(local_refused)                                                                                               \
	X(local_broken)

namespace prism::soft
{

struct LocalCounters {
#define X(name) Counter name;
	PRISM_LOCAL_COUNTERS(X)
#undef X
};

} // namespace prism::soft
