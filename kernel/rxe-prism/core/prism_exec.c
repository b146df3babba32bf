// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "prism_exec.h"

/* State of one execution */
struct run {
	const struct prism_env *env;
	void *ctx;
	const struct prism_request *req;
	struct prism_result *result;
};

static bool inside_block(u64 va, u32 length)
{
	return length && va / PRISM_BLOCK == (va + length - 1) / PRISM_BLOCK;
}

void prism_load(const struct prism_env *env, void *ctx, const struct prism_span *span, u32 offset, void *to,
		u32 length)
{
	const bool atomic = inside_block(span->va + offset, length);

	if (atomic)
		env->lock(ctx, span, offset, length);
	env->load(ctx, span, offset, to, length);
	if (atomic)
		env->unlock(ctx, span, offset, length);
}

void prism_store(const struct prism_env *env, void *ctx, const struct prism_span *span, u32 offset, const void *from,
		 u32 length)
{
	const bool atomic = inside_block(span->va + offset, length);

	if (atomic)
		env->lock(ctx, span, offset, length);
	env->store(ctx, span, offset, from, length);
	if (atomic)
		env->unlock(ctx, span, offset, length);
}

static bool get(struct run *run, u32 rkey, u64 va, u32 length, u32 rights, struct prism_span *span)
{
	if (run->env->get(run->ctx, rkey, va, length, rights, span))
		return true;
	run->result->fault = PRISM_FAULT_ACCESS;
	return false;
}

static void put(struct run *run, struct prism_span *span)
{
	run->env->put(run->ctx, span);
}

/*
 * Loads a pointer while a processor, which takes no lock, may store to it. It publishes a bounded pointer in place of a
 * null pointer, bound first, and stores a null pointer before it publishes another. The words are loaded in order
 * (prism_words.h). So if the address is still the same after the bound, they belong together; else it was null in
 * between.
 */
static void load_pointer(struct run *run, const struct prism_span *span, u8 *pointer)
{
	u8 again[8];

	if (span->length == sizeof(again) || !inside_block(span->va, span->length)) {
		prism_load(run->env, run->ctx, span, 0, pointer, span->length);
		return;
	}
	run->env->lock(run->ctx, span, 0, span->length);
	run->env->load(run->ctx, span, 0, pointer, span->length);
	run->env->load(run->ctx, span, 0, again, sizeof(again));
	run->env->unlock(run->ctx, span, 0, span->length);
	if (memcmp(again, pointer, sizeof(again)))
		memset(pointer, 0, sizeof(again));
}

/*
 * Finds the target address and length of the operation. With T the target names a pointer, with B a bounded one. False
 * if there is no target: the result has the status or the fault.
 */
static bool resolve(struct run *run, u64 *va, u32 *length)
{
	const struct prism_request *req = run->req;
	const u32 size = req->flags & PRISM_FLAG_B ? 16 : 8;
	struct prism_span span;
	u8 pointer[16];
	u32 bound;

	*va = req->va;
	*length = req->length;
	if (!(req->flags & PRISM_FLAG_T))
		return true;
	if (!get(run, req->rkey, req->va, size, PRISM_RIGHT_READ, &span))
		return false;
	load_pointer(run, &span, pointer);
	put(run, &span);

	*va = get_unaligned_le64(pointer);
	if (!*va) {
		run->result->status = PRISM_STATUS_NULL_POINTER;
		return false;
	}
	if (req->flags & PRISM_FLAG_B) {
		bound = get_unaligned_le32(pointer + 8);
		if (*length > bound)
			*length = bound;
	}
	return true;
}

/* Copies between regions. Small copies go through a buffer so that each side is atomic within its block. */
static void copy(struct run *run, const struct prism_span *to, const struct prism_span *from, u32 length)
{
	u8 block[PRISM_BLOCK];

	if (length > PRISM_BLOCK) {
		run->env->copy(run->ctx, to, from, length);
		return;
	}
	prism_load(run->env, run->ctx, from, 0, block, length);
	prism_store(run->env, run->ctx, to, 0, block, length);
}

/* Moves @length bytes from one checked range to another: a READ with R, a WRITE with D. */
static void move(struct run *run, u32 to_rkey, u64 to_va, u32 from_rkey, u64 from_va, u32 length)
{
	struct prism_span from, to;

	if (!get(run, from_rkey, from_va, length, PRISM_RIGHT_READ, &from))
		return;
	if (get(run, to_rkey, to_va, length, PRISM_RIGHT_WRITE, &to)) {
		copy(run, &to, &from, length);
		put(run, &to);
		run->result->value = length;
	}
	put(run, &from);
}

static void execute_read(struct run *run)
{
	const struct prism_request *req = run->req;
	struct prism_span span;
	u32 length;
	u64 va;

	if (!resolve(run, &va, &length))
		return;
	if (req->flags & PRISM_FLAG_R) {
		move(run, req->aux_rkey, req->aux_va, req->rkey, va, length);
		return;
	}
	if (!get(run, req->rkey, va, length, PRISM_RIGHT_READ, &span))
		return;
	put(run, &span);
	run->result->reads = true;
	run->result->read_va = va;
	run->result->read_length = length;
}

