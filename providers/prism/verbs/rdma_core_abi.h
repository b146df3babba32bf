/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Declarations of the structures that libibverbs expects around the public ones of <infiniband/verbs.h>.
 *
 * Distributions ship libibverbs without <infiniband/driver.h>, so a provider that is built outside the rdma-core tree
 * has to declare these itself. Names and layouts are rdma-core's, and have not changed from release 34 to 65;
 * tests/unit/abi_check.c compares them with the real header where one is available at build time. Two layouts did
 * change, and are found at run time, for the library that is loaded: the place of a queue pair's mark
 * (qp_mark.hpp), and the table of a context's operations (operations.hpp).
 *
 * Functions that libibverbs exports to providers alone are in uverbs/private_abi.h: only the kernel's device uses them.
 *
 * Usable from C11 and from C++20. rdma-core declares verbs_device.refcount as atomic_int, which C++ cannot name before
 * C++23: it is an int here, of the same size and alignment, and only libibverbs changes it once a device is published.
 */
#ifndef PRISM_RDMA_CORE_ABI_H
#define PRISM_RDMA_CORE_ABI_H

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

/* --- Objects: structures that libibverbs expects around the public ones --- */

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
 * rdma-core's verbs_qp has comp_mask (enum verbs_qp_mask) and a struct verbs_xrcd * behind qp_ex, at an offset that
 * depends on the libibverbs that is loaded: mark_extended() of qp_mark.hpp writes there. The room is for both, and
 * for builders that ibv_qp_ex may still gain.
 */
struct verbs_qp {
	union {
		uint64_t whole[sizeof(struct ibv_qp_ex) / 8]; /* first, as = {} surely clears the first alone */
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

/* libibverbs's kind of GID type, which predates enum ibv_gid_type. */
enum ibv_gid_type_sysfs {
	IBV_GID_TYPE_SYSFS_IB_ROCE_V1,
	IBV_GID_TYPE_SYSFS_ROCE_V2,
};

int ibv_query_gid_type(
	struct ibv_context *context, uint8_t port_num, unsigned int index, enum ibv_gid_type_sysfs *type);

/* Pointers to the public structures are cast to the wrappers around them. */
PRISM_ABI_ASSERT(offsetof(struct verbs_device, device) == 0, "verbs_device");
PRISM_ABI_ASSERT(offsetof(struct verbs_mr, ibv_mr) == 0, "verbs_mr");
PRISM_ABI_ASSERT(offsetof(struct ibv_qp_ex, qp_base) == 0, "verbs_qp's union relies on it");
PRISM_ABI_ASSERT(sizeof(struct list_node) == 2 * sizeof(void *), "list_node");

/* Checks where neither pthread types nor padding differ, with the numbers of the headers of 36, 44, 56 and 65. */
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
