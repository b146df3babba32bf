/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The facts about rdma-core's private structures that abi_check.c states twice, once from each header. */
#ifndef PRISM_TESTS_ABI_CHECK_H
#define PRISM_TESTS_ABI_CHECK_H

#include <stddef.h>

struct abi_fact {
	const char *what;
	size_t value;
};

/* Both end with an entry whose what is NULL. */
extern const struct abi_fact abi_ours[];
extern const struct abi_fact abi_real[];

#define ABI_SIZES(X)                                                                                                   \
	X(list_node)                                                                                                   \
	X(verbs_match_ent)                                                                                             \
	X(verbs_device_ops)                                                                                            \
	X(verbs_device)                                                                                                \
	X(verbs_context_ops)                                                                                           \
	X(verbs_xrcd)                                                                                                  \
	X(verbs_cq)                                                                                                    \
	X(verbs_srq)                                                                                                   \
	X(verbs_mr)                                                                                                    \
	X(verbs_dm)

#define ABI_MEMBERS(X)                                                                                                 \
	X(list_node, next)                                                                                             \
	X(list_node, prev)                                                                                             \
	X(verbs_match_ent, driver_data)                                                                                \
	X(verbs_match_ent, u)                                                                                          \
	X(verbs_match_ent, vendor)                                                                                     \
	X(verbs_match_ent, device)                                                                                     \
	X(verbs_match_ent, kind)                                                                                       \
	X(verbs_device_ops, name)                                                                                      \
	X(verbs_device_ops, match_min_abi_version)                                                                     \
	X(verbs_device_ops, match_max_abi_version)                                                                     \
	X(verbs_device_ops, match_table)                                                                               \
	X(verbs_device_ops, static_providers)                                                                          \
	X(verbs_device_ops, match_device)                                                                              \
	X(verbs_device_ops, alloc_context)                                                                             \
	X(verbs_device_ops, import_context)                                                                            \
	X(verbs_device_ops, alloc_device)                                                                              \
	X(verbs_device_ops, uninit_device)                                                                             \
	X(verbs_device, device)                                                                                        \
	X(verbs_device, ops)                                                                                           \
	X(verbs_device, refcount)                                                                                      \
	X(verbs_device, entry)                                                                                         \
	X(verbs_device, sysfs)                                                                                         \
	X(verbs_device, core_support)                                                                                  \
	X(verbs_xrcd, xrcd)                                                                                            \
	X(verbs_xrcd, comp_mask)                                                                                       \
	X(verbs_xrcd, handle)                                                                                          \
	X(verbs_qp, qp)                                                                                                \
	X(verbs_qp, qp_ex)                                                                                             \
	X(verbs_cq, cq)                                                                                                \
	X(verbs_cq, cq_ex)                                                                                             \
	X(verbs_srq, srq)                                                                                              \
	X(verbs_srq, srq_type)                                                                                         \
	X(verbs_srq, xrcd)                                                                                             \
	X(verbs_srq, cq)                                                                                               \
	X(verbs_srq, srq_num)                                                                                          \
	X(verbs_mr, ibv_mr)                                                                                            \
	X(verbs_mr, mr_type)                                                                                           \
	X(verbs_mr, access)                                                                                            \
	X(verbs_dm, dm)                                                                                                \
	X(verbs_dm, handle)                                                                                            \
	X(verbs_context_ops, advise_mr)                                                                                \
	X(verbs_context_ops, alloc_dm)                                                                                 \
	X(verbs_context_ops, alloc_mw)                                                                                 \
	X(verbs_context_ops, alloc_null_mr)                                                                            \
	X(verbs_context_ops, alloc_parent_domain)                                                                      \
	X(verbs_context_ops, alloc_pd)                                                                                 \
	X(verbs_context_ops, alloc_td)                                                                                 \
	X(verbs_context_ops, async_event)                                                                              \
	X(verbs_context_ops, attach_counters_point_flow)                                                               \
	X(verbs_context_ops, attach_mcast)                                                                             \
	X(verbs_context_ops, bind_mw)                                                                                  \
	X(verbs_context_ops, close_xrcd)                                                                               \
	X(verbs_context_ops, cq_event)                                                                                 \
	X(verbs_context_ops, create_ah)                                                                                \
	X(verbs_context_ops, create_counters)                                                                          \
	X(verbs_context_ops, create_cq)                                                                                \
	X(verbs_context_ops, create_cq_ex)                                                                             \
	X(verbs_context_ops, create_flow)                                                                              \
	X(verbs_context_ops, create_flow_action_esp)                                                                   \
	X(verbs_context_ops, create_qp)                                                                                \
	X(verbs_context_ops, create_qp_ex)                                                                             \
	X(verbs_context_ops, create_rwq_ind_table)                                                                     \
	X(verbs_context_ops, create_srq)                                                                               \
	X(verbs_context_ops, create_srq_ex)                                                                            \
	X(verbs_context_ops, create_wq)                                                                                \
	X(verbs_context_ops, dealloc_mw)                                                                               \
	X(verbs_context_ops, dealloc_pd)                                                                               \
	X(verbs_context_ops, dealloc_td)                                                                               \
	X(verbs_context_ops, dereg_mr)                                                                                 \
	X(verbs_context_ops, destroy_ah)                                                                               \
	X(verbs_context_ops, destroy_counters)                                                                         \
	X(verbs_context_ops, destroy_cq)                                                                               \
	X(verbs_context_ops, destroy_flow)                                                                             \
	X(verbs_context_ops, destroy_flow_action)                                                                      \
	X(verbs_context_ops, destroy_qp)                                                                               \
	X(verbs_context_ops, destroy_rwq_ind_table)                                                                    \
	X(verbs_context_ops, destroy_srq)                                                                              \
	X(verbs_context_ops, destroy_wq)                                                                               \
	X(verbs_context_ops, detach_mcast)                                                                             \
	X(verbs_context_ops, free_context)                                                                             \
	X(verbs_context_ops, free_dm)                                                                                  \
	X(verbs_context_ops, get_srq_num)                                                                              \
	X(verbs_context_ops, import_dm)                                                                                \
	X(verbs_context_ops, import_mr)                                                                                \
	X(verbs_context_ops, import_pd)                                                                                \
	X(verbs_context_ops, modify_cq)                                                                                \
	X(verbs_context_ops, modify_flow_action_esp)                                                                   \
	X(verbs_context_ops, modify_qp)                                                                                \
	X(verbs_context_ops, modify_qp_rate_limit)                                                                     \
	X(verbs_context_ops, modify_srq)                                                                               \
	X(verbs_context_ops, modify_wq)                                                                                \
	X(verbs_context_ops, open_qp)                                                                                  \
	X(verbs_context_ops, open_xrcd)                                                                                \
	X(verbs_context_ops, poll_cq)                                                                                  \
	X(verbs_context_ops, post_recv)                                                                                \
	X(verbs_context_ops, post_send)                                                                                \
	X(verbs_context_ops, post_srq_ops)                                                                             \
	X(verbs_context_ops, post_srq_recv)                                                                            \
	X(verbs_context_ops, query_device_ex)                                                                          \
	X(verbs_context_ops, query_ece)                                                                                \
	X(verbs_context_ops, query_port)                                                                               \
	X(verbs_context_ops, query_qp)                                                                                 \
	X(verbs_context_ops, query_qp_data_in_order)                                                                   \
	X(verbs_context_ops, query_rt_values)                                                                          \
	X(verbs_context_ops, query_srq)                                                                                \
	X(verbs_context_ops, read_counters)                                                                            \
	X(verbs_context_ops, reg_dm_mr)                                                                                \
	X(verbs_context_ops, reg_dmabuf_mr)                                                                            \
	X(verbs_context_ops, reg_mr)                                                                                   \
	X(verbs_context_ops, req_notify_cq)                                                                            \
	X(verbs_context_ops, rereg_mr)                                                                                 \
	X(verbs_context_ops, resize_cq)                                                                                \
	X(verbs_context_ops, set_ece)                                                                                  \
	X(verbs_context_ops, unimport_dm)                                                                              \
	X(verbs_context_ops, unimport_mr)                                                                              \
	X(verbs_context_ops, unimport_pd)

#define ABI_CONSTANTS(X)                                                                                               \
	X(VERBS_LOG_ERR)                                                                                               \
	X(VERBS_LOG_WARN)                                                                                              \
	X(VERBS_LOG_INFO)                                                                                              \
	X(VERBS_LOG_DEBUG)                                                                                             \
	X(VERBS_QP_XRCD)                                                                                               \
	X(VERBS_QP_EX)                                                                                                 \
	X(IBV_MR_TYPE_MR)                                                                                              \
	X(IBV_MR_TYPE_NULL_MR)                                                                                         \
	X(IBV_MR_TYPE_IMPORTED_MR)                                                                                     \
	X(IBV_MR_TYPE_DMABUF_MR)                                                                                       \
	X(VERBS_MATCH_SENTINEL)                                                                                        \
	X(VERBS_MATCH_DRIVER_ID)                                                                                       \
	X(IBV_GID_TYPE_SYSFS_IB_ROCE_V1)                                                                               \
	X(IBV_GID_TYPE_SYSFS_ROCE_V2)

#endif /* PRISM_TESTS_ABI_CHECK_H */
