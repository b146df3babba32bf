/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The facts about rdma-core's private structures that abi_check.c states twice, once from each header. */
#ifndef PRISM_TESTS_ABI_CHECK_H
#define PRISM_TESTS_ABI_CHECK_H

#include <stddef.h>

struct abi_fact {
	const char *what;
	size_t value;
};

/* Both end with an entry whose member what is NULL. */
extern const struct abi_fact abi_ours[];
extern const struct abi_fact abi_real[];

#define ABI_SIZES(X)                                                                                                   \
	X(list_node)                                                                                                   \
	X(verbs_match_ent)                                                                                             \
	X(verbs_device_ops)                                                                                            \
	X(verbs_device)                                                                                                \
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
	X(verbs_dm, handle)

#define ABI_CONSTANTS(X)                                                                                               \
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
