/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Standard requests: SEND, WRITE, READ and the 8-byte atomics (IBTA 9.4, 9.7.4). */
#include "responder.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "target_memory.hpp"

namespace prism::soft
{

namespace
{

std::uint32_t needed_access(std::uint16_t flags)
{
	if (flags & (op_write | op_word))
		return access_remote_write;
	if (flags & op_read)
		return access_remote_read;
	return flags & op_atomic ? access_remote_atomic : 0u;
}

std::uint64_t room_in(std::span<const Sge> sges)
{
	std::uint64_t room = 0;
	for (const Sge &sge : sges)
		room += sge.length;
	return room;
}

} // namespace

void Responder::execute_standard(const prism_bth &bth, std::uint16_t flags, Packet packet, Time now)
{
	if (!access_allowed(needed_access(flags))) {
		refuse_by_flags(bth.psn);
		return;
	}
	/* Only its own kind may continue a message of several packets. */
	const bool message = flags & (op_send | op_write);
	if (resp_.prism.active || (resp_.message.active && !message))
		refuse(PRISM_BAD_FORMAT, bth.psn);
	else if (message)
		execute_message(bth, flags, packet);
	else if (flags & op_read)
		execute_read(bth, packet, now);
	else if (flags & op_word)
		execute_atomic_write(bth, packet);
	else
		execute_atomic(bth, packet);
}

/* SEND and WRITE ------------------------------------------------------------------------------------------------ */

/** Takes the receive that this message consumes; false if none is posted. */
bool Responder::take_receive(const prism_bth &bth)
{
	if (resp_.receive_taken)
		return true;
	if (pop_receive() != Popped::yes) {
		engine_.counters.rx_no_receive++;
		if (qp_.type == IBV_QPT_UC) {
			resp_.message.active = false; /* its other packets are dropped, too */
			return false;
		}
		send_ack(syndrome_rnr | (qp_.attr.min_rnr_timer & 31), bth.psn);
		resp_.nak_sent = true; /* later requests are out of sequence, as the peer will find out by itself */
		return false;
	}
	return true;
}

/** Takes the next receive, if it has room for @p length bytes. */
Responder::Popped Responder::pop_receive(std::uint64_t length)
{
	SharedReceiveQueue *const srq = qp_.srq;
	std::unique_lock guard = srq ? std::unique_lock(srq->lock) : std::unique_lock<SpinLock>();
	ReceiveQueue &queue = srq ? srq->queue : qp_.rq;
	if (queue.empty())
		return Popped::none;
	/* Copy the sges: the slot of a shared queue may be posted to again while this message is still arriving. */
	PRISM_ASSERT(!resp_.receive_taken);
	const ReceiveRequest request = queue.front();
	if (length && room_in(request.sges) < length)
		return Popped::too_small;
	qp_.receive_sges.assign(request.sges.begin(), request.sges.end());
	resp_.receive_wr_id = request.wr_id;
	resp_.receive_taken = true;
	queue.pop();
	if (!srq)
		return Popped::yes;
	const bool below = srq->falls_below_limit();
	guard.unlock();
	if (below)
		engine_.listener_.srq_event(*srq, IBV_EVENT_SRQ_LIMIT_REACHED);
	return Popped::yes;
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
		refuse_by_key(bth.psn);
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
	/* A message without a receive is retransmitted from its first packet: it must not have begun. */
	if ((flags & op_send) && !take_receive(bth))
		return false;
	msg = {};
	msg.is_send = flags & op_send;
	return msg.is_send || begin_write(bth, body);
}

/** Returns false if the packet does not fit its message; the peer has been told. */
bool Responder::store_message(const prism_bth &bth, Packet payload)
{
	IncomingMessage &msg = resp_.message;
	if (!msg.is_send) {
		TargetMemory target(engine_, qp_);
		prism_span span;
		const auto n = static_cast<std::uint32_t>(payload.size());
		if (n > msg.remaining) {
			refuse_length(bth.psn);
			return false;
		}
		span = {n ? target.resolve(msg.rkey, msg.va, n, PRISM_RIGHT_WRITE) : nullptr, msg.va, n};
		if (!n || span.region)
			prism_store(&TargetMemory::env, target.context(), &span, 0, payload.data(), n);
		if ((n && !span.region) || target.faulted()) {
			refuse_by_key(bth.psn);
			return false;
		}
		msg.va += n;
		msg.remaining -= n;
		msg.received += n;
		return true;
	}
	const ibv_wc_status status = store_received(payload);
	if (status == IBV_WC_SUCCESS)
		return true;
	if (status == IBV_WC_LOC_PROT_ERR)
		nak_and_fail(syndrome_operational_error, bth.psn, status);
	else
		refuse_length(bth.psn);
	return false;
}

/** Stores the payload after the data that the receive already holds. */
ibv_wc_status Responder::store_received(Packet payload)
{
	IncomingMessage &msg = resp_.message;
	/* The buffers of a shared queue belong to its domain, which may not be the queue pair's (IBTA 10.2.9). */
	const std::uint32_t pd = qp_.srq ? qp_.srq->pd : qp_.pd;
	if (payload.size() > max_message - msg.received)
		return IBV_WC_LOC_LEN_ERR; /* even if the receive has room: lengths have 32 bits */
	const auto size = static_cast<std::uint32_t>(payload.size());
	const auto store = [&](const Sge &sge, std::uint32_t at, std::uint32_t n) {
		std::uint8_t *to = engine_.memory.resolve(sge.lkey, sge.addr + at, n, access_local_write, pd);
		if (!to || !engine_.store(to, payload.data(), n))
			return false;
		msg.received += n;
		payload = payload.subspan(n);
		return true;
	};
	if (!visit_pieces(qp_.receive_sges, msg.received, size, store))
		return IBV_WC_LOC_PROT_ERR;
	return payload.empty() ? IBV_WC_SUCCESS : IBV_WC_LOC_LEN_ERR;
}

void Responder::complete_receive(ibv_wc_status status, const prism_bth *bth, std::uint16_t flags, std::uint32_t tail)
{
	ibv_wc wc{};
	wc.wr_id = resp_.receive_wr_id;
	wc.status = status;
	wc.opcode = flags & op_write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
	wc.byte_len = resp_.message.received;
	wc.qp_num = qp_.qpn;
	wc.src_qp = qp_.type == IBV_QPT_UD ? resp_.source_qpn : qp_.attr.dest_qpn;
	if (qp_.type == IBV_QPT_UD) {
		wc.wc_flags |= IBV_WC_GRH;
		wc.sl = resp_.packet_type;
	}
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
	if ((flags & op_invalidate) && !engine_.memory.invalidate(tail, qp_.pd, qp_.qpn)) {
		refuse_by_key(bth.psn, IBV_WC_MW_BIND_ERR);
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
	/* Take the receive of a WRITE with immediate data before its last packet has any effect. */
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
	/* Execute nothing of an inconsistent packet. */
	const bool short_write = sized && last && !msg.is_send && body.size() - bth.pad != msg.remaining;
	if (!sized || (!last && bth.pad) || short_write) {
		refuse_length(bth.psn);
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
	acknowledge_later(bth.ack_req || last, last && (flags & (op_send | op_immediate)));
}

/* READ and atomics ---------------------------------------------------------------------------------------------- */

void Responder::execute_read(const prism_bth &bth, Packet packet, Time now)
{
	if (packet.size() != bth_size + reth_size) {
		refuse(PRISM_BAD_FORMAT, bth.psn);
		return;
	}
	ReadStream stream;
	stream.read.va = get_unaligned_be64(packet.data() + bth_size);
	stream.read.rkey = get_unaligned_be32(packet.data() + bth_size + 8);
	stream.read.length = get_unaligned_be32(packet.data() + bth_size + 12);
	stream.first_psn = bth.psn;
	stream.psns = packets_for(stream.read.length, qp_.attr.mtu);
	/* A duplicate only repeats the answer: the original has settled the order. */
	const bool fresh = bth.psn == resp_.expected_psn;
	stream.duplicate = !fresh;
	if (stream.read.length > max_message) {
		if (fresh)
			refuse(PRISM_BAD_FORMAT, bth.psn);
		return;
	}
	if (fresh && too_many()) {
		refuse_excess(bth.psn);
		return;
	}
	TargetMemory target(engine_, qp_);
	const Resolution &read = stream.read;
	if (read.length && !target.resolve(read.rkey, read.va, read.length, PRISM_RIGHT_READ)) {
		if (fresh)
			refuse_by_key(bth.psn);
		else
			fail_duplicate(bth.psn);
		return;
	}
	if (fresh) {
		advance(stream.psns);
		resp_.msn++;
		resp_.chain_ok = true;
		if (stream.psns == 1 && send_at_once(read, false, bth.psn, target.resolved()))
			return;
	}
	start_stream(stream, now);
}

/** Returns the aligned word at @p va; nullptr if it may not be used, and the peer has been told why. */
std::uint8_t *Responder::atomic_target(std::uint32_t psn, std::uint64_t va, std::uint32_t rkey, unsigned right)
{
	if (too_many()) {
		refuse_excess(psn);
		return nullptr;
	}
	if (va & 7) {
		engine_.counters.rx_bad_alignment++;
		nak_and_fail(syndrome_invalid_request, psn);
		return nullptr;
	}
	std::uint8_t *word = TargetMemory(engine_, qp_).resolve(rkey, va, sizeof(std::uint64_t), right);
	if (!word)
		refuse_by_key(psn);
	return word;
}

void Responder::execute_atomic(const prism_bth &bth, Packet packet)
{
	if (packet.size() != bth_size + atomic_eth_size) {
		refuse(PRISM_BAD_FORMAT, bth.psn);
		return;
	}
	const std::uint8_t *p = packet.data() + bth_size;
	const std::uint64_t va = get_unaligned_be64(p);
	std::uint8_t *word = atomic_target(bth.psn, va, get_unaligned_be32(p + 8), PRISM_RIGHT_ATOMIC);
	if (!word)
		return;
	const std::uint64_t swap_add = get_unaligned_be64(p + 12), compare = get_unaligned_be64(p + 20);
	std::uint64_t old = 0;
	BlockLocks::instance().lock(word, sizeof(old));
	bool there = engine_.load(&old, word, sizeof(old));
	const bool fetch_add = bth.opcode == rc_fetch_add;
	const std::uint64_t fresh = fetch_add ? old + swap_add : old == compare ? swap_add : old;
	there = there && engine_.store(word, &fresh, sizeof(fresh));
	BlockLocks::instance().unlock(word, sizeof(old));
	if (!there) {
		refuse_by_key(bth.psn);
		return;
	}

	SavedResponse &saved = save(bth.psn);
	saved.atomic = true;
	saved.response.value = old;
	advance(1);
	resp_.msn++;
	resp_.chain_ok = true;
	send_atomic_ack(bth.psn, old);
}

/* Writes the word as one, after everything before it (annex A19). */
void Responder::execute_atomic_write(const prism_bth &bth, Packet packet)
{
	constexpr std::uint32_t size = sizeof(std::uint64_t);
	const std::uint8_t *p = packet.data() + bth_size;
	if (packet.size() != bth_size + reth_size + size || get_unaligned_be32(p + 12) != size) {
		refuse(PRISM_BAD_FORMAT, bth.psn);
		return;
	}
	std::uint8_t *word =
		atomic_target(bth.psn, get_unaligned_be64(p), get_unaligned_be32(p + 8), PRISM_RIGHT_WRITE);
	if (!word)
		return;
	BlockLocks::instance().lock(word, size);
	const bool there = engine_.store(word, p + reth_size, size);
	BlockLocks::instance().unlock(word, size);
	if (!there) {
		refuse_by_key(bth.psn);
		return;
	}

	save(bth.psn).word = true;
	advance(1);
	resp_.msn++;
	resp_.chain_ok = true;
	send_word_ack(bth.psn);
}

} // namespace prism::soft
