/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * <prism/kv.h>: clients of PRISM-KV, a key-value store in the memory of its servers.
 *
 * docs/prism-kv.md defines what the operations do, and says what the store is not: it is volatile and not replicated,
 * and it trusts its clients. Operations on one key are linearizable. <prism/store.h> has the conventions of errors,
 * threads and memory. Manual pages: prism_kv_open(3), prism_kv_get(3), prism_kv_submit(3).
 */
#ifndef PRISM_KV_H
#define PRISM_KV_H

#include <prism/store.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A client of one store: a connection to each of its servers. */
struct prism_kv;

/** Options for opening a store. Zeros stand for the defaults. */
struct prism_kv_options {
	size_t size;             /**< sizeof(struct prism_kv_options): later versions of the library append fields */
	const char *device;      /**< name of the RDMA device; NULL: the first userspace device */
	uint32_t timeout_ms;     /**< milliseconds that prism_kv_open(), and each call that waits, may take; 0: 5000 */
	uint32_t patience_ms;    /**< milliseconds that operations wait while the connection is lost; 0: 1000 */
	uint32_t depth;          /**< operations under way at once on each server, 1 to 4096; 0: 16 */
	uint32_t max_value_size; /**< bytes of the longest value that is put and got; a longer one cannot be got
				  * (-EMSGSIZE); 0: the servers' limit */
};

/**
 * Opens the store of @servers: "HOST", "HOST:PORT" or "[IPv6]:PORT", the port being 18620 if none is given; several
 * servers, separated by commas, are the shards of one store, in the order of their numbers. @options may be NULL.
 * *@store is to be closed by prism_kv_close(), and NULL after a failure. Takes memory for @depth objects of the longest
 * value: lower one of the two if that is too much.
 *
 * If one of several servers does not answer this is no error: operations on its keys fail until it does.
 *
 * 0, -EINVAL, -ENODEV (no such device), -EOPNOTSUPP (the device does not speak PRISM), -ETIMEDOUT, -ECONNREFUSED,
 * -EHOSTUNREACH (no server answers), -EPROTONOSUPPORT (a server of another kind, another store or another number),
 * -EMFILE (a server has all the clients that it takes, or the process has no descriptors left), -ENOMEM.
 */
int prism_kv_open(struct prism_kv **store, const char *servers, const struct prism_kv_options *options);

/**
 * Closes @store, which may be NULL. No thread may use it any more. Operations that were submitted and have not come
 * back are the caller's again: each is done once or not at all.
 */
void prism_kv_close(struct prism_kv *store);

/** Return the bytes of the longest key and value that the store takes; 0 if @store is NULL. */
size_t prism_kv_max_key_size(struct prism_kv *store);
size_t prism_kv_max_value_size(struct prism_kv *store);

/*
 * Calls that wait. Each takes timeout_ms at most. Besides what is listed, each may return -EINVAL (the key is empty, or
 * the key or the value is too long), -ENOTCONN (there has been no connection to the key's server for patience_ms),
 * -ETIMEDOUT, -EBADMSG (the key's slot or object is damaged), -EBUSY (other clients keep interfering), -ENOMEM; those
 * that change something -EINPROGRESS, if the connection was lost or the time was up when the operation was under way.
 */

/**
 * Gets the value of @key. *@value_size: the room at @value in bytes, which may be 0; the value's size afterwards. If
 * that is larger than the room, the beginning of the value is there and the result is -EMSGSIZE. @version may be NULL;
 * otherwise *@version is the value's version, which is never 0, and 0 if there is no such key. -ENOENT: no such key.
 */
int prism_kv_get(
	struct prism_kv *store, const void *key, size_t key_size, void *value, size_t *value_size, uint64_t *version);

/** Puts @value, whether the key exists or not. -ENOSPC: the store has no slot or no buffer for it. */
int prism_kv_put(struct prism_kv *store, const void *key, size_t key_size, const void *value, size_t value_size);

/**
 * Puts @value if the key's version is still @version, or, if @version is 0, if there is no such key. At most one of
 * several concurrent calls that expect the same version succeeds. It reads the version first: -ETIMEDOUT and -ENOTCONN
 * mean, as always, that nothing was done. -ESTALE: the version is another; -ENOENT: there is no such key any more;
 * -EEXIST: @version is 0, and there is such a key; -ENOSPC.
 */
int prism_kv_put_if(struct prism_kv *store, const void *key, size_t key_size, const void *value, size_t value_size,
	uint64_t version);

/** Removes the key. -ENOENT: no such key. */
int prism_kv_remove(struct prism_kv *store, const void *key, size_t key_size);

/** Removes the key if its version is still @version. -ESTALE: it is another; -ENOENT: no such key. */
int prism_kv_remove_if(struct prism_kv *store, const void *key, size_t key_size, uint64_t version);

/* Operations that one thread submits, many at once */

enum prism_kv_kind {
	PRISM_KV_GET,
	PRISM_KV_PUT,
	PRISM_KV_REMOVE,
};

/**
 * An operation. From prism_kv_submit() until prism_kv_poll() returns it, it and the memory that it points at belong to
 * the library.
 */
struct prism_kv_operation {
	uint32_t kind;  /**< enum prism_kv_kind */
	int32_t result; /**< afterwards: the result that the waiting call would have returned */
	const void *key;
	size_t key_size;
	void *value;       /**< GET: room for the value; PUT: the value, which is not changed; may be NULL if empty */
	size_t value_size; /**< PUT: its size; GET: the room, and afterwards the value's size */
	void *cookie;      /**< the caller's */
};

/**
 * Begins @operation. Operations on one key that are under way at once take effect in any order. 0, -EAGAIN (as many as
 * depth are under way: poll), -EINVAL and -ENOTCONN as above; then the operation stays the caller's.
 */
int prism_kv_submit(struct prism_kv *store, struct prism_kv_operation *operation);

/**
 * Stores in @ended operations that have ended, at most @max, and waits at most @timeout_ms milliseconds for the first
 * one. Returns their number: 0 if none has ended in that time, or none is under way. Operations that have not ended in
 * time go on; they end by themselves when their connection is lost. -EINVAL.
 */
int prism_kv_poll(struct prism_kv *store, struct prism_kv_operation **ended, unsigned int max, uint32_t timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
