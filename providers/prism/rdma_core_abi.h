/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The part of rdma-core's private provider interface that this provider uses.
 *
 * Distributions ship libibverbs without <infiniband/driver.h>, so a provider that is built outside the rdma-core tree
 * has to declare the interface itself. Everything here follows the private ABI "34" (symbol version
 * IBVERBS_PRIVATE_34), which rdma-core 34 to 56 carry. Names and layouts are rdma-core's; tests/unit/abi_check.c
 * compares them with the real header wherever one can be had at build time.
 *
 * What changed inside ABI 34:
 *  - 34 and 35: verbs_context_ops lacks import_dm, query_qp_data_in_order or unimport_dm, so every member behind them
 *    is displaced. The layout below holds from 36 on; a provider with this header must not be loaded by 34 or 35.
 *  - 36 has no __verbs_log. Debian 12 (44) and all later releases do. Linking against 36 needs the log macros unused.
 *  - 54 added a parameter to ibv_cmd_reg_dmabuf_mr and a second ibv_cmd_create_cq_ex. Neither is declared here.
 *  - verbs_device_ops, verbs_device and the object wrappers did not change.
 * Outside the version number's care: the public struct ibv_qp_ex gained wr_atomic_write at 44 and wr_flush at 45, and
 * libibverbs reads verbs_qp.comp_mask behind it. Where that is, verbs_layout.hpp finds out when it runs, so a build works
 * with the libibverbs of every release from 44 on, whichever it was built with.
 * 57 and later use other version numbers: verbs_register_driver_34 is then missing, and the dynamic linker says so.
 *
 * Usable from C11 and from C++20. rdma-core declares verbs_device.refcount as atomic_int, which C++ cannot name before
 * C++23: it is an int here, of the same size and alignment, and only libibverbs changes it once a device is published.
 */
