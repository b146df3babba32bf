/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * <infiniband/prismdv.h>: PRISM operations as direct verbs.
 *
 * Semantics: docs/semantics.md (sections are named below as S.n), packets: docs/wire-protocol.md, one man page for each
 * function: prismdv_*(3), overview: prismdv(7). Error convention of rdma-core: functions that return int give 0 or a
 * positive errno value, functions that return a pointer give NULL and set errno. Thread-safety is that of libibverbs:
 * every function may be called from any thread; a work request builder belongs to the thread between ibv_wr_start()
 * and ibv_wr_complete().
 */
#ifndef INFINIBAND_PRISMDV_H
#define INFINIBAND_PRISMDV_H

#include <endian.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Devices --------------------------------------------------------------------------------------------------------- */

/** The devices of libibverbs and the userspace devices, NULL-terminated; free with prismdv_free_device_list(). */
struct ibv_device **prismdv_get_device_list(int *num_devices);
void prismdv_free_device_list(struct ibv_device **list);

/** True if @device speaks PRISM: every other function here needs a context of such a device (else EOPNOTSUPP). */
bool prismdv_is_supported(struct ibv_device *device);

enum prismdv_progress_mode {
	PRISMDV_PROGRESS_DEFAULT, /* as the environment variable PRISM_PROGRESS says, else THREAD */
	PRISMDV_PROGRESS_INLINE,  /* calls make progress: ibv_poll_cq, posting, prismdv_progress; see the man page */
	PRISMDV_PROGRESS_THREAD,  /* an engine thread makes progress whenever no call does */
};

enum prismdv_path {
	PRISMDV_PATH_DEFAULT, /* as the environment variable PRISM_LOCAL says, else LOCAL */
	PRISMDV_PATH_UDP,     /* all packets of a userspace device go by UDP */
	PRISMDV_PATH_LOCAL,   /* packets to one's own peers on this host go through shared memory, where possible */
};

struct prismdv_context_attr {
	uint64_t comp_mask; /* reserved for growth, 0 */
	uint32_t progress;  /* enum prismdv_progress_mode */
	uint32_t path;      /* enum prismdv_path */
};

/** As ibv_open_device(), with a choice of the thread that drives a userspace device. @attr may be NULL. */
struct ibv_context *prismdv_open_device(struct ibv_device *device, const struct prismdv_context_attr *attr);

/** Drive the userspace device once: receive, execute, answer, send. No effect on a kernel device. 0 or errno. */
int prismdv_progress(struct ibv_context *context);

/*
 * libibverbs answers the following two from the kernel, without asking a provider; these ask the device itself, kernel
 * or userspace. Programs started by prism-run(1) may use the ibv_ names.
 */

/** As ibv_query_gid(), but returns 0 or errno: ENODATA for an empty entry, EINVAL if there is no such port. */
int prismdv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid);

/** As ibv_create_comp_channel(); destroy with ibv_destroy_comp_channel(). */
struct ibv_comp_channel *prismdv_create_comp_channel(struct ibv_context *context);

/**
 * Feature bits: one for each primitive and modifier. Every device has all of them, but only userspace devices have
 * RESUME.
 */
enum prismdv_feature {
	PRISMDV_FEATURE_INDIRECT = 1 << 0,
	PRISMDV_FEATURE_BOUNDED = 1 << 1,
	PRISMDV_FEATURE_DATA_INDIRECT = 1 << 2,
	PRISMDV_FEATURE_CONDITIONAL = 1 << 3,
	PRISMDV_FEATURE_REDIRECT = 1 << 4,
	PRISMDV_FEATURE_CAS = 1 << 5,
	PRISMDV_FEATURE_ALLOCATE = 1 << 6,
	PRISMDV_FEATURE_RESUME = 1 << 7, /* a long READ that lost packets continues where it was */
};

enum prismdv_device_flags {
	PRISMDV_DEVICE_USERSPACE = 1 << 0, /* runs in this process, without a kernel module */
};

