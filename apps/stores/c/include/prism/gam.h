/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * <prism/gam.h>: a node of GAM, memory with one address space over many nodes.
 *
 * docs/prism-gam.md defines the memory model and says what the memory is not: it is not replicated, and its nodes trust
 * each other. An address is a number, the same on all nodes; 0 is none, and the upper 16 bits are the number of the
 * node that the memory belongs to, its home. Blocks of 512 bytes are the unit of caching and of locks: an access inside
 * one block is atomic, a longer one consists of several, in the order of their addresses.
 *
 * <prism/store.h> has the conventions of errors, threads and memory, of which these differ:
 *
 *   - A node may be used by several threads at once. A session may not: each thread has its own. Locks belong to the
 *     session.
 *   - Calls of a session wait as long as it takes: for a lock, until its holder gives it back. The death of a node ends
 *     what waits for it.
 *   - A read, a write or an unlock of several blocks that fails may have been done in part. There is no -EINPROGRESS.
 *
 * Manual pages: prism_gam_join(3), prism_gam_session(3), prism_gam_malloc(3), prism_gam_read(3), prism_gam_lock(3),
 * prism_gam_put(3).
 */
#ifndef PRISM_GAM_H
#define PRISM_GAM_H

#include <prism/store.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A node: this process's membership, the memory that it lends, and its cache. */
struct prism_gam;

/** One thread's use of a node. */
struct prism_gam_session;

/** The protocol of the caches; all nodes have the same. */
enum prism_gam_protocol {
	PRISM_GAM_DIRECTORY,
	PRISM_GAM_LATCH,
};

/** The reorderings of a thread's accesses that others may see. */
enum prism_gam_consistency {
	PRISM_GAM_PSO, /**< a write ends later: accesses to other blocks may overtake it */
	PRISM_GAM_TSO, /**< reads may overtake a write, writes may not */
	PRISM_GAM_SC,  /**< prism_gam_write() waits until all nodes see it */
};

/** Options of a node that joins. Zeros stand for the defaults. */
struct prism_gam_options {
	size_t size;          /**< sizeof(struct prism_gam_options): later versions of the library append fields */
	const char *device;   /**< name of the RDMA device; NULL: the first userspace device */
	const char *address;  /**< address at which the other nodes reach this one; NULL: "127.0.0.1" */
	uint64_t memory;      /**< bytes to lend to all, a multiple of 512; 0: 64 MiB */
	uint64_t cache;       /**< bytes of other nodes' blocks to keep; 0: 15% of the memory */
	uint32_t timeout_ms;  /**< milliseconds for joining, and for reaching all nodes; 0: 10000 */
	uint32_t protocol;    /**< enum prism_gam_protocol */
	uint32_t consistency; /**< enum prism_gam_consistency */
	uint32_t port;        /**< TCP port on which the other nodes reach this one; 0: any */
};

/**
 * Joins the memory of @master: HOST:PORT of prism-gam-master, the port being 18660 if none is given, or
 * etcd://HOST:PORT/KEY. The first node founds it. When this returns 0, all nodes can reach this one. @options may be
 * NULL. *@node must be passed to prism_gam_leave(); it is NULL after a failure.
 *
 * Returns 0, -EINVAL, -ENODEV (no such device), -ETIMEDOUT, -ECONNREFUSED (the master or a node does not answer),
 * -EPROTONOSUPPORT (the nodes speak another protocol), -EUSERS (there are 64 nodes), -EBUSY (likewise, and one
 * of them is dead), -ENOMEM, and errors of the device.
 */
int prism_gam_join(struct prism_gam **node, const char *master, const struct prism_gam_options *options);

/**
 * Writes back blocks of other nodes, leaves, and frees @node, which may be NULL. Data of the other nodes in this one's
 * memory is lost. No thread may use the node any more.
 *
 * Returns 0, -EBUSY (a session has not ended: the node stays), -ESTALE (the others believed before that it had crashed;
 * it is freed). It is no failure if the master does not answer within a second or two: what belongs to others is with
 * them, and they hear that the node has gone when its lease is over.
 */
int prism_gam_leave(struct prism_gam *node);

/**
 * Returns the number of @node, from 0 to 63: its home addresses begin at (uint64_t)number << 48. -EINVAL if it is NULL.
 */
int prism_gam_number(const struct prism_gam *node);

/*
 * A directory of names, by which nodes find data in the memory. The master keeps it. Both return -EINVAL, -ESTALE (the
 * others believe that this node is dead), and -ETIMEDOUT or -ECONNREFUSED if the master does not answer.
 */

/** Stores @value, at most 4096 bytes, under @key, 1 to 128 bytes. -ENOSPC: the master keeps no more. */
int prism_gam_put(struct prism_gam *node, const char *key, const void *value, size_t value_size);

