/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * <prism/tx.h>: clients of PRISM-TX, a store with transactions in the memory of its servers.
 *
 * docs/prism-tx.md defines what transactions guarantee, and says what the store is not: it is volatile and not
 * replicated, and it trusts its clients. Transactions are strictly serializable. <prism/store.h> has the conventions of
 * errors, threads and memory. Manual pages: prism_tx_open(3), prism_tx_begin(3), prism_tx_run(3).
 */
#ifndef PRISM_TX_H
#define PRISM_TX_H

#include <prism/store.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A client of one store: a connection to each of its shards. */
struct prism_tx;

/** A transaction that has begun. One thread at a time. */
struct prism_tx_transaction;

/** Options for opening a store. Zeros stand for the defaults. */
struct prism_tx_options {
	size_t size;         /**< sizeof(struct prism_tx_options): later versions of the library append fields */
	const char *device;  /**< name of the RDMA device; NULL: the first userspace device */
	uint32_t timeout_ms; /**< milliseconds that prism_tx_open(), and each call that waits, may take; 0: 5000 */
	uint32_t depth;      /**< transactions under way at once, fewer than the servers' --lanes; 0: 16 */
};

/**
 * Opens the store of @shards: "HOST:PORT" of all of its servers, separated by commas, in the order of their numbers;
 * the port of the first is 18620 if none is given, that of the next one 18621, and so on. @options may be NULL. *@store
 * is to be closed by prism_tx_close(), and NULL after a failure. A server whose address refuses connections is gone:
 * the store is opened without it, if it is not the first one, and transactions that need its keys fail with
 * -EHOSTUNREACH.
 *
 * 0, -EINVAL, -ENODEV (no such device), -EOPNOTSUPP (the device does not speak PRISM), -ETIMEDOUT, -EHOSTUNREACH (a
 * server does not answer), -ECONNREFUSED (the first one is gone), -EPROTONOSUPPORT (a server of another kind, or not
 * the shard that it is to be), -ESTALE (a server has lost its memory: see prism-tx(1), adopt), -EMFILE (the store has
 * all the clients that it takes, or the process has no descriptors left), -ENOMEM.
 */
int prism_tx_open(struct prism_tx **store, const char *shards, const struct prism_tx_options *options);

/**
 * Closes @store, which may be NULL. No thread may use it any more. Transactions that have not ended are aborted, and
 * their pointers are invalid.
 */
void prism_tx_close(struct prism_tx *store);

/**
 * Return the bytes of the longest key and value that the store takes; 0 if @store is NULL. Keys of a numbered store
 * (prism-tx-server --numbered) are numbers: 8 bytes, the lowest first.
 */
size_t prism_tx_max_key_size(struct prism_tx *store);
size_t prism_tx_max_value_size(struct prism_tx *store);

/**
 * Begins a transaction, which ends with prism_tx_commit() or prism_tx_abort(). It holds no locks: it may wait for
 * people, but the longer it takes, the likelier its commit meets a conflict. 0, -EINVAL, -EBUSY (as many as depth have
 * not ended), -ETIMEDOUT (the one before in its place has not ended its work), -ENOMEM.
 */
int prism_tx_begin(struct prism_tx *store, struct prism_tx_transaction **transaction);

/*
 * Reads and changes in a transaction. Besides what is listed, each may return -EINVAL (the key or the value is not one
 * of this store; the transaction goes on), -EAGAIN (the transaction cannot commit any more, because others have changed
 * what it has read: abort it, and begin again), -E2BIG (it has more than 64 keys), -EHOSTUNREACH (the key's server is
 * gone, or is being stopped), -ETIMEDOUT, -ENOMEM. After an error other than -EINVAL, -ENOENT and -EMSGSIZE a
 * transaction can only be aborted; its commit returns that error again.
 */

struct prism_tx_key {
	const void *data;
	size_t size; /**< in bytes */
};

/** Reads @count keys at once, in the time of one; prism_tx_read() of these does not wait then. */
int prism_tx_fetch(struct prism_tx_transaction *transaction, const struct prism_tx_key *keys, size_t count);

/**
 * Reads the value of @key as this transaction has it: with its own changes, and otherwise as a committed transaction
 * has left it. Only a commit that succeeds proves that the values of several keys belong together. *@value_size: the
 * room at
 * @value in bytes, which may be 0; the value's size afterwards. If that is larger than the room, the beginning of the
 * value is there and the result is -EMSGSIZE. -ENOENT: no such key.
 */
int prism_tx_read(
	struct prism_tx_transaction *transaction, const void *key, size_t key_size, void *value, size_t *value_size);

/** Writes @value, at the commit. Does not wait. */
int prism_tx_write(struct prism_tx_transaction *transaction, const void *key, size_t key_size, const void *value,
	size_t value_size);

/** Removes the key, at the commit, whether it is there or not. Does not wait. */
int prism_tx_remove(struct prism_tx_transaction *transaction, const void *key, size_t key_size);

/**
 * Makes all changes of @transaction, or none. The transaction has ended, and its pointer is invalid, whatever is
 * returned. 0: committed. -EAGAIN: nothing was changed, because of a conflict with another transaction: begin again.
 * -EINPROGRESS: see <prism/store.h>. -ENOBUFS, -ENOSPC (the store has no buffer left, or none that is large enough),
 * -EHOSTUNREACH (a server is gone, or is being stopped), and what an earlier call has returned: nothing was changed.
 */
int prism_tx_commit(struct prism_tx_transaction *transaction);

/** Ends @transaction, which may be NULL, without a change. */
void prism_tx_abort(struct prism_tx_transaction *transaction);

/**
 * The body of a transaction of prism_tx_run(): it reads and changes, and returns 0 to commit. -EAGAIN: run it again.
 * Any other value: abort. It may run several times, so it begins from nothing each time; it may see values that do not
 * belong together, and must end all the same. It must not commit or abort @transaction, throw exceptions or leave by
 * longjmp().
 */
typedef int (*prism_tx_body)(struct prism_tx_transaction *transaction, void *argument);

/**
 * Runs @body as a transaction, again after each conflict, with pauses in between: at most @attempts times, or, if that
 * is 0, as often as timeout_ms has room for. Unless @attempts is 1, it runs again too if a connection was lost before
 * the commit was decided, and has come back. What was read and is unchanged is not read again. Returns as
 * prism_tx_commit(), or the value for which @body has aborted.
 */
int prism_tx_run(struct prism_tx *store, prism_tx_body body, void *argument, unsigned int attempts);

#ifdef __cplusplus
}
#endif

#endif
