/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Counters of the protocol. Names and meaning: docs/semantics.md S.12; read with prismdv_query_counters(3). A new one
 * may stand anywhere. rx_ and tx_ are packets; events have neither.
 */
#pragma once

#include "../net/counter.hpp"

#define PRISM_PROTOCOL_COUNTERS(X)                                                                                     \
	X(rx_unknown_qp)                                                                                               \
	X(rx_wrong_source)                                                                                             \
	X(rx_unknown_opcode)                                                                                           \
	X(rx_bad_format)                                                                                               \
	X(rx_bad_flags)                                                                                                \
	X(rx_bad_operand)                                                                                              \
	X(rx_bad_alignment)                                                                                            \
	X(rx_bad_qkey)                                                                                                 \
	X(rx_no_receive)                                                                                               \
	X(rx_message_dropped)                                                                                          \
	X(rx_management_dropped)                                                                                       \
	X(rx_access_error)                                                                                             \
	X(memory_faults)                                                                                               \
	X(rx_bad_free_list)                                                                                            \
	X(rx_payload_too_large)                                                                                        \
	X(rx_duplicate)                                                                                                \
	X(rx_duplicate_dropped)                                                                                        \
	X(rx_out_of_sequence)                                                                                          \
	X(rx_held_overflow)                                                                                            \
	X(rx_excess_request)                                                                                           \
	X(rx_resolution_dropped)                                                                                       \
	X(rx_response_dropped)                                                                                         \
	X(rx_bundles)                                                                                                  \
	X(rx_bundled)                                                                                                  \
	X(tx_bundles)                                                                                                  \
	X(tx_bundled)                                                                                                  \
	X(tx_nak)                                                                                                      \
	X(tx_rnr_nak)                                                                                                  \
	X(rx_nak)                                                                                                      \
	X(rx_rnr_nak)                                                                                                  \
	X(retransmits)                                                                                                 \
	X(timeouts)                                                                                                    \
	X(retry_exceeded)                                                                                              \
	X(rnr_exceeded)                                                                                                \
	X(cq_overflows)                                                                                                \
	X(prism_reads)                                                                                                 \
	X(prism_writes)                                                                                                \
	X(prism_cas)                                                                                                   \
	X(prism_allocates)                                                                                             \
	X(prism_cas_misses)                                                                                            \
	X(prism_null_pointers)                                                                                         \
	X(prism_no_buffers)                                                                                            \
	X(prism_skipped)                                                                                               \
	X(prism_replays)                                                                                               \
	X(free_list_rejected)                                                                                          \
	X(free_list_reclaimed)

/* Current numbers. Shown by prism-stat(1), not by prismdv_query_counters(3), as they can fall. */
#define PRISM_PROTOCOL_GAUGES(X) X(qps)

namespace prism::soft
{

struct ProtocolCounters {
#define X(name) Counter name;
	PRISM_PROTOCOL_COUNTERS(X)
	PRISM_PROTOCOL_GAUGES(X)
#undef X
};

} // namespace prism::soft
