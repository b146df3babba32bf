/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The user ABI of rxe_prism.ko: the data that the provider (providers/prism/uverbs) and the module exchange when
 * objects are created, and the layout of the queues that they share.
 *
 * Everything is in host byte order unless it says __be. Reserved fields, unknown flags and bytes after the known part
 * of a command must be 0, and are refused otherwise, so that they can get a meaning; those of receives are not checked.
 * The version grows with every change that an older side would misread; uverbs reports it as the device's abi_version.
 *
 * A shared queue is a struct prism_abi_queue, mapped with the offset and size that a create call returned. The user
 * owns the producer index of send and receive queues and the consumer index of completion queues, the module owns the
 * others. The module copies an entry out of a queue before reading it, and trusts nothing in it.
 */
#ifndef PRISM_ABI_H
#define PRISM_ABI_H

#include <linux/types.h>

#define PRISM_ABI_VERSION	1

/* Outside the range of the kernel's ids; only our provider claims a device with it. */
#define PRISM_ABI_DRIVER_ID	0x5052

/* Objects ------------------------------------------------------------------------------------------------------- */

struct prism_abi_mmap {
	__aligned_u64 offset;
	__u32 size;
	__u32 reserved;
};

#define PRISM_ABI_FEATURE_RESUME	0x1	/* READs continue where they were, as in docs/wire-protocol.md W.8.3 */

struct prism_abi_alloc_ucontext_resp {
	__u32 abi_version;
	__u32 protocol_version;		/* docs/wire-protocol.md */
	__u32 max_indirect_read;	/* bytes */
	__u32 max_outstanding;		/* PRISM requests in flight on a queue pair */
	__u32 max_free_list_tries;
	__u32 send_opcodes;		/* bit n: IB_UVERBS_WR_* n may be posted */
	__u32 reserved[2];
	/* Missing in the answers of older modules, and unknown to older libraries */
	__u32 features;			/* PRISM_ABI_FEATURE_* */
	__u32 reserved_2;
};

struct prism_abi_create_ah_resp {
	__u32 ah_num;
	__u32 reserved;
};

struct prism_abi_create_cq_resp {
	struct prism_abi_mmap queue;
};

struct prism_abi_resize_cq_resp {
	struct prism_abi_mmap queue;
};

#define PRISM_ABI_QP_PRISM	0x1	/* posts and accepts PRISM requests; RC only */

struct prism_abi_create_qp {
	__u32 flags;
	__u32 reserved;
};

struct prism_abi_create_qp_resp {
	struct prism_abi_mmap receive_queue;	/* size 0 with an SRQ */
	struct prism_abi_mmap send_queue;
};

#define PRISM_ABI_SRQ_FREE_LIST	0x1

struct prism_abi_create_srq {
	__u32 flags;
	__u32 reserved;
};

struct prism_abi_create_srq_resp {
	struct prism_abi_mmap queue;
	__u32 srq_num;
	__u32 reserved;
	struct prism_abi_mmap free_list;	/* struct prism_abi_free_list; size 0 if it is none */
};

struct prism_abi_modify_srq {
	__aligned_u64 mmap_info_addr;	/* address at which a resize stores the new struct prism_abi_mmap */
};

/* Queues -------------------------------------------------------------------------------------------------------- */

/* Entry i is at data + ((i & index_mask) << log2_entry_size); the queue is full with index_mask entries. */
struct prism_abi_queue {
	__u32 log2_entry_size;
	__u32 index_mask;
	__u32 reserved_1[30];
	__u32 producer_index;	/* kept within index_mask, like the other */
	__u32 reserved_2[31];
	__u32 consumer_index;
	__u32 reserved_3[31];
	__u8 data[];
};

struct prism_abi_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/* Entries of a completion queue are struct ib_uverbs_wc; wc_flags are those of enum ibv_wc_flags. */
#define PRISM_ABI_WC_WITH_INV	0x8

/* An entry of a receive queue. Fields marked "the module's" belong to the module and are 0 when posted. */
struct prism_abi_recv {
	__aligned_u64 wr_id;
	__u32 reserved_1;
	__u32 reserved_2;
	__u32 length;		/* sum of the sges */
	__u32 resid;		/* as length */
	__u32 cur_sge;		/* the module's */
	__u32 num_sge;
	__u32 sge_offset;	/* the module's */
	__u32 reserved_3;
	struct prism_abi_sge sge[];
};