#ifndef PRISM_RDMA_CORE_ABI_H
#define PRISM_RDMA_CORE_ABI_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define PRISM_ABI_ASSERT(condition, message) static_assert(condition, message)
extern "C" {
#else
#define PRISM_ABI_ASSERT(condition, message) _Static_assert(condition, message)
#endif

/* Owned by libibverbs and never touched by this provider: pointers to it are passed through. */
struct verbs_sysfs_dev;

/* The node of rdma-core's intrusive doubly linked list. */
struct list_node {
	struct list_node *next;
	struct list_node *prev;
};

/* --- Logging: goes to $VERBS_LOG_FILE when $VERBS_LOG_LEVEL is at least the message's level --- */

enum {
	VERBS_LOG_LEVEL_NONE,
	VERBS_LOG_ERR,
	VERBS_LOG_WARN,
	VERBS_LOG_INFO,
	VERBS_LOG_DEBUG,
};

void __verbs_log(struct verbs_context *ctx, uint32_t level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Callers log on their way out with errno already set, so logging keeps it. */
#define verbs_log(ctx, level, format, ...)                                                                             \
	do {                                                                                                           \
		const int verbs_log_errno_ = errno;                                                                    \
		__verbs_log(ctx, level, "%s: %s:%d: " format, (ctx)->context.device->name, __func__, __LINE__,         \
			##__VA_ARGS__);                                                                                \
		errno = verbs_log_errno_;                                                                              \
	} while (0)

#define verbs_err(ctx, format, ...) verbs_log(ctx, VERBS_LOG_ERR, format, ##__VA_ARGS__)
#define verbs_warn(ctx, format, ...) verbs_log(ctx, VERBS_LOG_WARN, format, ##__VA_ARGS__)
#define verbs_info(ctx, format, ...) verbs_log(ctx, VERBS_LOG_INFO, format, ##__VA_ARGS__)
#define verbs_debug(ctx, format, ...) verbs_log(ctx, VERBS_LOG_DEBUG, format, ##__VA_ARGS__)

/* --- Objects: what libibverbs expects to find around the public structures --- */

enum verbs_qp_mask {
	VERBS_QP_XRCD = 1 << 0, /* xrcd is valid */
	VERBS_QP_EX = 1 << 1,   /* qp_ex is filled in: without it ibv_qp_to_qp_ex() returns NULL */
};

struct verbs_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t comp_mask;
	uint32_t handle;
};

/*
 * rdma-core's has comp_mask (enum verbs_qp_mask) and a struct verbs_xrcd * behind qp_ex, at an offset that depends on the
 * libibverbs that is loaded: mark_extended() of verbs_layout.hpp writes there. The room is for both, and for builders
 * that ibv_qp_ex may still gain.
 */
struct verbs_qp {
	union {
		uint64_t whole[sizeof(struct ibv_qp_ex) / 8]; /* the first, as only that is sure to be cleared by = {} */
		struct ibv_qp qp;
		struct ibv_qp_ex qp_ex;
	};
	uint64_t room[8];
};

struct verbs_cq {
	union {
		uint64_t whole[sizeof(struct ibv_cq_ex) / 8];
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
	};
};

struct verbs_srq {
	struct ibv_srq srq;
	enum ibv_srq_type srq_type;
	struct verbs_xrcd *xrcd;
	struct ibv_cq *cq;
	uint32_t srq_num;
};

/* libibverbs undoes its fork protection of a region's pages at deregistration only for IBV_MR_TYPE_MR. */
enum ibv_mr_type {
	IBV_MR_TYPE_MR,
	IBV_MR_TYPE_NULL_MR,
	IBV_MR_TYPE_IMPORTED_MR,
	IBV_MR_TYPE_DMABUF_MR,
};

struct verbs_mr {
	struct ibv_mr ibv_mr;
	enum ibv_mr_type mr_type;
	int access;
};

struct verbs_dm {
	struct ibv_dm dm;
	uint32_t handle;
};

/* --- Devices --- */

enum {
	VERBS_MATCH_SENTINEL = 0,
	VERBS_MATCH_PCI = 1,
	VERBS_MATCH_MODALIAS = 2,
	VERBS_MATCH_DRIVER_ID = 3,
};

struct verbs_match_ent {
	void *driver_data;
	union {
		const char *modalias;
		uint64_t driver_id;
	} u;
	uint16_t vendor;
	uint16_t device;
	uint8_t kind;
};

/* An entry that claims kernel devices by their RDMA_DRIVER_* number. A match table ends with an entry of zeros. */
#define VERBS_DRIVER_ID(id)                                                                                            \
	{                                                                                                              \
		.driver_data = NULL, .u = {.driver_id = (id)}, .vendor = 0, .device = 0, .kind = VERBS_MATCH_DRIVER_ID \
	}

struct verbs_device_ops {
	const char *name;

	uint32_t match_min_abi_version;
	uint32_t match_max_abi_version;
	const struct verbs_match_ent *match_table;
	const struct verbs_device_ops **static_providers;

	bool (*match_device)(struct verbs_sysfs_dev *sysfs_dev);

	/* Owns cmd_fd from the call on, also when it fails. private_data is that of verbs_open_device(). */
	struct verbs_context *(*alloc_context)(struct ibv_device *device, int cmd_fd, void *private_data);
	struct verbs_context *(*import_context)(struct ibv_device *device, int cmd_fd);

	struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *sysfs_dev);
	/* Runs when the last list or context that holds the device lets go of it. */
	void (*uninit_device)(struct verbs_device *device);
};

/*
 * A device without a kernel side has sysfs NULL and core_support 0 and starts with refcount 1; libibverbs then opens
 * it with cmd_fd -1 and without reading anything from sysfs.
 */
struct verbs_device {
	struct ibv_device device;
	const struct verbs_device_ops *ops;
	int refcount;
	struct list_node entry;
	struct verbs_sysfs_dev *sysfs;
	uint64_t core_support;
};

/*
 * Every operation that libibverbs asks a provider for, in alphabetical order, which is also the order in memory.
 * NULL members keep libibverbs's default, which fails with EOPNOTSUPP.
 */
struct verbs_context_ops {
	int (*advise_mr)(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags, struct ibv_sge *sg_list,
		uint32_t num_sges);
	struct ibv_dm *(*alloc_dm)(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
	struct ibv_mw *(*alloc_mw)(struct ibv_pd *pd, enum ibv_mw_type type);
	struct ibv_mr *(*alloc_null_mr)(struct ibv_pd *pd);
	struct ibv_pd *(*alloc_parent_domain)(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	struct ibv_td *(*alloc_td)(struct ibv_context *context, struct ibv_td_init_attr *init_attr);
	void (*async_event)(struct ibv_context *context, struct ibv_async_event *event);
	int (*attach_counters_point_flow)(
		struct ibv_counters *counters, struct ibv_counter_attach_attr *attr, struct ibv_flow *flow);
	int (*attach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
	int (*bind_mw)(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind);
	int (*close_xrcd)(struct ibv_xrcd *xrcd);
	void (*cq_event)(struct ibv_cq *cq);
	struct ibv_ah *(*create_ah)(struct ibv_pd *pd, struct ibv_ah_attr *attr);
	struct ibv_counters *(*create_counters)(struct ibv_context *context, struct ibv_counters_init_attr *init_attr);
	struct ibv_cq *(*create_cq)(
		struct ibv_context *context, int cqe, struct ibv_comp_channel *channel, int comp_vector);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context, struct ibv_cq_init_attr_ex *init_attr);
	struct ibv_flow *(*create_flow)(struct ibv_qp *qp, struct ibv_flow_attr *flow_attr);
	struct ibv_flow_action *(*create_flow_action_esp)(
		struct ibv_context *context, struct ibv_flow_action_esp_attr *attr);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *context, struct ibv_qp_init_attr_ex *qp_init_attr_ex);
	struct ibv_rwq_ind_table *(*create_rwq_ind_table)(
		struct ibv_context *context, struct ibv_rwq_ind_table_init_attr *init_attr);
	struct ibv_srq *(*create_srq)(struct ibv_pd *pd, struct ibv_srq_init_attr *srq_init_attr);
	struct ibv_srq *(*create_srq_ex)(struct ibv_context *context, struct ibv_srq_init_attr_ex *srq_init_attr_ex);
	struct ibv_wq *(*create_wq)(struct ibv_context *context, struct ibv_wq_init_attr *wq_init_attr);
	int (*dealloc_mw)(struct ibv_mw *mw);
	int (*dealloc_pd)(struct ibv_pd *pd);
	int (*dealloc_td)(struct ibv_td *td);
	int (*dereg_mr)(struct verbs_mr *vmr);
	int (*destroy_ah)(struct ibv_ah *ah);
	int (*destroy_counters)(struct ibv_counters *counters);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*destroy_flow)(struct ibv_flow *flow);
	int (*destroy_flow_action)(struct ibv_flow_action *action);
	int (*destroy_qp)(struct ibv_qp *qp);
	int (*destroy_rwq_ind_table)(struct ibv_rwq_ind_table *rwq_ind_table);
	int (*destroy_srq)(struct ibv_srq *srq);
	int (*destroy_wq)(struct ibv_wq *wq);
	int (*detach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
	void (*free_context)(struct ibv_context *context);
	int (*free_dm)(struct ibv_dm *dm);
	int (*get_srq_num)(struct ibv_srq *srq, uint32_t *srq_num);
	struct ibv_dm *(*import_dm)(struct ibv_context *context, uint32_t dm_handle);
	struct ibv_mr *(*import_mr)(struct ibv_pd *pd, uint32_t mr_handle);
	struct ibv_pd *(*import_pd)(struct ibv_context *context, uint32_t pd_handle);
	int (*modify_cq)(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
	int (*modify_flow_action_esp)(struct ibv_flow_action *action, struct ibv_flow_action_esp_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
	int (*modify_qp_rate_limit)(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);
	int (*modify_srq)(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask);
	int (*modify_wq)(struct ibv_wq *wq, struct ibv_wq_attr *wq_attr);
	struct ibv_qp *(*open_qp)(struct ibv_context *context, struct ibv_qp_open_attr *attr);
	struct ibv_xrcd *(*open_xrcd)(struct ibv_context *context, struct ibv_xrcd_init_attr *xrcd_init_attr);
	int (*poll_cq)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
	int (*post_srq_ops)(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad_op);
	int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *recv_wr, struct ibv_recv_wr **bad_recv_wr);
	int (*query_device_ex)(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
		struct ibv_device_attr_ex *attr, size_t attr_size);
	int (*query_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
	int (*query_port)(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *port_attr);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask, struct ibv_qp_init_attr *init_attr);
	int (*query_qp_data_in_order)(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);
	int (*query_rt_values)(struct ibv_context *context, struct ibv_values_ex *values);
	int (*query_srq)(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr);
	int (*read_counters)(
		struct ibv_counters *counters, uint64_t *counters_value, uint32_t ncounters, uint32_t flags);
	struct ibv_mr *(*reg_dm_mr)(
		struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset, size_t length, unsigned int access);
	struct ibv_mr *(*reg_dmabuf_mr)(
		struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va, int access);
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	int (*rereg_mr)(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access);
	int (*resize_cq)(struct ibv_cq *cq, int cqe);
	int (*set_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
	void (*unimport_dm)(struct ibv_dm *dm);
	void (*unimport_mr)(struct ibv_mr *mr);
	void (*unimport_pd)(struct ibv_pd *pd);
};

/* --- Functions that libibverbs exports as IBVERBS_PRIVATE_34 --- */

/* Called once from a constructor of the plugin; keeps the pointer. */
void verbs_register_driver_34(const struct verbs_device_ops *ops);

/*
 * Allocates alloc_size zeroed bytes with malloc(), initializes the verbs_context at context_offset in them (an offset
 * that rdma-core types as a pointer) and takes a reference to the device. Returns the start of the allocation, or NULL
 * with errno; owns cmd_fd either way. Sets every operation to libibverbs's failing default.
 */
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t alloc_size,
	struct verbs_context *context_offset, uint32_t driver_id);

/* Closes cmd_fd and async_fd unless they are -1 and drops the device. The context's memory stays the caller's. */
void verbs_uninit_context(struct verbs_context *context);

/* Installs the members of ops that are not NULL; may be called again to replace some of them. */
void verbs_set_ops(struct verbs_context *vctx, const struct verbs_context_ops *ops);

/* For a CQ that did not come through ibv_create_cq() or ibv_create_cq_ex(), which call this themselves. */
void verbs_init_cq(struct ibv_cq *cq, struct ibv_context *context, struct ibv_comp_channel *channel, void *cq_context);

/* ibv_open_device() with an argument for the provider's alloc_context. */
struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data);

/* libibverbs's kind of GID type, which predates enum ibv_gid_type. */
enum ibv_gid_type_sysfs {
	IBV_GID_TYPE_SYSFS_IB_ROCE_V1,
	IBV_GID_TYPE_SYSFS_ROCE_V2,
};

int ibv_query_gid_type(
	struct ibv_context *context, uint8_t port_num, unsigned int index, enum ibv_gid_type_sysfs *type);

/* --- Commands to the kernel ---
 *
 * Every command is a struct ib_uverbs_cmd_hdr and the structure of <rdma/ib_user_verbs.h> with the same name, followed
 * by what the driver adds; a response is that structure and what the driver adds. libibverbs fills in the part that it
 * knows, and takes what exceeds it in the sizes for the driver's. So the types need no definition here: uverbs/
 * command.hpp lays them out. Results are 0 or an errno value.
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

int ibv_cmd_get_context(struct verbs_context *context, struct ibv_get_context *cmd, size_t cmd_size,
	struct ib_uverbs_get_context_resp *resp, size_t resp_size);
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

/* --- From the public structure to the wrapper around it; all of them start with the public one --- */

static inline struct verbs_device *verbs_get_device(const struct ibv_device *device)
{
	return (struct verbs_device *)device;
}

static inline struct verbs_mr *verbs_get_mr(struct ibv_mr *mr)
{
	return (struct verbs_mr *)mr;
}

PRISM_ABI_ASSERT(offsetof(struct verbs_device, device) == 0, "verbs_get_device() casts");
PRISM_ABI_ASSERT(offsetof(struct verbs_mr, ibv_mr) == 0, "verbs_get_mr() casts");
PRISM_ABI_ASSERT(offsetof(struct ibv_qp_ex, qp_base) == 0, "verbs_qp's union relies on it");

/* Function pointers only: a member lost or added shows in the count. */
PRISM_ABI_ASSERT(sizeof(struct verbs_context_ops) == 76 * sizeof(void *), "verbs_context_ops");
PRISM_ABI_ASSERT(sizeof(struct list_node) == 2 * sizeof(void *), "list_node");

/* Where neither pthread types nor padding differ: the numbers that the 36, 44 and 56 headers give. */
#if defined(__x86_64__) && defined(__LP64__)
PRISM_ABI_ASSERT(sizeof(struct verbs_match_ent) == 24, "verbs_match_ent");
PRISM_ABI_ASSERT(sizeof(struct verbs_device_ops) == 72, "verbs_device_ops");
PRISM_ABI_ASSERT(offsetof(struct verbs_device, ops) == 664, "verbs_device.ops");
PRISM_ABI_ASSERT(offsetof(struct verbs_device, refcount) == 672, "verbs_device.refcount");
PRISM_ABI_ASSERT(offsetof(struct verbs_device, entry) == 680, "verbs_device.entry");
PRISM_ABI_ASSERT(offsetof(struct verbs_device, sysfs) == 696, "verbs_device.sysfs");
PRISM_ABI_ASSERT(offsetof(struct verbs_device, core_support) == 704, "verbs_device.core_support");
PRISM_ABI_ASSERT(sizeof(struct verbs_device) == 712, "verbs_device");
PRISM_ABI_ASSERT(offsetof(struct verbs_srq, srq_num) == 152, "verbs_srq");
PRISM_ABI_ASSERT(sizeof(struct verbs_mr) == 56, "verbs_mr");
PRISM_ABI_ASSERT(sizeof(struct verbs_dm) == 40, "verbs_dm");
#endif

#ifdef __cplusplus
}
#endif

#endif /* PRISM_RDMA_CORE_ABI_H */
