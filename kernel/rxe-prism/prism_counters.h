/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The counters that PRISM adds to those of rxe, in `rdma statistic` and under hw_counters: names and meaning are those
 * of docs/semantics.md.
 */
#ifndef PRISM_COUNTERS_H
#define PRISM_COUNTERS_H

#define PRISM_COUNTERS(X)				\
	X(PRISM_CNT_READS, "prism_reads")		\
	X(PRISM_CNT_WRITES, "prism_writes")		\
	X(PRISM_CNT_CAS, "prism_cas")			\
	X(PRISM_CNT_ALLOCATES, "prism_allocates")	\
	X(PRISM_CNT_CAS_MISSES, "prism_cas_misses")	\
	X(PRISM_CNT_NULL_POINTERS, "prism_null_pointers") \
	X(PRISM_CNT_NO_BUFFERS, "prism_no_buffers")	\
	X(PRISM_CNT_SKIPPED, "prism_skipped")		\
	X(PRISM_CNT_REPLAYS, "prism_replays")		\
	X(PRISM_CNT_BAD_FORMAT, "rx_bad_format")	\
	X(PRISM_CNT_BAD_FLAGS, "rx_bad_flags")		\
	X(PRISM_CNT_BAD_OPERAND, "rx_bad_operand")	\
	X(PRISM_CNT_BAD_ALIGNMENT, "rx_bad_alignment")	\
	X(PRISM_CNT_ACCESS_ERROR, "rx_access_error")	\
	X(PRISM_CNT_BAD_FREE_LIST, "rx_bad_free_list")	\
	X(PRISM_CNT_TOO_LARGE, "rx_payload_too_large")	\
	X(PRISM_CNT_EXCESS, "rx_excess_request")	\
	X(PRISM_CNT_DUP_DROPPED, "rx_duplicate_dropped") \
	X(PRISM_CNT_RESOLUTION_DROPPED, "rx_resolution_dropped") \
	X(PRISM_CNT_RESPONSE_DROPPED, "rx_response_dropped") \
	X(PRISM_CNT_ICRC_ID_UNKNOWN, "rx_icrc_id_unknown") \
	X(PRISM_CNT_FREE_LIST_REJECTED, "free_list_rejected") \
	X(PRISM_CNT_FREE_LIST_RECLAIMED, "free_list_reclaimed")

#define PRISM_COUNTER_ENUM(index, text)	index,
#define PRISM_COUNTER_DESC(index, text)	[index].name = text,

#endif /* PRISM_COUNTERS_H */