struct prismdv_device_attr {
	uint64_t comp_mask;           /* out: bits of fields added later, 0 today */
	uint64_t features;            /* enum prismdv_feature */
	uint32_t protocol_version;    /* the highest that the device speaks: docs/wire-protocol.md */
	uint32_t flags;               /* enum prismdv_device_flags */
	uint32_t max_indirect_read;   /* bytes; at least 1 MiB */
	uint32_t max_cas_size;        /* bytes; 32 */
	uint32_t max_outstanding;     /* PRISM requests in flight a QP (max_rd_atomic); at least 128 */
	uint32_t max_free_list_tries; /* bad entries removed before NO_BUFFER; 8 */
	uint32_t reserved[8];
};

int prismdv_query_device(struct ibv_context *context, struct prismdv_device_attr *attr);

/** A device counter: a name that stays the same between releases, and its value since the context was opened. */
struct prismdv_counter {
	char name[40];
	uint64_t value;
};

/**
 * Fill at most @max entries of @counters. Returns the number that the device has (call with max 0 to learn it), or a
 * negative errno. docs/semantics.md lists the names.
 */
ssize_t prismdv_query_counters(struct ibv_context *context, struct prismdv_counter *counters, size_t max);

/* Capability exchange (S.10): peers tell each other outside the data path that they speak PRISM -------------------- */

/** Capability record of a device, in the byte order of the wire: carry it to the peer as 16 opaque bytes. */
struct prismdv_capability {
	uint8_t bytes[16];
};

int prismdv_query_capability(struct ibv_context *context, struct prismdv_capability *capability);

/**
 * Declare what the peer of @qp can do, from the bytes that it sent. Before this, posting a PRISM request to @qp fails
 * with EOPNOTSUPP; the declaration lasts until the QP is reset. EINVAL: not a capability record, EPROTONOSUPPORT:
 * no common protocol version, EOPNOTSUPP: @qp was not created by prismdv_create_qp().
 */
int prismdv_set_peer_capability(struct ibv_qp *qp, const struct prismdv_capability *capability);

/* Queue pairs and free lists --------------------------------------------------------------------------------------- */

struct prismdv_qp_init_attr {
	uint64_t comp_mask; /* reserved for growth, 0 */
	uint64_t reserved[4];
};

/** An RC queue pair that posts and accepts PRISM requests. @prism_attr may be NULL. */
struct ibv_qp *prismdv_create_qp(
	struct ibv_context *context, struct ibv_qp_init_attr_ex *attr, const struct prismdv_qp_init_attr *prism_attr);

enum prismdv_srq_flags {
	PRISMDV_SRQ_FREE_LIST = 1 << 0,
};

struct prismdv_srq_init_attr {
	uint64_t comp_mask; /* reserved for growth, 0 */
	uint32_t flags;     /* enum prismdv_srq_flags; without FREE_LIST an ordinary SRQ */
	uint32_t reserved[7];
};

/**
 * A free list (S.7): post buffers of exactly one sge with ibv_post_srq_recv(), name it in requests by the number that
 * ibv_get_srq_num() gives. It cannot be attached to a QP.
 */
struct ibv_srq *prismdv_create_srq(
	struct ibv_context *context, struct ibv_srq_init_attr_ex *attr, const struct prismdv_srq_init_attr *prism_attr);

struct prismdv_free_list_attr {
	uint64_t comp_mask;   /* out: bits of fields added later, 0 today */
	uint64_t posted;      /* entries ever posted */
	uint64_t popped;      /* entries ever handed out */
	uint64_t rejected;    /* bad entries ever removed */
	uint64_t reclaimed;   /* buffers taken back from unfinished ALLOCATEs */
	uint32_t available;   /* entries in the list */
	uint32_t allocatable; /* of these, entries past their grace period */
	uint64_t reserved[4];
};

int prismdv_query_free_list(struct ibv_srq *srq, struct prismdv_free_list_attr *attr);

/** A removed free-list entry, with the errno that the device's check of it gave. */
struct prismdv_rejected_entry {
	uint64_t wr_id;
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
	uint32_t error; /* EINVAL: no such region or not of this PD or out of its range, EACCES: rights are missing */
	uint32_t reserved;
};