static void execute_write(struct run *run)
{
	const struct prism_request *req = run->req;
	struct prism_span span;
	u32 length;
	u64 va;

	if (!resolve(run, &va, &length))
		return;
	if (req->flags & PRISM_FLAG_D) {
		move(run, req->rkey, va, req->aux_rkey, req->aux_va, length);
		return;
	}
	if (!get(run, req->rkey, va, length, PRISM_RIGHT_WRITE, &span))
		return;
	prism_store(run->env, run->ctx, &span, 0, req->payload, length);
	put(run, &span);
	run->result->value = length;
}

static bool load_data(struct run *run, u8 *data, u32 length)
{
	const struct prism_request *req = run->req;
	struct prism_span aux;

	if (!get(run, req->aux_rkey, req->aux_va, length, PRISM_RIGHT_READ, &aux))
		return false;
	prism_load(run->env, run->ctx, &aux, 0, data, length);
	put(run, &aux);
	return true;
}

/* Compares and swaps within one block, so that one lock covers all of it. */
static bool swap_in_place(struct run *run, const struct prism_cas *cas, const struct prism_span *span, u8 *old)
{
	u8 new[PRISM_MAX_CAS];
	bool holds;

	run->env->lock(run->ctx, span, 0, cas->size);
	run->env->load(run->ctx, span, 0, old, cas->size);
	holds = prism_cas_holds(cas, old);
	if (holds) {
		memcpy(new, old, cas->size);
		prism_cas_swap(cas, new);
		run->env->store(run->ctx, span, 0, new, cas->size);
	}
	run->env->unlock(run->ctx, span, 0, cas->size);
	return holds;
}

static void execute_cas(struct run *run)
{
	const struct prism_request *req = run->req;
	const u32 n = req->cas_size;
	struct prism_cas cas = {
		.mode = req->cas_mode,
		.size = req->cas_size,
		.compare = req->operands,
		.swap = req->operands + n,
		.compare_mask = req->operands + 2 * n,
		.swap_mask = req->operands + 3 * n,
	};
	u8 data[PRISM_MAX_CAS];
	struct prism_span span;
	u32 length;
	u64 va;

	if (!resolve(run, &va, &length))
		return;
	if (va & (n - 1)) {
		run->result->fault = PRISM_FAULT_INVALID;
		return;
	}
	if (req->flags & PRISM_FLAG_D) {
		if (!load_data(run, data, n))
			return;
		cas.swap = data;
		if (req->cas_flags & PRISM_CAS_COMPARE_DATA)
			cas.compare = data;
	}
	if (!get(run, req->rkey, va, n, PRISM_RIGHT_ATOMIC, &span))
		return;
	if (!swap_in_place(run, &cas, &span, run->result->bytes))
		run->result->status = PRISM_STATUS_CAS_MISS;
	put(run, &span);
}

/* Stores the address of an ALLOCATE with R where a later request of the chain finds it. */
static void store_pointer(struct run *run, const struct prism_span *aux)
{
	const struct prism_request *req = run->req;
	u8 pointer[16];

	put_unaligned_le64(run->result->value, pointer);
	put_unaligned_le32(req->length, pointer + 8);
	put_unaligned_le32(req->tag, pointer + 12);
	prism_store(run->env, run->ctx, aux, 0, pointer, aux->length);
}

static bool get_redirect(struct run *run, struct prism_span *aux)
{
	const struct prism_request *req = run->req;

	if (!(req->flags & PRISM_FLAG_R)) {
		aux->region = NULL;
		aux->length = 0;
		return true;
	}
	return get(run, req->aux_rkey, req->aux_va, req->flags & PRISM_FLAG_B ? 16 : 8, PRISM_RIGHT_WRITE, aux);
}

static bool pop(struct run *run, struct prism_buffer *buffer)
{
	switch (run->env->pop(run->ctx, run->req->free_list, run->req->length, buffer)) {
	case PRISM_POP_OK:
		return true;
	case PRISM_POP_EMPTY:
	case PRISM_POP_TOO_LARGE:
		run->result->status = PRISM_STATUS_NO_BUFFER;
		return false;
	default:
		run->result->fault = PRISM_FAULT_FREE_LIST;
		return false;
	}
}

/* Checks the aux range before a buffer is taken, so that a fault costs none. */
static bool begin_allocate(struct run *run, struct prism_buffer *buffer, struct prism_span *aux)
{
	if (!get_redirect(run, aux))
		return false;
	if (pop(run, buffer))
		return true;
	put(run, aux);
	return false;
}

static void finish_allocate(struct run *run, const struct prism_buffer *buffer, struct prism_span *aux)
{
	run->result->value = buffer->va;
	if (run->req->flags & PRISM_FLAG_R)
		store_pointer(run, aux);
	put(run, aux);
}

