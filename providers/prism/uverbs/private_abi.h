/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The functions that libibverbs exports to its providers alone, with the symbol version IBVERBS_PRIVATE_<number>. A
 * plug-in is built for one number, which is PRISM_PRIVATE_ABI here: 34 from rdma-core 34 to 56, and another one with
 * nearly every release from 57 on. The functions below are those that the kernel's device uses. Differences between 34
 * and 65 are marked.
 *
 * Usable from C11 and from C++20.
 */
#ifndef PRISM_PRIVATE_ABI_H
#define PRISM_PRIVATE_ABI_H

#include "../verbs/rdma_core_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* verbs_register_driver_34() and so on */
#define PRISM_PASTE(name, number) name##number
#define PRISM_OF_ABI(name, number) PRISM_PASTE(name, number)
#define verbs_register_driver PRISM_OF_ABI(verbs_register_driver_, PRISM_PRIVATE_ABI)

/* Called once from a constructor of the plug-in; keeps the pointer. */
void verbs_register_driver(const struct verbs_device_ops *ops);

/*
 * Allocates alloc_size zeroed bytes with malloc(), initializes the verbs_context at context_offset in them (an offset
 * that rdma-core types as a pointer) and takes a reference to the device. Returns the start of the allocation, or NULL
 * with errno; owns cmd_fd either way. Sets every operation to libibverbs's failing default.
 */
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t alloc_size,
	struct verbs_context *context_offset, uint32_t driver_id);

/* Closes cmd_fd and async_fd unless they are -1 and drops the device. The context's memory stays the caller's. */
void verbs_uninit_context(struct verbs_context *context);

/* --- Commands to the kernel ---
 *
 * Every command is a struct ib_uverbs_cmd_hdr and the structure of <rdma/ib_user_verbs.h> with the same name, followed
 * by the driver's part; a response is that structure and the driver's part. libibverbs fills in the part that it knows,
 * and takes the rest of the size for the driver's. So the types need no definition here: uverbs/command.hpp lays them
 * out. Results are 0 or an errno value.
 */
struct ibv_alloc_mw;
struct ibv_alloc_pd;
struct ibv_create_cq;
struct ibv_create_qp;
struct ibv_create_srq;
struct ibv_get_context;
struct ibv_modify_qp;
struct ibv_modify_srq;
struct ibv_query_port;
struct ibv_query_qp;
struct ibv_query_srq;
struct ibv_reg_mr;
struct ibv_rereg_mr;
struct ibv_resize_cq;
struct ib_uverbs_alloc_mw_resp;
struct ib_uverbs_alloc_pd_resp;
struct ib_uverbs_create_ah_resp;
struct ib_uverbs_create_cq_resp;
struct ib_uverbs_create_qp_resp;
struct ib_uverbs_create_srq_resp;
struct ib_uverbs_ex_query_device_resp;
struct ib_uverbs_get_context_resp;
struct ib_uverbs_reg_mr_resp;
struct ib_uverbs_rereg_mr_resp;
struct ib_uverbs_resize_cq_resp;

#if PRISM_PRIVATE_ABI >= 57
/* Descriptors that the kernel is to use for the context; may be NULL. */
struct ibv_fd_arr;
int ibv_cmd_get_context(struct verbs_context *context, struct ibv_get_context *cmd, size_t cmd_size,
	struct ibv_fd_arr *fds, struct ib_uverbs_get_context_resp *resp, size_t resp_size);
#else
int ibv_cmd_get_context(struct verbs_context *context, struct ibv_get_context *cmd, size_t cmd_size,
	struct ib_uverbs_get_context_resp *resp, size_t resp_size);
#endif
int ibv_cmd_query_device_any(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
	struct ibv_device_attr_ex *attr, size_t attr_size, struct ib_uverbs_ex_query_device_resp *resp,
	size_t *resp_size);
int ibv_cmd_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *port_attr,
	struct ibv_query_port *cmd, size_t cmd_size);

int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd, struct ibv_alloc_pd *cmd, size_t cmd_size,
	struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size);
int ibv_cmd_dealloc_pd(struct ibv_pd *pd);
int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va, int access, struct verbs_mr *vmr,
	struct ibv_reg_mr *cmd, size_t cmd_size, struct ib_uverbs_reg_mr_resp *resp, size_t resp_size);
int ibv_cmd_rereg_mr(struct verbs_mr *vmr, uint32_t flags, void *addr, size_t length, uint64_t hca_va, int access,
	struct ibv_pd *pd, struct ibv_rereg_mr *cmd, size_t cmd_sz, struct ib_uverbs_rereg_mr_resp *resp,
	size_t resp_sz);
int ibv_cmd_dereg_mr(struct verbs_mr *vmr);
int ibv_cmd_advise_mr(struct ibv_pd *pd, enum ib_uverbs_advise_mr_advice advice, uint32_t flags,
	struct ibv_sge *sg_list, uint32_t num_sge);
int ibv_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type, struct ibv_mw *mw, struct ibv_alloc_mw *cmd,
	size_t cmd_size, struct ib_uverbs_alloc_mw_resp *resp, size_t resp_size);
int ibv_cmd_dealloc_mw(struct ibv_mw *mw);

int ibv_cmd_create_cq(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel, int comp_vector,
	struct ibv_cq *cq, struct ibv_create_cq *cmd, size_t cmd_size, struct ib_uverbs_create_cq_resp *resp,
	size_t resp_size);
int ibv_cmd_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd, size_t cmd_size,
	struct ib_uverbs_resize_cq_resp *resp, size_t resp_size);
int ibv_cmd_destroy_cq(struct ibv_cq *cq);

int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq, struct ibv_srq_init_attr *attr,
	struct ibv_create_srq *cmd, size_t cmd_size, struct ib_uverbs_create_srq_resp *resp, size_t resp_size);
int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask,
	struct ibv_modify_srq *cmd, size_t cmd_size);
int ibv_cmd_query_srq(
	struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, struct ibv_query_srq *cmd, size_t cmd_size);
int ibv_cmd_destroy_srq(struct ibv_srq *srq);

int ibv_cmd_create_qp(struct ibv_pd *pd, struct ibv_qp *qp, struct ibv_qp_init_attr *attr, struct ibv_create_qp *cmd,
	size_t cmd_size, struct ib_uverbs_create_qp_resp *resp, size_t resp_size);
int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *qp_attr, int attr_mask,
	struct ibv_qp_init_attr *qp_init_attr, struct ibv_query_qp *cmd, size_t cmd_size);
int ibv_cmd_modify_qp(
	struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask, struct ibv_modify_qp *cmd, size_t cmd_size);
int ibv_cmd_destroy_qp(struct ibv_qp *qp);
int ibv_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
int ibv_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah, struct ibv_ah_attr *attr,
	struct ib_uverbs_create_ah_resp *resp, size_t resp_size);
int ibv_cmd_destroy_ah(struct ibv_ah *ah);

#ifdef __cplusplus
}
#endif

#endif /* PRISM_PRIVATE_ABI_H */
