/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* PRISM requests, and duplicates of all kinds: executed once, answered again (docs/semantics.md S.9). */
#include "responder.hpp"

#include <cstring>

#include "target_memory.hpp"

namespace prism::soft
{

namespace
{

prism_response to_response(const prism_result &result)
{
	prism_response response{};
	response.status = result.status;
	response.value = result.value;
	std::memcpy(response.result, result.bytes, sizeof(response.result));
	return response;
}

/** Returns true for a buffer with a message, which a process finds through the pointer stored to it. */
bool brings_message(const prism_request &request, const prism_result &result)
{
	return request.op == PRISM_ALLOCATE && (request.flags & PRISM_FLAG_R) && result.status == PRISM_STATUS_OK;
}

} // namespace

/* PRISM --------------------------------------------------------------------------------------------------------- */

bool Responder::prism_access_allowed(const prism_request &request) const
{
	static constexpr std::uint32_t by_op[] = {
		access_remote_read, access_remote_write, access_remote_atomic, access_remote_write};
	std::uint32_t access = by_op[request.op];
	if (request.flags & (PRISM_FLAG_T | PRISM_FLAG_D))
		access |= access_remote_read;
	if (request.flags & PRISM_FLAG_R)
		access |= access_remote_write;
	return access_allowed(access);
}

void Responder::execute_prism(const prism_bth &bth, Packet packet, Time now)
{
	prism_request request;
	prism_reject reject = prism_request_decode(
		packet.data(), static_cast<std::uint32_t>(packet.size()), qp_.attr.mtu, max_indirect_read, &request);
	if (!reject && !prism_access_allowed(request)) {
		refuse_by_flags(bth.psn);
		return;
	}
	if (!reject && resp_.message.active)
		reject = PRISM_BAD_FORMAT;
	const bool single = !reject && request.first && request.last && !resp_.prism.active;
	if (!reject && !single)
		reject = prism_message_check(&resp_.prism, &request);
	prism_result result; /* set by prism_execute() or prism_message_packet() */
	TargetMemory target(engine_, qp_);
	if (!reject && too_many()) {
		refuse_excess(bth.psn);
		return;
	}
	if (!reject)
		follow(bth.psn, request);
	if (single && !reject)
		prism_execute(&TargetMemory::env, target.context(), &request, resp_.chain_ok, &result);
	else if (!reject)
		reject = prism_message_packet(
			&TargetMemory::env, target.context(), &resp_.prism, &request, resp_.chain_ok, &result);
	if (reject) {
		refuse(reject, bth.psn);
		return;
	}
	if (target.faulted())
		refuse_unmapped(request, single ? target.taken() : resp_.prism.buffer, result);
	finish_prism(bth, request, result, target.resolved(), now);
}

/**
 * Refuses a request whose memory was unmapped. An ALLOCATE that would have been complete gives @p buffer back, as its
 * client will not learn of it; an incomplete one does so when the queue pair fails.
 */
void Responder::refuse_unmapped(const prism_request &request, prism_buffer buffer, prism_result &result)
{
	const bool complete = request.last && !result.fault && result.status == PRISM_STATUS_OK;
	result.fault = PRISM_FAULT_ACCESS;
	TargetMemory target(engine_, qp_);
	if (complete && request.op == PRISM_ALLOCATE)
		TargetMemory::env.give_back(target.context(), &buffer);
}

void Responder::count_result(const prism_request &request, const prism_result &result)
{
	static constexpr Counter ProtocolCounters::*by_op[] = {&ProtocolCounters::prism_reads,
		&ProtocolCounters::prism_writes, &ProtocolCounters::prism_cas, &ProtocolCounters::prism_allocates};
	ProtocolCounters &counters = engine_.counters;
	(counters.*by_op[request.op]).add();
	switch (result.status) {
	case PRISM_STATUS_CAS_MISS:
		counters.prism_cas_misses++;
		break;
	case PRISM_STATUS_NULL_POINTER:
		counters.prism_null_pointers++;
		break;
	case PRISM_STATUS_NO_BUFFER:
		counters.prism_no_buffers++;
		break;
	case PRISM_STATUS_SKIPPED:
		counters.prism_skipped++;
		break;
	default:
		break;
	}
}

/** Marks the READ that has set the chain state: a conditional request is about to use it, so that READ stays
 * successful. */
void Responder::follow(std::uint32_t psn, const prism_request &request)
{
	if (!(request.flags & PRISM_FLAG_C) || !request.first || !resp_.chain_ok)
		return;
	const std::size_t count = resp_.saved.size();
	SavedResponse &previous = resp_.saved[(resp_.next_saved + count - 1) % count];
	if (previous.valid && previous.reads && psn_add(previous.psn, previous.psns) == psn)
		previous.followed = true;
}

void Responder::resolve(SavedResponse &saved, const prism_request &request, const prism_result &result)
{
	saved.reads = true;
	saved.psns = prism_request_psns(&request, qp_.attr.mtu);
	saved.read = {++resp_.resolution, request.rkey, result.read_va, result.read_length,
		engine_.running_.epochs.hand_outs.count()};
}

/** Sends the data of a resolved READ, from @p packet on. */
void Responder::send_resolved(const SavedResponse &saved, std::uint32_t packet, Answer answer, Time now)
{
	ReadStream stream;
	stream.prism = true;
	stream.duplicate = answer != Answer::first;
	stream.resumed = answer == Answer::resumed;
	stream.read = saved.read;
	stream.offset = packet * qp_.attr.mtu;
	stream.first_psn = saved.psn;
	stream.psns = saved.psns;
	start_stream(stream, now);
}

/** Answers a request. @p data: of a READ that returns data. */
void Responder::finish_prism(
	const prism_bth &bth, const prism_request &request, const prism_result &result, std::uint8_t *data, Time now)
{
	switch (result.fault) {
	case PRISM_NO_FAULT:
		break;
	case PRISM_FAULT_INVALID:
		engine_.counters.rx_bad_alignment++;
		nak_and_fail(syndrome_invalid_request, bth.psn);
		return;
	case PRISM_FAULT_FREE_LIST:
		engine_.counters.rx_bad_free_list++;
		nak_and_fail(syndrome_access_error, bth.psn);
		return;
	default:
		refuse_by_key(bth.psn);
		return;
	}
	advance(prism_request_psns(&request, qp_.attr.mtu));
	engine_.expects_more_ = request.last && !bth.ack_req;
	engine_.answers_ += request.last;
	if (!request.last) {
		/* Lets the peer's window move; only the response completes the request. */
		acknowledge_later(bth.ack_req);
		return;
	}

	resp_.msn++;
	resp_.chain_ok = result.status == PRISM_STATUS_OK;
	count_result(request, result);
	SavedResponse &saved = save(bth.psn);
	if (!result.reads) {
		saved.response = to_response(result);
		if (brings_message(request, result) && bth.ack_req)
			answer_later(bth.psn, saved.response);
		else
			send_short(bth.psn, saved.response);
		return;
	}
	resolve(saved, request, result);
	if (saved.psns > 1 || !send_at_once(saved.read, true, bth.psn, data))
		send_resolved(saved, 0, Answer::first, now);
}

/* Duplicates ---------------------------------------------------------------------------------------------------- */

SavedResponse &Responder::save(std::uint32_t psn)
{
	PRISM_ASSERT(resp_.next_saved < resp_.saved.size());
	SavedResponse &saved = resp_.saved[resp_.next_saved];
	if (++resp_.next_saved == resp_.saved.size())
		resp_.next_saved = 0;
	saved = {};
	saved.psn = psn;
	saved.valid = true;
	return saved;
}

/** Returns the answer saved for @p psn; for a READ with data any of its PSNs will do. */
SavedResponse *Responder::find_saved(std::uint32_t psn)
{
	/* From the latest back: after a turn of the circle an old answer may have the same PSN. */
	const auto count = static_cast<std::uint32_t>(resp_.saved.size());
	for (std::uint32_t i = 1; i <= count; i++) {
		SavedResponse &saved = resp_.saved[(resp_.next_saved + count - i) % count];
		const std::int32_t at = psn_diff(psn, saved.psn);
		if (saved.valid && at >= 0 && at < static_cast<std::int32_t>(saved.psns))
			return &saved;
	}
	return nullptr;
}

void Responder::replay(const SavedResponse &saved)
{
	if (saved.atomic) {
		send_atomic_ack(saved.psn, saved.response.value);
		return;
	}
	if (saved.word) {
		send_word_ack(saved.psn);
		return;
	}
	engine_.counters.prism_replays++;
	send_short(saved.psn, saved.response);
}

void Responder::duplicate(const prism_bth &bth, Packet packet, Time now)
{
	engine_.counters.rx_duplicate++;
	const std::uint16_t flags = rc_opcode_flags(bth.opcode);
	if (flags & (op_send | op_write)) {
		/* Executed long ago; the peer missed the acknowledgement. */
		acknowledge_later(true);
		return;
	}
	if (flags & op_read) {
		if (packet.size() == bth_size + reth_size && access_allowed(access_remote_read))
			execute_read(bth, packet, now);
		else
			engine_.counters.rx_duplicate_dropped++;
		return;
	}
	if (prism_opcode_is_request(bth.opcode)) {
		duplicate_prism(bth, packet, now);
		return;
	}
	const SavedResponse *saved = flags ? find_saved(bth.psn) : nullptr;
	if (saved && (saved->atomic || saved->word))
		replay(*saved);
	else
		engine_.counters.rx_duplicate_dropped++;
}

void Responder::duplicate_prism(const prism_bth &bth, Packet packet, Time now)
{
	prism_request request;
	if (prism_request_decode(packet.data(), static_cast<std::uint32_t>(packet.size()), qp_.attr.mtu,
		    max_indirect_read, &request) != PRISM_ACCEPT ||
		!prism_access_allowed(request)) {
		engine_.counters.rx_duplicate_dropped++;
		return;
	}
	SavedResponse *saved = request.last ? find_saved(bth.psn) : nullptr;
	const bool reads = request.op == PRISM_READ && !(request.flags & PRISM_FLAG_R);
	if (!request.last) {
		/* The earlier packets of a message are answered by its last. */
		acknowledge_later(bth.ack_req);
		return;
	}
	if (!saved || saved->atomic || saved->word || (saved->reads && !reads)) {
		engine_.counters.rx_duplicate_dropped++;
		return;
	}
	if (!saved->reads) {
		replay(*saved);
		return;
	}
	repeat_read(*saved, bth, request, now);
}

/** Refuses a duplicate, without an error of this QP: the memory may rightly have gone since. */
void Responder::fail_duplicate(std::uint32_t psn)
{
	engine_.counters.rx_access_error++;
	send_ack(syndrome_access_error, psn);
}

/** Returns true if a READ may still be answered from its resolution: that memory has not been handed out since. */
bool Responder::unchanged(Resolution &read)
{
	if (!read.length)
		return true;
	const std::uint8_t *at = TargetMemory(engine_, qp_).resolve(read.rkey, read.va, read.length, PRISM_RIGHT_READ);
	return at && !engine_.running_.epochs.hand_outs.overlaps(read.handed_out, at, read.length);
}

/**
 * Continues a READ with data where its requester asks for it, as long as its resolution is the same memory. If the
 * requester has nothing of it yet, requests before it may be repeated too, and the READ must not be older than they
 * are: it is resolved again, unless a conditional request has acted on its status.
 */
void Responder::repeat_read(SavedResponse &saved, const prism_bth &bth, const prism_request &request, Time now)
{
	if (saved.psns != prism_request_psns(&request, qp_.attr.mtu)) {
		engine_.counters.rx_duplicate_dropped++;
		return;
	}
	const auto packet = static_cast<std::uint32_t>(psn_diff(bth.psn, saved.psn));
	if ((!packet && !saved.followed) || !unchanged(saved.read)) {
		resolve_again(saved, bth, request, now);
		return;
	}
	/* A packet behind the end belongs to another resolution, which does not exist here: start from the
	 * beginning. */
	send_resolved(saved, packet * qp_.attr.mtu < saved.read.length ? packet : 0, Answer::resumed, now);
}

/** Resolves and answers the whole READ again, whichever packet was asked for. It was not skipped then, so it is not
 * now. */
void Responder::resolve_again(SavedResponse &saved, const prism_bth &bth, const prism_request &request, Time now)
{
	prism_result result;
	TargetMemory target(engine_, qp_);
	prism_execute(&TargetMemory::env, target.context(), &request, true, &result);
	/* Actions that followed from the READ's success cannot be undone. */
	if (result.fault || target.faulted() || (!result.reads && saved.followed)) {
		fail_duplicate(bth.psn);
		return;
	}
	if (result.reads) {
		resolve(saved, request, result);
		send_resolved(saved, 0, Answer::resolved_again, now);
		return;
	}
	if (psn_add(saved.psn, saved.psns) == resp_.expected_psn)
		resp_.chain_ok = false;
	saved.reads = false;
	saved.response = to_response(result);
	send_short(saved.psn, saved.response);
}

} // namespace prism::soft