/**
 * Fetches the bad entries that the device removed since the last call, oldest first, at most @max. Returns their
 * number, or a negative errno. The device remembers as many as the list's max_wr, then forgets the oldest.
 */
ssize_t prismdv_poll_rejected(struct ibv_srq *srq, struct prismdv_rejected_entry *entries, size_t max);

/* Work requests ---------------------------------------------------------------------------------------------------- */

/** Result of a PRISM request: ibv_wc.vendor_err (or ibv_wc_read_vendor_err) of a completion with IBV_WC_SUCCESS. */
enum prismdv_status {
	PRISMDV_STATUS_OK = 0,
	PRISMDV_STATUS_CAS_MISS = 1,     /* the comparison did not hold; the old bytes are in the local sges */
	PRISMDV_STATUS_NULL_POINTER = 2, /* the pointer of an indirect target was 0 */
	PRISMDV_STATUS_NO_BUFFER = 3,    /* the free list had no buffer */
	PRISMDV_STATUS_SKIPPED = 4,      /* conditional, and the previous request did not succeed */
};

/** Returns the name of a status, such as "CAS_MISS". Never NULL. */
const char *prismdv_status_str(uint32_t status);

/** Values for ibv_send_wr.opcode: the work request is the first member of a struct prismdv_send_wr. */
enum prismdv_wr_opcode {
	PRISMDV_WR_READ = 0xc0,     /* completes as IBV_WC_RDMA_READ */
	PRISMDV_WR_WRITE = 0xc1,    /* completes as IBV_WC_RDMA_WRITE */
	PRISMDV_WR_CAS = 0xc2,      /* completes as IBV_WC_COMP_SWAP */
	PRISMDV_WR_ALLOCATE = 0xc3, /* completes as IBV_WC_FETCH_ADD */
};

/** Modifiers (S.3). READ takes T B C R, WRITE T B C D, CAS T C D, ALLOCATE B C R; B only with T, on ALLOCATE with R. */
enum prismdv_wr_flags {
	PRISMDV_WR_INDIRECT = 1 << 0,      /* T: the target holds a pointer to the real target */
	PRISMDV_WR_BOUNDED = 1 << 1,       /* B: that pointer, or the one that R stores, carries a bound */
	PRISMDV_WR_CONDITIONAL = 1 << 2,   /* C: run only if the previous request succeeded */
	PRISMDV_WR_REDIRECT = 1 << 3,      /* R: the result goes to aux, not to the requester */
	PRISMDV_WR_DATA_INDIRECT = 1 << 4, /* D: the data comes from aux, not from the requester */
};

enum prismdv_cas_mode {
	PRISMDV_CAS_EQ = 0,
	PRISMDV_CAS_GT = 1, /* compare operand greater than target */
	PRISMDV_CAS_LT = 2,
};

enum prismdv_cas_flags {
	PRISMDV_CAS_COMPARE_DATA = 1 << 0, /* with D: the bytes from aux are the compare operand as well */
};

/**
 * The operands of a CAS: raw bytes in memory order, @length of them each, copied when the request is posted. Compared
 * as one unsigned little-endian integer. A NULL mask is all ones; @swap is ignored (may be NULL) with D, @compare with
 * PRISMDV_CAS_COMPARE_DATA.
 */
struct prismdv_cas {
	uint8_t mode;    /* enum prismdv_cas_mode */
	uint8_t flags;   /* enum prismdv_cas_flags */
	uint16_t length; /* 8, 16 or 32 */
	uint32_t reserved;
	const void *compare;
	const void *swap;
	const void *compare_mask;
	const void *swap_mask;
};

/** The second address of a request: R stores there, D loads from there. */
struct prismdv_aux {
	uint64_t addr;
	uint32_t rkey;
	uint32_t length; /* READ with R, WRITE with D: bytes to move; else 0 */
};