/**
 * Waits at most @timeout_ms milliseconds until a node has put @key; for a master that does not answer, at least 100.
 * *@value_size: the room at @value in bytes; the value's size afterwards. If that is larger than the room, the beginning
 * of the value is there and the result is -EMSGSIZE. -ETIMEDOUT: no node has put it, or the master does not answer.
 */
int prism_gam_get(struct prism_gam *node, const char *key, void *value, size_t *value_size, uint32_t timeout_ms);

/**
 * Begins a session, which prism_gam_session_end() ends. Returns 0, -EINVAL, -ENOMEM; after a failure *@session is NULL.
 */
int prism_gam_session_begin(struct prism_gam *node, struct prism_gam_session **session);

/** Waits for the writes of @session, which may be NULL, releases its locks, and ends it. */
void prism_gam_session_end(struct prism_gam_session *session);

/*
 * Calls of a session. Besides the listed errors, each may return -EINVAL (an argument is wrong, or the address is 0 or
 * leads beyond all memory), -EFAULT (nothing is allocated at the address), -EHOSTUNREACH (its home is gone),
 * -EOWNERDEAD (the block's last value died with a node), -EPROTO (another node has damaged the home's record of the
 * block), -ENOBUFS (no room in the cache can be freed), -ENOMEM (this node or the home has no memory to work with) and
 * -ESTALE (the others believe that this node is dead).
 */

/** The node that prism_gam_malloc() takes memory from. */
enum prism_gam_place {
	PRISM_GAM_LOCAL,  /**< this node */
	PRISM_GAM_REMOTE, /**< the other node with most free memory; -EHOSTUNREACH if there is none */
	PRISM_GAM_RANDOM, /**< any node */
	PRISM_GAM_NEAR,   /**< the home of the address `near` */
};

/** Zeros stand for the defaults. */
struct prism_gam_placement {
	uint32_t place;     /**< enum prism_gam_place */
	uint32_t alignment; /**< alignment of the address: a power of two; 0: 16 */
	uint64_t near;      /**< for PRISM_GAM_NEAR; (uint64_t)number << 48 stands for the node with that number */
};

/**
 * Allocates at least @bytes, zeroed. Up to 512 bytes lie in one block. @where may be NULL: this node. *@address is 0
 * after a failure. -ENOMEM: the home has no such piece, or only in locked blocks.
 */
int prism_gam_malloc(
	struct prism_gam_session *session, size_t bytes, const struct prism_gam_placement *where, uint64_t *address);

/** Frees memory of prism_gam_malloc(), on any node. Fences. -EINVAL: no allocated piece begins there. */
int prism_gam_free(struct prism_gam_session *session, uint64_t address);

/** Copies @size bytes at @from to @into. */
int prism_gam_read(struct prism_gam_session *session, uint64_t from, void *into, size_t size);

/**
 * Copies @size bytes at @bytes, and writes them to @to, at the latest at the next prism_gam_mfence(). That call returns
 * errors that are found later, once; so does the next lock, unlock, atomic or free.
 */
int prism_gam_write(struct prism_gam_session *session, uint64_t to, const void *bytes, size_t size);

/** Waits until all writes of the session are performed: no node can read the old values any more. */
int prism_gam_mfence(struct prism_gam_session *session);

/** The functions of prism_gam_atomic(). */
enum prism_gam_function {
	PRISM_GAM_ADD,
	PRISM_GAM_SWAP,
	PRISM_GAM_COMPARE_SWAP, /**< if the number there is `compare` */
	PRISM_GAM_AND,
	PRISM_GAM_OR,
};

/**
 * Replaces the number of @size bytes (1, 2, 4 or 8) at @at, which is aligned to that, by @function of it and @operand.
 * Numbers are little-endian. *@old is the old number; @old may be NULL. Fences first. @compare: for
 * PRISM_GAM_COMPARE_SWAP.
 */
int prism_gam_atomic(struct prism_gam_session *session, uint64_t at, size_t size, uint32_t function, uint64_t operand,
	uint64_t compare, uint64_t *old);

/*
 * Lock all blocks that the @size bytes at @at are in, for reading (shared) or for writing, in the order of their
 * addresses: threads that lock several ranges must agree on an order. Objects in one block share its lock. Others'
 * reads, writes and atomics that conflict with a lock wait for the unlock. All fence first. -EDEADLK: the session
 * already holds one of them; -E2BIG: more than 65,536 blocks. Nothing is locked then.
 */

int prism_gam_rlock(struct prism_gam_session *session, uint64_t at, size_t size);
int prism_gam_wlock(struct prism_gam_session *session, uint64_t at, size_t size);

/** Lock likewise, without waiting for another holder: -EBUSY. */
int prism_gam_try_rlock(struct prism_gam_session *session, uint64_t at, size_t size);
int prism_gam_try_wlock(struct prism_gam_session *session, uint64_t at, size_t size);

/** Fences, and releases the locks. -EPERM: the session does not hold one of them; the others are released. */
int prism_gam_unlock(struct prism_gam_session *session, uint64_t at, size_t size);

#ifdef __cplusplus
}
#endif

#endif
