/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The counters that PRISM adds to those of rxe, in `rdma statistic` and under hw_counters: names and meaning are those
 * of docs/semantics.md. Included with PRISM_COUNTER(index, name) defined, once for the indices and once for the names.
 */
PRISM_COUNTER(PRISM_CNT_READS, "prism_reads")
PRISM_COUNTER(PRISM_CNT_WRITES, "prism_writes")
PRISM_COUNTER(PRISM_CNT_CAS, "prism_cas")
PRISM_COUNTER(PRISM_CNT_ALLOCATES, "prism_allocates")
PRISM_COUNTER(PRISM_CNT_CAS_MISSES, "prism_cas_misses")
PRISM_COUNTER(PRISM_CNT_NULL_POINTERS, "prism_null_pointers")
PRISM_COUNTER(PRISM_CNT_NO_BUFFERS, "prism_no_buffers")
PRISM_COUNTER(PRISM_CNT_SKIPPED, "prism_skipped")
PRISM_COUNTER(PRISM_CNT_REPLAYS, "prism_replays")
PRISM_COUNTER(PRISM_CNT_UNKNOWN_OPCODE, "rx_unknown_opcode")
PRISM_COUNTER(PRISM_CNT_BAD_FORMAT, "rx_bad_format")
PRISM_COUNTER(PRISM_CNT_BAD_FLAGS, "rx_bad_flags")
PRISM_COUNTER(PRISM_CNT_BAD_OPERAND, "rx_bad_operand")
PRISM_COUNTER(PRISM_CNT_BAD_ALIGNMENT, "rx_bad_alignment")
PRISM_COUNTER(PRISM_CNT_ACCESS_ERROR, "rx_access_error")
PRISM_COUNTER(PRISM_CNT_BAD_FREE_LIST, "rx_bad_free_list")
PRISM_COUNTER(PRISM_CNT_TOO_LARGE, "rx_payload_too_large")
PRISM_COUNTER(PRISM_CNT_EXCESS, "rx_excess_request")
PRISM_COUNTER(PRISM_CNT_DUP_DROPPED, "rx_duplicate_dropped")
PRISM_COUNTER(PRISM_CNT_RESOLUTION_DROPPED, "rx_resolution_dropped")
PRISM_COUNTER(PRISM_CNT_RESPONSE_DROPPED, "rx_response_dropped")
PRISM_COUNTER(PRISM_CNT_TX_NAK, "tx_nak")
PRISM_COUNTER(PRISM_CNT_FREE_LIST_REJECTED, "free_list_rejected")
PRISM_COUNTER(PRISM_CNT_FREE_LIST_RECLAIMED, "free_list_reclaimed")
PRISM_COUNTER(PRISM_CNT_CQ_OVERFLOWS, "cq_overflows")
#undef PRISM_COUNTER