struct prismdv_allocate {
	uint32_t free_list;    /* number of the peer's free list */
	uint32_t tag;          /* with R and B: goes into the stored bounded pointer */
	struct ibv_sge result; /* gets the address, 8 bytes in host order, 0 if none; length 0: not wanted */
};

/**
 * An extended work request for ibv_post_send(); lists may mix it with standard ones. wr.opcode is one of enum
 * prismdv_wr_opcode, wr.wr.rdma names the target (not of ALLOCATE), wr.sg_list is the local data: the bytes to write
 * for WRITE and ALLOCATE (IBV_SEND_INLINE works), the room for the result of READ and CAS.
 */
struct prismdv_send_wr {
	struct ibv_send_wr wr;
	uint32_t comp_mask; /* reserved for growth, 0 */
	uint32_t flags;     /* enum prismdv_wr_flags */
	struct prismdv_aux aux;
	union {
		struct prismdv_cas cas;
		struct prismdv_allocate allocate;
	};
};

/* PRISM requests through ibv_qp_ex: between ibv_wr_start() and ibv_wr_complete() one builder, then its setters ----- */

struct prismdv_qp_ex {
	uint64_t comp_mask; /* out: bits of members added later, 0 today */
	void (*wr_read)(struct prismdv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr);
	void (*wr_write)(struct prismdv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr);
	void (*wr_cas)(struct prismdv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, const struct prismdv_cas *cas);
	void (*wr_allocate)(struct prismdv_qp_ex *qp, uint32_t free_list, uint32_t tag);
	void (*wr_set_flags)(struct prismdv_qp_ex *qp, uint32_t flags);
	void (*wr_set_aux)(struct prismdv_qp_ex *qp, uint32_t flag, uint32_t rkey, uint64_t addr, uint32_t length);
	void (*wr_set_result)(struct prismdv_qp_ex *qp, uint32_t lkey, uint64_t addr);
};

/** Returns NULL with EOPNOTSUPP unless @qp was created by prismdv_create_qp() with IBV_QP_INIT_ATTR_SEND_OPS_FLAGS. */
struct prismdv_qp_ex *prismdv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qp);

/** READ into the sges set by ibv_wr_set_sge(_list)(). */
static inline void prismdv_wr_read(struct prismdv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	qp->wr_read(qp, rkey, remote_addr);
}

/** WRITE the data set by ibv_wr_set_sge(_list)() or ibv_wr_set_inline_data(_list)(). */
static inline void prismdv_wr_write(struct prismdv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	qp->wr_write(qp, rkey, remote_addr);
}

/** Enhanced compare-and-swap; the old bytes go to the sge. */
static inline void prismdv_wr_cas(
	struct prismdv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, const struct prismdv_cas *cas)
{
	qp->wr_cas(qp, rkey, remote_addr, cas);
}

/** ALLOCATE a buffer of @free_list and write the sges or the inline data to its start. */
static inline void prismdv_wr_allocate(struct prismdv_qp_ex *qp, uint32_t free_list, uint32_t tag)
{
	qp->wr_allocate(qp, free_list, tag);
}

/** T: the target is indirect. */
static inline void prismdv_wr_set_indirect(struct prismdv_qp_ex *qp)
{
	qp->wr_set_flags(qp, PRISMDV_WR_INDIRECT);
}

/** T and B: the target is a bounded pointer. */
static inline void prismdv_wr_set_indirect_bounded(struct prismdv_qp_ex *qp)
{
	qp->wr_set_flags(qp, PRISMDV_WR_INDIRECT | PRISMDV_WR_BOUNDED);
}

/** C: run only if the previous request on this QP succeeded. */
static inline void prismdv_wr_set_conditional(struct prismdv_qp_ex *qp)
{
	qp->wr_set_flags(qp, PRISMDV_WR_CONDITIONAL);
}

/** R: store the result at @addr under @rkey; @length: of a READ the bytes to move, of an ALLOCATE 0. */
static inline void prismdv_wr_set_redirect(struct prismdv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint32_t length)
{
	qp->wr_set_aux(qp, PRISMDV_WR_REDIRECT, rkey, addr, length);
}

