/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "responder.hpp"

#include <algorithm>
#include <cstring>

#include "target_memory.hpp"

namespace prism::soft {

namespace {

/*
 * Pacing of READ responses (docs/semantics.md S.9): a burst fits the smallest socket buffer that a peer may have, the
 * interval lets a busy receiver drain it. It doubles when the peer asks again, as that means loss, and shrinks slowly.
 */
constexpr std::uint32_t burst_bytes = 64 << 10;
constexpr std::uint32_t first_burst_bytes = 128 << 10;
constexpr Time min_interval = 15'000;
constexpr Time max_interval = 4'000'000;

/** Requests that arrive while a stream is under way wait in line; beyond this they are dropped, to be sent again. */
constexpr std::size_t max_held_bytes = 256 << 10;

std::uint32_t needed_access(std::uint16_t flags)
{
	if (flags & op_write)
		return access_remote_write;
	if (flags & op_read)
		return access_remote_read;
	return flags & op_atomic ? access_remote_atomic : 0u;
}

bool takes_slot(std::uint8_t opcode)
{
	return prism_opcode_is_request(opcode) || (rc_opcode_flags(opcode) & (op_read | op_atomic));
}

prism_response to_response(const prism_result &result)
{
	prism_response response{};
	response.status = result.status;
	response.value = result.value;
	std::memcpy(response.result, result.bytes, sizeof(response.result));
	return response;
}

} // namespace

/* Sending ------------------------------------------------------------------------------------------------------- */

std::uint8_t *Responder::begin_response(std::uint8_t opcode, std::uint32_t psn, std::uint32_t size, std::uint32_t pad)
{
	std::uint8_t *packet = engine_.sink_.begin(qp_.attr.peer, size);
	prism_bth bth{};
	bth.opcode = opcode;
	bth.pad = static_cast<u8>(pad);
	bth.qpn = qp_.attr.dest_qpn;
	bth.psn = psn;
	prism_bth_encode(packet, &bth);
	std::memset(packet + size - pad, 0, pad);
	return packet;
}

void Responder::send_ack(std::uint8_t syndrome, std::uint32_t psn)
{
	std::uint8_t *packet = begin_response(rc_acknowledge, psn, bth_size + aeth_size);
	prism_aeth_encode(packet + bth_size, syndrome, resp_.msn);
	engine_.sink_.commit();
	resp_.ack_pending = false;
	if ((syndrome & syndrome_class_mask) == syndrome_class_nak)
		engine_.counters.tx_nak++;
	else if ((syndrome & syndrome_class_mask) == syndrome_rnr)
		engine_.counters.tx_rnr_nak++;
}

void Responder::send_pending_ack()
{
	if (resp_.ack_pending && qp_.state != IBV_QPS_ERR)
		send_ack(syndrome_ack, psn_add(resp_.expected_psn, PRISM_PSN_MASK));
}

void Responder::acknowledge_later(bool wanted)
{
	if (!wanted)
		return;
	resp_.ack_pending = true;
	engine_.mark_dirty(qp_);
}

void Responder::send_short(std::uint32_t psn, const prism_response &response)
{
	/* A response acknowledges what came before it. */
	resp_.ack_pending = false;
	std::uint8_t *packet = begin_response(PRISM_OP_RESPONSE, psn, PRISM_RESPONSE_SIZE);
	prism_aeth_encode(packet + bth_size, syndrome_ack, resp_.msn);
	prism_response_encode(packet, &response);
	engine_.sink_.commit();
}

void Responder::send_atomic_ack(std::uint32_t psn, std::uint64_t old)
{
	resp_.ack_pending = false;
	std::uint8_t *packet =
		begin_response(rc_atomic_acknowledge, psn, bth_size + aeth_size + atomic_ack_size);
	prism_aeth_encode(packet + bth_size, syndrome_ack, resp_.msn);
	put_unaligned_be64(old, packet + bth_size + aeth_size);
	engine_.sink_.commit();
}

void Responder::nak_and_fail(std::uint8_t syndrome, std::uint32_t psn)
{
	send_ack(syndrome, psn);
	const ibv_event_type event =
		syndrome == syndrome_access_error ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR;
	engine_.fail_qp(qp_);
	engine_.listener_.qp_event(qp_, event);
}

/** The format forbids this packet: nothing is executed, the peer is told. */
void Responder::refuse(prism_reject reason, std::uint32_t psn)
{
	switch (reason) {
	case PRISM_BAD_FLAGS:
		engine_.counters.rx_bad_flags++;
		break;
	case PRISM_BAD_OPERAND:
		engine_.counters.rx_bad_operand++;
		break;
	case PRISM_BAD_ALIGNMENT:
		engine_.counters.rx_bad_alignment++;
		break;
	default:
		engine_.counters.rx_bad_format++;
		break;
	}
	nak_and_fail(syndrome_invalid_request, psn);
}

/** The access flags of the QP itself do not allow this request. */
void Responder::refuse_access(std::uint32_t psn)
{
	engine_.counters.rx_access_error++;
	nak_and_fail(syndrome_invalid_request, psn);
}

/** More READ, atomic and PRISM requests at once than max_dest_rd_atomic allows. */
void Responder::refuse_excess(std::uint32_t psn)
{
	engine_.counters.rx_excess_request++;
	nak_and_fail(syndrome_invalid_request, psn);
}

/* Receiving ----------------------------------------------------------------------------------------------------- */

void Responder::receive(const prism_bth &bth, Packet packet, Time now)
{
	if (resp_.stream.active && hold(bth, packet))
		return;
	const std::int32_t ahead = psn_diff(bth.psn, resp_.expected_psn);
	if (ahead < 0) {
		duplicate(bth, packet, now);
		return;
	}
	if (ahead > 0) {
		engine_.counters.rx_out_of_sequence++;
		if (!resp_.nak_sent)
			send_ack(syndrome_psn_sequence, resp_.expected_psn);
		resp_.nak_sent = true;
		return;
	}
	resp_.nak_sent = false;
	execute(bth, packet, now);
}

void Responder::execute(const prism_bth &bth, Packet packet, Time now)
{
	if (packet.size() & 3) {
		refuse(PRISM_BAD_FORMAT, bth.psn);
		return;
	}
	const std::uint16_t flags = rc_opcode_flags(bth.opcode);
	/* A message of several packets is continued by its own kind, or it is an error. */
	if (flags && resp_.prism.active)
		refuse(PRISM_BAD_FORMAT, bth.psn);
	else if (flags)
		execute_standard(bth, flags, packet, now);
	else if (resp_.message.active)
		refuse(PRISM_BAD_FORMAT, bth.psn);
	else
		execute_prism(bth, packet, now);
}

void Responder::execute_standard(const prism_bth &bth, std::uint16_t flags, Packet packet, Time now)
{
	if (!access_allowed(needed_access(flags))) {
		refuse_access(bth.psn);
		return;
	}
	if (flags & (op_send | op_write)) {
		execute_message(bth, flags, packet);
		return;
	}
	if (resp_.message.active)
		refuse(PRISM_BAD_FORMAT, bth.psn);
	else if (flags & op_read)
		execute_read(bth, packet, now);
	else
		execute_atomic(bth, packet);
}

/* SEND and WRITE ------------------------------------------------------------------------------------------------ */

/** The receive that this message consumes; false: none is posted. */
bool Responder::take_receive(const prism_bth &bth)
{
	if (resp_.receive_taken)
		return true;
	ReceiveQueue &queue = qp_.srq ? qp_.srq->queue : qp_.rq;
	if (queue.empty()) {
		send_ack(syndrome_rnr | (qp_.attr.min_rnr_timer & 31), bth.psn);
		resp_.nak_sent = true; /* what follows is out of sequence, as the peer will find out by itself */
		return false;
	}
	/* Copied: the slot of a shared queue may be posted to again while this message is still arriving. */
	const ReceiveRequest request = queue.front();
	resp_.receive_sges.assign(request.sges.begin(), request.sges.end());
	resp_.receive_wr_id = request.wr_id;
	resp_.receive_taken = true;
	queue.pop();
	if (qp_.srq)
		engine_.report_limit(*qp_.srq);
	return true;
}

bool Responder::begin_write(const prism_bth &bth, Packet &body)
{
	IncomingMessage &msg = resp_.message;
	if (body.size() < reth_size) {
		refuse(PRISM_BAD_FORMAT, bth.psn);
		return false;
	}
	msg.va = get_unaligned_be64(body.data());
	msg.rkey = get_unaligned_be32(body.data() + 8);
	msg.remaining = get_unaligned_be32(body.data() + 12);
	body = body.subspan(reth_size);
	TargetMemory target(engine_, qp_);
	if (msg.remaining && !target.resolve(msg.rkey, msg.va, msg.remaining, PRISM_RIGHT_WRITE)) {
		engine_.counters.rx_access_error++;
		nak_and_fail(syndrome_access_error, bth.psn);
		return false;
	}
	return true;
}

bool Responder::begin_message(const prism_bth &bth, std::uint16_t flags, Packet &body)
{
	IncomingMessage &msg = resp_.message;
	const bool first = flags & op_first;
	if (first == msg.active || (!first && msg.is_send != !!(flags & op_send))) {
		refuse(PRISM_BAD_FORMAT, bth.psn);
		return false;
	}
	if (!first)
		return true;
	/* A message that finds no receive is sent again from its first packet: it must not have begun. */
	if ((flags & op_send) && !take_receive(bth))
		return false;
	msg = {};
	msg.is_send = flags & op_send;
	return msg.is_send || begin_write(bth, body);
}

std::span<const Sge> Responder::receive_sges()
{
	return resp_.receive_sges;
}

/** False: the packet does not fit its message, and the peer has been told. */
bool Responder::store_message(const prism_bth &bth, Packet payload)
{
	IncomingMessage &msg = resp_.message;
	if (!msg.is_send) {
		TargetMemory target(engine_, qp_);
		prism_span span;
		const auto n = static_cast<std::uint32_t>(payload.size());
		if (n > msg.remaining) {
			refuse(PRISM_BAD_FORMAT, bth.psn);
			return false;
		}
		span = {n ? target.resolve(msg.rkey, msg.va, n, PRISM_RIGHT_WRITE) : nullptr, msg.va, n};
		if (n && !span.region) {
			engine_.counters.rx_access_error++;
			nak_and_fail(syndrome_access_error, bth.psn);
			return false;
		}
		prism_store(&TargetMemory::env, target.context(), &span, 0, payload.data(), n);
		msg.va += n;
		msg.remaining -= n;
		msg.received += n;
		return true;
	}
	std::uint32_t offset = msg.received;
	for (const Sge &sge : receive_sges()) {
		if (payload.empty())
			break;
		if (offset >= sge.length) {
			offset -= sge.length;
			continue;
		}
		const auto n = std::min<std::uint32_t>(static_cast<std::uint32_t>(payload.size()), sge.length - offset);
		std::uint8_t *to =
			engine_.memory.resolve(sge.lkey, sge.addr + offset, n, access_local_write, qp_.pd);
		if (!to) {
			complete_receive(IBV_WC_LOC_PROT_ERR, nullptr, 0, 0);
			nak_and_fail(syndrome_operational_error, bth.psn);
			return false;
		}
		std::memcpy(to, payload.data(), n);
		msg.received += n;
		payload = payload.subspan(n);
		offset = 0;
	}
	if (payload.empty())
		return true;
	complete_receive(IBV_WC_LOC_LEN_ERR, nullptr, 0, 0);
	refuse(PRISM_BAD_FORMAT, bth.psn);
	return false;
}

void Responder::complete_receive(ibv_wc_status status, const prism_bth *bth, std::uint16_t flags, std::uint32_t tail)
{
	ibv_wc wc{};
	wc.wr_id = resp_.receive_wr_id;
	wc.status = status;
	wc.opcode = flags & op_write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
	wc.byte_len = resp_.message.received;
	wc.qp_num = qp_.qpn;
	wc.src_qp = qp_.attr.dest_qpn;
	if (flags & op_immediate) {
		wc.wc_flags |= IBV_WC_WITH_IMM;
		wc.imm_data = tail;
	}
	if (flags & op_invalidate) {
		wc.wc_flags |= IBV_WC_WITH_INV;
		wc.invalidated_rkey = tail;
	}
	resp_.receive_taken = false;
	engine_.complete(*qp_.recv_cq, wc, bth && bth->solicited);
}

bool Responder::finish_message(const prism_bth &bth, std::uint16_t flags, std::uint32_t tail)
{
	IncomingMessage &msg = resp_.message;
	if (!msg.is_send && msg.remaining) {
		refuse(PRISM_BAD_FORMAT, bth.psn);
		return false;
	}
	if ((flags & op_invalidate) && !engine_.memory.invalidate(tail, qp_.pd, qp_.qpn)) {
		complete_receive(IBV_WC_MW_BIND_ERR, nullptr, 0, 0);
		engine_.counters.rx_access_error++;
		nak_and_fail(syndrome_access_error, bth.psn);
		return false;
	}
	if (msg.is_send || (flags & op_immediate))
		complete_receive(IBV_WC_SUCCESS, &bth, flags, tail);
	msg.active = false;
	return true;
}

void Responder::execute_message(const prism_bth &bth, std::uint16_t flags, Packet packet)
{
	IncomingMessage &msg = resp_.message;
	const bool last = flags & op_last;
	/* The receive of a WRITE with immediate data is taken before anything of its last packet counts. */
	if (last && (flags & op_immediate) && (flags & op_write) && !take_receive(bth))
		return;
	Packet body = packet.subspan(bth_size);
	if (!begin_message(bth, flags, body))
		return;
	std::uint32_t tail = 0;
	if (flags & (op_immediate | op_invalidate)) {
		if (body.size() < immediate_size) {
			refuse(PRISM_BAD_FORMAT, bth.psn);
			return;
		}
		if (flags & op_immediate)
			std::memcpy(&tail, body.data(), sizeof(tail));
		else
			tail = get_unaligned_be32(body.data());
		body = body.subspan(immediate_size);
	}
	const std::uint32_t mtu = qp_.attr.mtu;
	const bool sized = body.size() >= bth.pad && (last ? body.size() - bth.pad <= mtu : body.size() == mtu);
	if (!sized || (!last && bth.pad)) {
		refuse(PRISM_BAD_FORMAT, bth.psn);
		return;
	}
	if (!store_message(bth, body.first(body.size() - bth.pad)))
		return;
	msg.active = true;
	if (last) {
		if (!finish_message(bth, flags, tail))
			return;
		resp_.msn++;
		resp_.chain_ok = true;
	}
	advance(1);
	acknowledge_later(bth.ack_req || last);
}

/* READ and atomics ---------------------------------------------------------------------------------------------- */

void Responder::execute_read(const prism_bth &bth, Packet packet, Time now)
{
	if (packet.size() != bth_size + reth_size) {
		refuse(PRISM_BAD_FORMAT, bth.psn);
		return;
	}
	ReadStream stream;
	stream.va = get_unaligned_be64(packet.data() + bth_size);
	stream.rkey = get_unaligned_be32(packet.data() + bth_size + 8);
	stream.length = get_unaligned_be32(packet.data() + bth_size + 12);
	stream.first_psn = bth.psn;
	stream.psns = packets_for(stream.length, qp_.attr.mtu);
	/* A duplicate only asks again: the order of things has been settled by the original. */
	const bool fresh = bth.psn == resp_.expected_psn;
	if (stream.length > max_message) {
		if (fresh)
			refuse(PRISM_BAD_FORMAT, bth.psn);
		return;
	}
	TargetMemory target(engine_, qp_);
	if (stream.length && !target.resolve(stream.rkey, stream.va, stream.length, PRISM_RIGHT_READ)) {
		engine_.counters.rx_access_error++;
		if (fresh)
			nak_and_fail(syndrome_access_error, bth.psn);
		else
			send_ack(syndrome_access_error, bth.psn);
		return;
	}
	if (fresh) {
		advance(stream.psns);
		resp_.msn++;
		resp_.chain_ok = true;
	}
	start_stream(stream, now);
}

void Responder::execute_atomic(const prism_bth &bth, Packet packet)
{
	if (packet.size() != bth_size + atomic_eth_size) {
		refuse(PRISM_BAD_FORMAT, bth.psn);
		return;
	}
	const std::uint8_t *p = packet.data() + bth_size;
	const std::uint64_t va = get_unaligned_be64(p);
	if (resp_.saved.empty()) {
		refuse_excess(bth.psn);
		return;
	}
	if (va & 7) {
		engine_.counters.rx_bad_alignment++;
		nak_and_fail(syndrome_invalid_request, bth.psn);
		return;
	}
	TargetMemory target(engine_, qp_);
	auto *word = target.resolve(get_unaligned_be32(p + 8), va, sizeof(std::uint64_t), PRISM_RIGHT_ATOMIC);
	if (!word) {
		engine_.counters.rx_access_error++;
		nak_and_fail(syndrome_access_error, bth.psn);
		return;
	}
	const std::uint64_t swap_add = get_unaligned_be64(p + 12), compare = get_unaligned_be64(p + 20);
	std::uint64_t old;
	BlockLocks::instance().lock(word, sizeof(old));
	std::memcpy(&old, word, sizeof(old));
	const bool fetch_add = bth.opcode == rc_fetch_add;
	const std::uint64_t fresh = fetch_add ? old + swap_add : old == compare ? swap_add : old;
	std::memcpy(word, &fresh, sizeof(fresh));
	BlockLocks::instance().unlock(word, sizeof(old));

	SavedResponse &saved = save(bth.psn);
	saved.atomic = true;
	saved.response.value = old;
	advance(1);
	resp_.msn++;
	resp_.chain_ok = true;
	send_atomic_ack(bth.psn, old);
}

/* PRISM --------------------------------------------------------------------------------------------------------- */

bool Responder::prism_access_allowed(const prism_request &request) const
{
	static constexpr std::uint32_t by_op[] = {access_remote_read, access_remote_write, access_remote_atomic,
		access_remote_write};
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
	prism_reject reject = prism_request_decode(packet.data(), static_cast<std::uint32_t>(packet.size()),
		qp_.attr.mtu, max_indirect_read, &request);
	const bool single = !reject && request.first && request.last && !resp_.prism.active;
	if (!reject && !single)
		reject = prism_message_check(&resp_.prism, &request);
	if (!reject && !prism_access_allowed(request)) {
		refuse_access(bth.psn);
		return;
	}
	prism_result result{};
	TargetMemory target(engine_, qp_);
	engine_.begun_++;
	if (!reject && resp_.saved.empty()) {
		refuse_excess(bth.psn);
		return;
	}
	if (single && !reject)
		prism_execute(&TargetMemory::env, target.context(), &request, resp_.chain_ok, &result);
	else if (!reject)
		reject = prism_message_packet(&TargetMemory::env, target.context(), &resp_.prism, &request,
			resp_.chain_ok, &result);
	if (reject) {
		refuse(reject, bth.psn);
		return;
	}
	finish_prism(bth, request, result, now);
}

void Responder::count_result(const prism_request &request, const prism_result &result)
{
	ProtocolCounters &counters = engine_.counters;
	std::uint64_t *const by_op[] = {&counters.prism_reads, &counters.prism_writes, &counters.prism_cas,
		&counters.prism_allocates};
	++*by_op[request.op];
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

void Responder::finish_prism(const prism_bth &bth, const prism_request &request, const prism_result &result, Time now)
{
	switch (result.fault) {
	case PRISM_NO_FAULT:
		break;
	case PRISM_FAULT_INVALID:
		engine_.counters.rx_bad_alignment++;
		nak_and_fail(syndrome_invalid_request, bth.psn);
		return;
	case PRISM_FAULT_TOO_LARGE:
		engine_.counters.rx_payload_too_large++;
		nak_and_fail(syndrome_invalid_request, bth.psn);
		return;
	case PRISM_FAULT_FREE_LIST:
		engine_.counters.rx_bad_free_list++;
		nak_and_fail(syndrome_access_error, bth.psn);
		return;
	default:
		engine_.counters.rx_access_error++;
		nak_and_fail(syndrome_access_error, bth.psn);
		return;
	}
	advance(prism_request_psns(&request, qp_.attr.mtu));
	engine_.expects_more_ = request.last && !bth.ack_req;
	if (!request.last) {
		/* Lets the peer's window move; only the response completes the request. */
		acknowledge_later(bth.ack_req);
		return;
	}

	resp_.msn++;
	resp_.chain_ok = result.status == PRISM_STATUS_OK;
	count_result(request, result);
	SavedResponse &saved = save(bth.psn);
	saved.reads = result.reads;
	saved.response = to_response(result);
	if (!result.reads) {
		send_short(bth.psn, saved.response);
		return;
	}
	ReadStream stream;
	stream.prism = true;
	stream.rkey = request.rkey;
	stream.va = result.read_va;
	stream.length = result.read_length;
	stream.first_psn = bth.psn;
	stream.psns = prism_request_psns(&request, qp_.attr.mtu);
	stream.resolution = ++resp_.resolution;
	start_stream(stream, now);
}

/* Duplicates ---------------------------------------------------------------------------------------------------- */

SavedResponse &Responder::save(std::uint32_t psn)
{
	SavedResponse &saved = resp_.saved[resp_.next_saved];
	if (++resp_.next_saved == resp_.saved.size())
		resp_.next_saved = 0;
	saved = {};
	saved.psn = psn;
	saved.valid = true;
	return saved;
}

SavedResponse *Responder::find_saved(std::uint32_t psn)
{
	/* From the latest back: after a turn of the circle an old answer may stand at the same PSN. */
	const auto count = static_cast<std::uint32_t>(resp_.saved.size());
	for (std::uint32_t i = 1; i <= count; i++) {
		SavedResponse &saved = resp_.saved[(resp_.next_saved + count - i) % count];
		if (saved.valid && saved.psn == psn)
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
	const SavedResponse *saved = find_saved(bth.psn);
	if (saved && saved->atomic)
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
	const SavedResponse *saved = request.last ? find_saved(bth.psn) : nullptr;
	const bool reads = request.op == PRISM_READ && !(request.flags & PRISM_FLAG_R);
	if (!request.last) {
		/* The earlier packets of a message are answered by its last. */
		acknowledge_later(bth.ack_req);
		return;
	}
	if (!saved || saved->atomic || (saved->reads && !reads)) {
		engine_.counters.rx_duplicate_dropped++;
		return;
	}
	if (!saved->reads) {
		replay(*saved);
		return;
	}
	/* A data-returning READ is resolved again as a whole; it was not skipped then, so it is not now. */
	prism_result result;
	TargetMemory target(engine_, qp_);
	engine_.begun_++;
	prism_execute(&TargetMemory::env, target.context(), &request, true, &result);
	if (result.fault) {
		/* Not an error of this QP: what the duplicate asks for may rightly have gone since. */
		engine_.counters.rx_access_error++;
		send_ack(syndrome_access_error, bth.psn);
		return;
	}
	if (!result.reads) {
		send_short(bth.psn, to_response(result));
		return;
	}
	ReadStream stream;
	stream.prism = true;
	stream.rkey = request.rkey;
	stream.va = result.read_va;
	stream.length = result.read_length;
	stream.first_psn = bth.psn;
	stream.psns = prism_request_psns(&request, qp_.attr.mtu);
	stream.resolution = ++resp_.resolution;
	start_stream(stream, now);
}

/* READ responses ------------------------------------------------------------------------------------------------ */

/** How many PSNs a request packet takes, by its header alone. */
std::uint32_t Responder::psns_of(const prism_bth &bth, Packet packet) const
{
	const bool reads = bth.opcode == rc_read_request ||
		(bth.opcode == PRISM_OP_READ_REQUEST && !(bth.flags & PRISM_FLAG_R));
	if (!reads || packet.size() < bth_size + reth_size)
		return 1;
	return packets_for(get_unaligned_be32(packet.data() + bth_size + 12), qp_.attr.mtu);
}

/**
 * While a response is being sent, later requests wait, so that requests touch memory in order. True: the packet has
 * been dealt with.
 */
bool Responder::hold(const prism_bth &bth, Packet packet)
{
	const ReadStream &stream = resp_.stream;
	const std::int32_t at = psn_diff(bth.psn, stream.first_psn);
	const bool asks_for_data = bth.opcode == rc_read_request || bth.opcode == PRISM_OP_READ_REQUEST;
	if (at < 0) {
		/* The peer has gone back beyond this READ and will come to it again; saved answers do not disturb. */
		if (asks_for_data) {
			end_stream();
			drop_held();
		}
		return false;
	}
	if (at < static_cast<std::int32_t>(stream.psns)) {
		/* Part of the response was lost: slow down and start over. */
		resp_.stream.interval = std::min(max_interval, stream.interval * 2);
		end_stream();
		return false;
	}
	if (bth.psn != resp_.held_psn)
		return true; /* held already, or its predecessor was lost */
	if (resp_.held_bytes + packet.size() > max_held_bytes) {
		engine_.counters.rx_held_overflow++;
		return true;
	}
	if (takes_slot(bth.opcode))
		resp_.held_reads++;
	if (resp_.held_reads >= qp_.attr.max_dest_rd_atomic) {
		refuse_excess(bth.psn);
		return true;
	}
	resp_.held.emplace_back(packet.begin(), packet.end());
	resp_.held_bytes += packet.size();
	resp_.held_psn = psn_add(bth.psn, psns_of(bth, packet));
	return true;
}

void Responder::drop_held()
{
	resp_.held.clear();
	resp_.held_bytes = 0;
	resp_.held_reads = 0;
}

void Responder::release_held(Time now)
{
	while (!resp_.held.empty() && !resp_.stream.active && qp_.state != IBV_QPS_ERR) {
		const std::vector<std::uint8_t> packet = std::move(resp_.held.front());
		resp_.held.pop_front();
		resp_.held_bytes -= packet.size();
		prism_bth bth;
		prism_bth_decode(packet.data(), &bth);
		if (takes_slot(bth.opcode))
			resp_.held_reads--;
		receive(bth, packet, now);
	}
}

void Responder::start_stream(const ReadStream &fresh, Time now)
{
	const Time interval = std::max(min_interval, resp_.stream.interval);
	resp_.ack_pending = false;
	resp_.stream = fresh;
	resp_.stream.interval = interval;
	resp_.stream.active = true;
	resp_.stream.begun = ++engine_.begun_;
	if (resp_.held.empty())
		resp_.held_psn = psn_add(fresh.first_psn, fresh.psns);
	const std::uint32_t budget = std::min(fresh.length, first_burst_bytes);
	do
		send_read_packet();
	while (resp_.stream.active && resp_.stream.offset < budget);
	if (!resp_.stream.active)
		return;
	resp_.stream.next = now + resp_.stream.interval;
	engine_.streams_.push_back(&qp_);
}

void Responder::continue_stream(Time now)
{
	send_burst(now);
	if (!resp_.stream.active)
		release_held(now);
}

void Responder::send_burst(Time now)
{
	ReadStream &stream = resp_.stream;
	const std::uint32_t end = stream.offset + burst_bytes;
	while (stream.active && stream.offset < end)
		send_read_packet();
	stream.next = now + stream.interval;
}

void Responder::send_read_packet()
{
	ReadStream &stream = resp_.stream;
	const std::uint32_t mtu = qp_.attr.mtu;
	const std::uint32_t n = std::min(mtu, stream.length - stream.offset);
	const bool first = stream.offset == 0, last = stream.offset + n == stream.length;
	/* First, middle, last, only: one after the other in both opcode ranges. */
	const std::uint8_t place = first ? (last ? 3 : 0) : (last ? 2 : 1);
	const std::uint32_t psn = psn_add(stream.first_psn, stream.offset / mtu);
	TargetMemory target(engine_, qp_);
	prism_span span{nullptr, stream.va + stream.offset, n};

	if (n) {
		span.region = target.resolve(stream.rkey, span.va, n, PRISM_RIGHT_READ);
		if (!span.region) {
			/* The region was deregistered while its READ was under way. */
			end_stream();
			engine_.counters.rx_access_error++;
			nak_and_fail(syndrome_access_error, psn);
			return;
		}
	}
	const std::uint32_t header = stream.prism ? std::uint32_t{PRISM_READ_RESPONSE_HEADER}
						  : bth_size + (first || last ? aeth_size : 0);
	const std::uint32_t pad = pad_for(n);
	const std::uint8_t opcode = (stream.prism ? std::uint8_t{PRISM_OP_READ_RESPONSE_FIRST}
						  : std::uint8_t{rc_read_response_first}) +
		place;
	std::uint8_t *packet = begin_response(opcode, psn, header + n + pad, pad);
	if (stream.prism || first || last)
		prism_aeth_encode(packet + bth_size, syndrome_ack, resp_.msn);
	if (stream.prism) {
		put_unaligned_be32(stream.resolution, packet + bth_size + aeth_size);
		put_unaligned_be32(stream.length, packet + bth_size + aeth_size + 4);
	}
	prism_load(&TargetMemory::env, target.context(), &span, 0, packet + header, n);
	engine_.sink_.commit();
	stream.offset += n;
	if (last) {
		/* It got through whole: the next may go a little faster. */
		stream.interval -= stream.interval / 8;
		end_stream();
	}
}

void Responder::end_stream()
{
	resp_.stream.active = false;
	std::erase(engine_.streams_, &qp_);
}

/* Ends ---------------------------------------------------------------------------------------------------------- */

void Responder::stop()
{
	TargetMemory target(engine_, qp_);
	prism_message_abort(&TargetMemory::env, target.context(), &resp_.prism);
	end_stream();
	drop_held();
	resp_.message.active = false;
	resp_.ack_pending = false;
}

void Responder::flush()
{
	if (resp_.receive_taken)
		complete_receive(IBV_WC_WR_FLUSH_ERR, nullptr, 0, 0);
	while (!qp_.rq.empty()) {
		resp_.receive_wr_id = qp_.rq.front().wr_id;
		resp_.message.received = 0;
		qp_.rq.pop();
		complete_receive(IBV_WC_WR_FLUSH_ERR, nullptr, 0, 0);
	}
}

} // namespace prism::soft
