/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The executor of the primitives over an abstract memory: docs/semantics.md S.2 - S.8.
 *
 * It holds no locks between calls, allocates nothing and takes a bounded number of steps. It accesses regions, keys and
 * queues only by struct prism_env, which the kernel module and the userspace device supply.
 */
#ifndef PRISM_EXEC_H
#define PRISM_EXEC_H

#include "prism_cas.h"
#include "prism_words.h"

/* Rights to memory; each hop needs exactly those that it names. */
#define PRISM_RIGHT_READ	0x1
#define PRISM_RIGHT_WRITE	0x2
#define PRISM_RIGHT_ATOMIC	0x4

/* A range of target memory whose key, bounds and rights have been checked. */
struct prism_span {
	void *region;		/* the environment's */
	u64 va;
	u32 length;
};

/*
 * A buffer taken from a free list. It holds no region: each access to it is checked anew, so that deregistering a
 * region never waits for a peer that has not sent the rest of its ALLOCATE.
 */
struct prism_buffer {
	u64 va;
	u32 length;
	u32 key;
	u32 free_list;
	u64 wr_id;		/* the environment's, for give_back() */
};

/* Reason for a NAK to a request */
enum prism_fault {
	PRISM_NO_FAULT,
	PRISM_FAULT_INVALID,		/* alignment after a pointer */
	PRISM_FAULT_ACCESS,		/* remote access error */
	PRISM_FAULT_FREE_LIST,		/* no such free list for this QP: a remote access error too */
};

enum prism_pop {
	PRISM_POP_OK,
	PRISM_POP_EMPTY,
	PRISM_POP_TOO_LARGE,
	PRISM_POP_NO_LIST,
};

struct prism_env {
	/*
	 * Check [va, va + length) against @rkey, the QP's PD and @rights; on success fill @span and hold the region
	 * until put(). A @length of 0 needs no valid key and is not held.
	 */
	bool (*get)(void *ctx, u32 rkey, u64 va, u32 length, u32 rights, struct prism_span *span);
	void (*put)(void *ctx, struct prism_span *span);

	/* Copies by whole words (prism_words.h), within the bounds of the span. */
	void (*load)(void *ctx, const struct prism_span *span, u32 offset, void *to, u32 length);
	void (*store)(void *ctx, const struct prism_span *span, u32 offset, const void *from, u32 length);
	void (*copy)(void *ctx, const struct prism_span *to, const struct prism_span *from, u32 length);

	/* Lock for at most one block at the start of @span + @offset; standard atomics take it as well. */
	void (*lock)(void *ctx, const struct prism_span *span, u32 offset, u32 length);
	void (*unlock)(void *ctx, const struct prism_span *span, u32 offset, u32 length);

	/* Takes the first good, allocatable entry; leaves it if it has no room for @length bytes. */
	enum prism_pop (*pop)(void *ctx, u32 free_list, u32 length, struct prism_buffer *buffer);
	/* Returns a popped buffer whose ALLOCATE will not be answered. */
	void (*give_back)(void *ctx, struct prism_buffer *buffer);
};

/* Result of a request */
struct prism_result {
	u8 fault;		/* enum prism_fault */
	u8 status;		/* enum prism_status */
	bool reads;		/* answered with data: read_length bytes at read_va */
	u32 read_length;
	u64 read_va;
	u64 value;		/* RSPETH value */
	u8 bytes[PRISM_RESULT_SIZE];
};

/* A message of several packets under way; lives in the QP. */
struct prism_message {
	bool active;
	u8 op;
	u8 flags;
	u8 status;		/* decided by the first packet */
	u32 length;
	u32 done;
	struct prism_request parameters;	/* of the first packet; its pointers are not kept */
	struct prism_buffer buffer;		/* of an ALLOCATE that got one */
};

/*
 * Executes a request of one packet. @chain_ok: the previous request of this QP succeeded. For a READ with data the
 * result describes the range to send; it has been checked, and the sender checks it again.
 */
void prism_execute(const struct prism_env *env, void *ctx, const struct prism_request *request, bool chain_ok,
		   struct prism_result *result);

/* Checks that @request may come next, by the rules of W.5 on the order of packets and the sum of their payloads. */
enum prism_reject prism_message_check(const struct prism_message *message, const struct prism_request *request);

/*
 * Executes messages of several packets, by one call for each packet in order. @message is clear before the first.
 * Returns the reason if the packet does not continue the message; @result is complete when the packet is the last.
 */
enum prism_reject prism_message_packet(const struct prism_env *env, void *ctx, struct prism_message *message,
				       const struct prism_request *request, bool chain_ok,
				       struct prism_result *result);

/* Drops an unfinished message and returns its buffer. */
void prism_message_abort(const struct prism_env *env, void *ctx, struct prism_message *message);

/* Copies that stay inside one block are atomic, others are plain. */
void prism_load(const struct prism_env *env, void *ctx, const struct prism_span *span, u32 offset, void *to,
		u32 length);
void prism_store(const struct prism_env *env, void *ctx, const struct prism_span *span, u32 offset, const void *from,
		 u32 length);

#endif /* PRISM_EXEC_H */