/** R and B on an ALLOCATE: store the bounded pointer { address, payload length, tag } at @addr under @rkey. */
static inline void prismdv_wr_set_redirect_bounded(struct prismdv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	qp->wr_set_aux(qp, PRISMDV_WR_REDIRECT | PRISMDV_WR_BOUNDED, rkey, addr, 0);
}

/** D: load the data from @addr under @rkey; @length: of a WRITE the bytes to move, of a CAS 0. */
static inline void prismdv_wr_set_data_indirect(struct prismdv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint32_t length)
{
	qp->wr_set_aux(qp, PRISMDV_WR_DATA_INDIRECT, rkey, addr, length);
}

/** ALLOCATE: store the address in 8 local bytes, as prismdv_allocate.result. */
static inline void prismdv_wr_set_result(struct prismdv_qp_ex *qp, uint32_t lkey, uint64_t addr)
{
	qp->wr_set_result(qp, lkey, addr);
}

/* Bounded pointers, used by the processor of the host that they lie on (S.4.2, S.4.4) ----------------------------- */

/** A bounded pointer, as read with B and stored with R and B: little-endian, 16-byte aligned (S.4). */
struct prismdv_bounded_ptr {
	uint64_t ptr;
	uint32_t bound; /* bytes */
	uint32_t tag;   /* of the application; the device ignores it */
};

/** Word of a bounded pointer. Both halves are stored and loaded as a device does it: each atomically, and in order. */
typedef uint64_t __attribute__((__may_alias__)) prismdv_ptr_word;

/**
 * Publishes a pointer in *@at, which must be null: never published, or retracted. Requests that fetch it from now on
 * find @bound bytes at @addr, the address as it was registered, and all that was stored before.
 */
static inline void prismdv_publish_ptr(struct prismdv_bounded_ptr *at, uint64_t addr, uint32_t bound, uint32_t tag)
{
	prismdv_ptr_word *word = (prismdv_ptr_word *)(void *)at;

	__atomic_store_n(word + 1, htole64((uint64_t)tag << 32 | bound), __ATOMIC_RELEASE);
	__atomic_store_n(word, htole64(addr), __ATOMIC_RELEASE);
}

/**
 * Sets the bound of *@at, which holds a pointer that this thread published. A request that fetches it finds the old
 * bound or the new one, and with the new one all that this thread has stored before: so the data that it points at may
 * grow.
 */
static inline void prismdv_extend_ptr(struct prismdv_bounded_ptr *at, uint32_t bound, uint32_t tag)
{
	__atomic_store_n((prismdv_ptr_word *)(void *)at + 1, htole64((uint64_t)tag << 32 | bound), __ATOMIC_RELEASE);
}

/**
 * Sets *@at to null. Requests that have fetched the pointer before continue with it: reuse the buffer only when its
 * readers say, in a later request, that they are done.
 */
static inline void prismdv_retract_ptr(struct prismdv_bounded_ptr *at)
{
	__atomic_store_n((prismdv_ptr_word *)(void *)at, (uint64_t)0, __ATOMIC_RELEASE);
}

/**
 * Loads the pointer that a device, or prismdv_publish_ptr(), has stored at @at in the place of a null pointer into
 * *@found, in host order. Returns false if there is none yet. The data that it points at has been stored as well.
 */
static inline bool prismdv_fetch_ptr(const struct prismdv_bounded_ptr *at, struct prismdv_bounded_ptr *found)
{
	const prismdv_ptr_word *word = (const prismdv_ptr_word *)(const void *)at;
	const uint64_t addr = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	const uint64_t rest = le64toh(__atomic_load_n(word + 1, __ATOMIC_ACQUIRE));

	if (!addr || __atomic_load_n(word, __ATOMIC_RELAXED) != addr)
		return false;
	found->ptr = le64toh(addr);
	found->bound = (uint32_t)rest;
	found->tag = (uint32_t)(rest >> 32);
	return true;
}

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_PRISMDV_H */