/* Opcodes of PRISM requests; standard requests have those of enum ib_uverbs_wr_opcode. */
enum prism_abi_wr_opcode {
	PRISM_ABI_WR_READ = 0xc0,
	PRISM_ABI_WR_WRITE = 0xc1,
	PRISM_ABI_WR_CAS = 0xc2,
	PRISM_ABI_WR_ALLOCATE = 0xc3,
};

#define PRISM_ABI_OPERANDS_SIZE	128	/* compare, swap, compare mask, swap mask; cas_size bytes each, without gaps */

struct prism_abi_prism_wr {
	__aligned_u64 va;
	__aligned_u64 aux_va;
	__u32 rkey;
	__u32 aux_rkey;
	__u32 aux_length;	/* READ with R, WRITE with D: bytes to move; else 0 */
	__u32 free_list;
	__u32 tag;
	__u8 flags;		/* as on the wire: PRISM_FLAG_* of core/prism_wire.h */
	__u8 cas_mode;
	__u8 cas_flags;
	__u8 cas_size;
	struct prism_abi_sge result;	/* ALLOCATE: place for the address, length 8, or 0 for none */
	__u8 operands[PRISM_ABI_OPERANDS_SIZE];
};

#define PRISM_ABI_SEND_RESUME	0x10000	/* a PRISM request to a peer that has declared RESUME */
#define PRISM_ABI_SEND_BUNDLE	0x20000	/* the same to a peer that speaks version 2 and so takes bundles */

/*
 * An entry of a send queue. It is followed by num_sge sges, or by length bytes of data if flags have IBV_SEND_INLINE.
 * Only queue pairs with PRISM_ABI_QP_PRISM have room for, and read, the prism member.
 */
struct prism_abi_send {
	__aligned_u64 wr_id;
	__u32 opcode;
	/*
	 * enum ibv_send_flags; PRISM_ABI_SEND_RESUME if the module has PRISM_ABI_FEATURE_RESUME, PRISM_ABI_SEND_BUNDLE
	 * from its protocol_version 2 on
	 */
	__u32 flags;
	__u32 num_sge;
	__u32 length;		/* of the inline data */
	union {
		__be32 imm_data;
		__u32 invalidate_rkey;
	};
	__u32 reserved;
	union {
		struct {
			__aligned_u64 remote_addr;
			__u32 rkey;
			__u32 flush;	/* IB_UVERBS_WR_FLUSH: type | level << 8 */
		} rdma;
		struct {
			__aligned_u64 remote_addr;
			__aligned_u64 compare_add;
			__aligned_u64 swap;
			__u32 rkey;
			__u32 reserved;
		} atomic;
		struct {
			__u32 remote_qpn;
			__u32 remote_qkey;
			__u32 ah_num;
			__u32 reserved;
		} ud;
		struct {
			__aligned_u64 addr;
			__aligned_u64 length;
			__u32 mr_lkey;
			__u32 mw_rkey;
			__u32 rkey;
			__u32 access;
		} mw;
		struct prism_abi_prism_wr prism;
	};
};

/* Offset of the sges or the inline data in an entry: of an ordinary queue pair, of one with PRISM_ABI_QP_PRISM */
#define PRISM_ABI_SEND_HEADER		64
#define PRISM_ABI_PRISM_SEND_HEADER	256

/* Free lists ---------------------------------------------------------------------------------------------------- */

struct prism_abi_report {
	__aligned_u64 wr_id;
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
	__u32 error;		/* errno: EINVAL or EACCES */
	__u32 reserved;
};

/*
 * Reports of the module to the owner of a free list; the user only reads. The reports are a ring: the user keeps its
 * own consumer index, and has lost the oldest ones when it is more than report_mask + 1 behind.
 */
struct prism_abi_free_list {
	__aligned_u64 popped;
	__aligned_u64 rejected;
	__aligned_u64 reclaimed;
	__u32 returned;		/* buffers that were taken back and are not in the queue */
	__u32 allocatable;	/* entries past their grace period, returned ones included */
	__u32 report_producer;	/* runs freely */
	__u32 report_mask;
	struct prism_abi_report reports[];
};

#endif /* PRISM_ABI_H */