/* Writes the payload of one packet to a range, which is checked for this packet alone */
static bool write_payload(struct run *run, u32 rkey, u64 va)
{
	const struct prism_request *req = run->req;
	struct prism_span span;

	if (!get(run, rkey, va, req->payload_length, PRISM_RIGHT_WRITE, &span))
		return false;
	prism_store(run->env, run->ctx, &span, 0, req->payload, req->payload_length);
	put(run, &span);
	return true;
}

static void execute_allocate(struct run *run)
{
	struct prism_buffer buffer;
	struct prism_span aux;

	if (!begin_allocate(run, &buffer, &aux))
		return;
	if (write_payload(run, buffer.key, buffer.va)) {
		finish_allocate(run, &buffer, &aux);
		return;
	}
	put(run, &aux);
	run->env->give_back(run->ctx, &buffer);
}

static bool skipped(const struct prism_request *req, bool chain_ok)
{
	return (req->flags & PRISM_FLAG_C) && !chain_ok;
}

void prism_execute(const struct prism_env *env, void *ctx, const struct prism_request *req, bool chain_ok,
		   struct prism_result *result)
{
	struct run run = { env, ctx, req, result };

	memset(result, 0, sizeof(*result));
	if (skipped(req, chain_ok)) {
		result->status = PRISM_STATUS_SKIPPED;
		return;
	}
	switch (req->op) {
	case PRISM_READ:
		execute_read(&run);
		break;
	case PRISM_WRITE:
		execute_write(&run);
		break;
	case PRISM_CAS:
		execute_cas(&run);
		break;
	default:
		execute_allocate(&run);
		break;
	}
}

static void begin_message(struct run *run, struct prism_message *msg, bool chain_ok)
{
	const struct prism_request *req = run->req;
	struct prism_span span;

	memset(msg, 0, sizeof(*msg));
	msg->active = true;
	msg->op = req->op;
	msg->flags = req->flags;
	msg->length = req->length;
	msg->parameters = *req;
	if (skipped(req, chain_ok)) {
		run->result->status = PRISM_STATUS_SKIPPED;
	} else if (req->op == PRISM_WRITE) {
		/*
		 * Check all of the target before any of it is written; each packet's part is checked again when it is
		 * written.
		 */
		if (get(run, req->rkey, req->va, req->length, PRISM_RIGHT_WRITE, &span))
			put(run, &span);
	} else if (begin_allocate(run, &msg->buffer, &span)) {
		/* Only the buffer is kept between packets; aux is checked again when it is written. */
		put(run, &span);
	}
	msg->status = run->result->status;
}

static void store_payload(struct run *run, struct prism_message *msg)
{
	if (msg->status != PRISM_STATUS_OK)
		return;
	if (msg->op == PRISM_ALLOCATE)
		write_payload(run, msg->buffer.key, msg->buffer.va + msg->done);
	else
		write_payload(run, msg->parameters.rkey, msg->parameters.va + msg->done);
}

static void finish_message(struct run *run, struct prism_message *msg)
{
	struct prism_span aux;

	run->result->status = msg->status;
	if (msg->status == PRISM_STATUS_OK) {
		run->result->value = msg->length;
		run->req = &msg->parameters;
		if (msg->op == PRISM_ALLOCATE) {
			if (!get_redirect(run, &aux))
				return;
			finish_allocate(run, &msg->buffer, &aux);
		}
	}
	msg->active = false;
}

enum prism_reject prism_message_check(const struct prism_message *msg, const struct prism_request *req)
{
	const u32 total = req->first ? req->length : msg->length;
	const u64 done = (req->first ? 0 : (u64)msg->done) + req->payload_length;

	if (req->first == msg->active)
		return PRISM_BAD_FORMAT;
	if (!req->first) {
		if (req->op != msg->op)
			return PRISM_BAD_FORMAT;
		if (req->flags != msg->flags)
			return PRISM_BAD_FLAGS;
	}
	return done > total || (req->last && done != total) ? PRISM_BAD_FORMAT : PRISM_ACCEPT;
}

enum prism_reject prism_message_packet(const struct prism_env *env, void *ctx, struct prism_message *msg,
				       const struct prism_request *req, bool chain_ok,
				       struct prism_result *result)
{
	const enum prism_reject reject = prism_message_check(msg, req);
	struct run run = { env, ctx, req, result };

	memset(result, 0, sizeof(*result));
	if (reject)
		return reject;
	if (req->first)
		begin_message(&run, msg, chain_ok);
	if (result->fault) {
		msg->active = false;
		return PRISM_ACCEPT;
	}
	store_payload(&run, msg);
	msg->done += req->payload_length;
	if (!result->fault && req->last)
		finish_message(&run, msg);
	return PRISM_ACCEPT;
}

void prism_message_abort(const struct prism_env *env, void *ctx, struct prism_message *msg)
{
	if (msg->active && msg->op == PRISM_ALLOCATE && msg->status == PRISM_STATUS_OK)
		env->give_back(ctx, &msg->buffer);
	msg->active = false;
}
