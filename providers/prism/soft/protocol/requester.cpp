/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "requester.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assertion.hpp"

namespace prism::soft
{

namespace
{

/*
 * Limit of payload bytes of one QP under way in either direction. Three trains of 64 KiB fill a default socket buffer,
 * so two leave room for other packets.
 */
constexpr std::uint32_t flight_limit = 128 << 10;
/** Limit of packets under way: small packets cost socket buffer by number, not by size. */
constexpr std::int32_t packet_limit = 256;
/** Packets of a long message between two requests for an acknowledgement. */
constexpr std::uint32_t ack_interval = 8;
/** Value of a retry count that means for ever (IBTA 9.7.5.2.8). */
constexpr std::uint8_t rnr_retry_forever = 7;

/**
 * First wait for an answer. An application with a timeout of seconds would wait as long for a lost packet if none
 * follows. So the first wait is that of timeout 14, each further wait doubles the time passed, and a retry counts only
 * once that is the timeout asked for.
 */
constexpr Time first_wait = Time{4096} << 14;

/** RNR NAK timer codes in units of 10 us (IBTA table 45). */
constexpr std::uint32_t rnr_times[32] = {65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512,
	768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

bool returns_data(const SendRequest &wr)
{
	if (wr.kind == SendKind::prism)
		return wr.prism.op == PRISM_CAS || (wr.prism.op == PRISM_READ && !(wr.prism.flags & PRISM_FLAG_R));
	return wr.kind == SendKind::read || wr.kind == SendKind::atomic;
}

} // namespace

/* Local memory -------------------------------------------------------------------------------------------------- */

bool Requester::local_memory_valid(const SendRequest &wr)
{
	const std::uint32_t access = returns_data(wr) ? std::uint32_t{access_local_write} : 0;
	if (wr.kind == SendKind::prism && wr.result.length &&
		!engine_.memory.resolve(
			wr.result.lkey, wr.result.addr, sizeof(std::uint64_t), access_local_write, qp_.pd))
		return false;
	if (wr.inline_data)
		return true;
	if (wr.unmapped)
		return false;
	for (const Sge &sge : sq_.sges(wr))
		if (sge.length && !engine_.memory.resolve(sge.lkey, sge.addr, sge.length, access, qp_.pd))
			return false;
	return true;
}

/** Copies the payload; the keys have just been checked. Returns false if their memory is unmapped: then send
 * nothing. */
bool Requester::gather(SendRequest &wr, std::uint32_t offset, std::uint8_t *to, std::uint32_t length)
{
	PRISM_ASSERT(offset <= wr.length && length <= wr.length - offset);
	if (wr.inline_data) {
		std::memcpy(to, sq_.inline_bytes(wr).data() + offset, length);
		return true;
	}
	const auto load = [&](const Sge &sge, std::uint32_t at, std::uint32_t n) {
		const Region &region = *engine_.memory.find(sge.lkey);
		wr.unmapped = !engine_.load(std::exchange(to, to + n), region.base + (sge.addr - region.va) + at, n);
		return !wr.unmapped;
	};
	return visit_pieces(sq_.sges(wr), offset, length, load);
}

bool Requester::scatter(const SendRequest &wr, std::uint32_t offset, const std::uint8_t *data, std::uint32_t length)
{
	const auto store = [&](const Sge &sge, std::uint32_t at, std::uint32_t n) {
		std::uint8_t *to = engine_.memory.resolve(sge.lkey, sge.addr + at, n, access_local_write, qp_.pd);
		return to && engine_.store(to, std::exchange(data, data + n), n);
	};
	return visit_pieces(sq_.sges(wr), offset, length, store);
}

bool Requester::store_result(const SendRequest &wr, std::uint64_t address)
{
	if (!wr.result.length)
		return true;
	std::uint8_t *to =
		engine_.memory.resolve(wr.result.lkey, wr.result.addr, sizeof(address), access_local_write, qp_.pd);
	return to && engine_.store(to, &address, sizeof(address));
}

/* Sending ------------------------------------------------------------------------------------------------------- */

bool Requester::may_send(const SendRequest &wr, Time now) const
{
	if (req_.wait_until > now || (req_.silent() && qp_.packets_under_way() > 0))
		return false;
	const bool begins = !wr.started || wr.sent == 0;
	if (begins && qp_.state == IBV_QPS_SQD && !wr.started)
		return false;
	if (is_local(wr))
		return !wr.fence || req_.outstanding == 0;
	if (begins && wr.fence && req_.outstanding)
		return false;
	const bool needs_slot = needs_response(wr) && (wr.slots == 0 || wr.kind == SendKind::read);
	if (needs_slot && req_.outstanding >= qp_.attr.max_rd_atomic)
		return false;
	const std::uint32_t at = wr.started ? wr.first_psn + wr.sent : req_.next_psn;
	if (psn_diff(at, req_.unacked) >= packet_limit && req_.flight)
		return false;
	/* One request larger than the window may go alone. */
	return req_.flight < flight_limit;
}

/** Returns false if a sge of @p wr names no memory; the error waits until everything before it has completed. */
bool Requester::check_local_memory(const SendRequest &wr)
{
	if (local_memory_valid(wr))
		return true;
	if (&wr == &sq_.at(sq_.head))
		complete_head(IBV_WC_LOC_PROT_ERR);
	return false;
}

void Requester::start(SendRequest &wr)
{
	PRISM_ASSERT(!wr.started);
	wr.started = true;
	wr.first_psn = req_.next_psn;
	if (wr.kind == SendKind::prism) {
		const std::uint32_t payload = prism_request_psns(&wr.prism, qp_.attr.mtu);
		wr.psns = wr.prism.op == PRISM_WRITE || wr.prism.op == PRISM_ALLOCATE
				  ? packets_for(wr.length, qp_.attr.mtu)
				  : payload;
	} else if (wr.kind == SendKind::atomic || wr.kind == SendKind::atomic_write) {
		wr.psns = 1;
	} else {
		wr.psns = packets_for(wr.length, qp_.attr.mtu);
	}
	PRISM_ASSERT(wr.psns > 0);
	req_.next_psn = psn_add(req_.next_psn, wr.psns);
}

/** Runs a local operation when its turn to be sent comes; it completes in order with the others. */
bool Requester::run_local(SendRequest &wr)
{
	if (sq_.cursor != sq_.head)
		return false;
	bool ok;
	if (wr.kind == SendKind::bind_window)
		ok = engine_.memory.bind_window(wr.binding, qp_.pd) == 0;
	else
		ok = engine_.memory.invalidate(wr.immediate, qp_.pd, qp_.qpn);
	sq_.cursor++;
	complete_head(ok ? IBV_WC_SUCCESS : IBV_WC_MW_BIND_ERR);
	return ok;
}

bool Requester::transmit(Time now)
{
	if (qp_.state != IBV_QPS_RTS && qp_.state != IBV_QPS_SQD)
		return false;
	if (qp_.type != IBV_QPT_RC)
		return transmit_unacknowledged(now);
	engine_.join_path(qp_);
	const bool stopped = transmit_all(now);
	if (qp_.path) {
		qp_.path->end_turn(qp_);
		engine_.wake_next(*qp_.path);
	}
	return stopped;
}

/** Returns true if there is room, or nothing is under way: only the timer of a packet detects that the peer is gone. */
bool Requester::has_room()
{
	return qp_.packets_under_way() <= 0 || engine_.sink_.room(qp_) != Room::no;
}

bool Requester::path_admits()
{
	Path *const path = qp_.path.get();
	if (!path)
		return true;
	if (path->is_crowded())
		path->fit(engine_.sink_.room(qp_) == Room::unknown, engine_.receive_room_);
	return path->admits(qp_);
}

bool Requester::transmit_all(Time now)
{
	bool stopped = false;
	was_idle_ = qp_.packets_under_way() <= 0;
	while (sq_.cursor != sq_.tail) {
		SendRequest &wr = sq_.at(sq_.cursor);
		if (!may_send(wr, now))
			break;
		if (is_local(wr)) {
			if (!run_local(wr))
				break;
			continue;
		}
		if (!check_local_memory(wr))
			break;
		stopped = !has_room();
		if (stopped || !path_admits())
			break;
		if (!wr.started)
			start(wr);
		const std::uint32_t packets = wr.sent, bytes = req_.flight;
		send_one(wr);
		if (qp_.path)
			qp_.path->sent(qp_, wr.sent - packets, req_.flight - bytes);
		if (wr.sent == wr.psns)
			sq_.cursor++;
	}
	begin_timer(now);
	return stopped;
}

bool Requester::has_one_long_packet() const
{
	if (sq_.cursor + 1 != sq_.tail)
		return false;
	const SendRequest &wr = sq_.at(sq_.cursor);
	const bool message = wr.kind == SendKind::send || wr.kind == SendKind::write;
	return message && wr.length > aeth_size && wr.length <= qp_.attr.mtu;
}

/** Returns true if another request probably leaves right after this one; the window may still forbid it. */
bool Requester::more_follows() const
{
	return sq_.cursor + 1 != sq_.tail && req_.outstanding < qp_.attr.max_rd_atomic && req_.flight < flight_limit;
}

bool Requester::wants_ack(const SendRequest &wr, bool last)
{
	if (req_.silent()) /* no other packet that could be answered is under way */
		return true;
	/* A PRISM request is answered anyway; the bit tells the peer whether to wait for more (W.2). */
	if (last && wr.kind == SendKind::prism)
		return !more_follows();
	const bool pauses = qp_.path && qp_.path->ends_turn(qp_);
	if (!last && !pauses && ++req_.unrequested_acks < ack_interval)
		return false;
	req_.unrequested_acks = 0;
	return true;
}

std::uint8_t *Requester::begin_packet(
	SendRequest &wr, std::uint8_t opcode, std::size_t headers, std::uint32_t payload, bool last, std::uint8_t flags)
{
	const std::uint32_t pad = pad_for(payload);
	std::uint8_t *packet = engine_.sink_.begin_for(qp_, opcode, headers + payload + pad, was_idle_);
	prism_bth bth{};
	bth.opcode = opcode;
	bth.pad = static_cast<u8>(pad);
	bth.solicited = last && wr.solicited;
	bth.ack_req = wants_ack(wr, last);
	bth.flags = flags;
	bth.qpn = qp_.attr.dest_qpn;
	bth.psn = psn_add(wr.first_psn, wr.sent);
	prism_bth_encode(packet, &bth);
	if (pad)
		std::memset(packet + headers + payload, 0, pad);
	return packet;
}

void Requester::send_one(SendRequest &wr)
{
	PRISM_ASSERT(wr.started && wr.sent < wr.psns);
	std::uint32_t bytes = 0;
	switch (wr.kind) {
	case SendKind::read:
		take_slot(wr);
		bytes = send_read_request(wr);
		break;
	case SendKind::atomic:
		take_slot(wr);
		bytes = send_atomic(wr);
		break;
	case SendKind::atomic_write:
		take_slot(wr);
		bytes = send_atomic_write(wr);
		break;
	case SendKind::prism:
		if (!wr.slots)
			take_slot(wr);
		bytes = send_prism(wr);
		break;
	default:
		bytes = send_message_packet(wr);
		break;
	}
	wr.flight += bytes;
	req_.flight += bytes;
}

std::uint32_t Requester::send_message_packet(SendRequest &wr)
{
	const std::uint32_t mtu = qp_.attr.mtu;
	const std::uint32_t offset = wr.sent * mtu;
	const std::uint32_t n = std::min(mtu, wr.length - offset);
	const bool first = wr.sent == 0, last = wr.sent + 1 == wr.psns;
	const bool write = wr.kind == SendKind::write;

	std::uint8_t opcode = write ? rc_write_middle : rc_send_middle;
	if (first && last)
		opcode = write ? rc_write_only : rc_send_only;
	else if (first)
		opcode = write ? rc_write_first : rc_send_first;
	else if (last)
		opcode = write ? rc_write_last : rc_send_last;
	const bool tail = last && wr.tail != Tail::none;
	if (tail && wr.tail == Tail::immediate)
		opcode++;
	else if (tail)
		opcode = first ? rc_send_only_inv : rc_send_last_inv;

	if (qp_.type == IBV_QPT_UC)
		opcode |= uc_class;
	const std::size_t headers = bth_size + (write && first ? reth_size : 0) + (tail ? immediate_size : 0);
	std::uint8_t *packet = begin_packet(wr, opcode, headers, n, last);
	std::uint8_t *p = packet + bth_size;
	if (write && first) {
		put_unaligned_be64(wr.remote_addr, p);
		put_unaligned_be32(wr.rkey, p + 8);
		put_unaligned_be32(wr.length, p + 12);
		p += reth_size;
	}
	if (tail && wr.tail == Tail::immediate)
		std::memcpy(p, &wr.immediate, immediate_size);
	else if (tail)
		put_unaligned_be32(wr.immediate, p);
	if (!gather(wr, offset, packet + headers, n))
		return 0;
	engine_.sink_.commit();
	wr.sent++;
	return n;
}

std::uint32_t Requester::send_read_request(SendRequest &wr)
{
	const std::uint32_t mtu = qp_.attr.mtu;
	const std::uint32_t offset = wr.sent * mtu;
	const std::uint32_t piece = read_piece_packets(mtu);
	const std::uint32_t packets = std::min(piece - wr.sent % piece, wr.psns - wr.sent);
	const std::uint32_t n = std::min(packets * mtu, wr.length - offset);

	std::uint8_t *packet = begin_packet(wr, rc_read_request, bth_size + reth_size, 0, true);
	put_unaligned_be64(wr.remote_addr + offset, packet + bth_size);
	put_unaligned_be32(wr.rkey, packet + bth_size + 8);
	put_unaligned_be32(n, packet + bth_size + 12);
	engine_.sink_.commit();
	wr.sent += packets;
	return n;
}

std::uint32_t Requester::send_atomic(SendRequest &wr)
{
	std::uint8_t *packet =
		begin_packet(wr, wr.fetch_add ? rc_fetch_add : rc_cmp_swap, bth_size + atomic_eth_size, 0, true);
	std::uint8_t *p = packet + bth_size;
	put_unaligned_be64(wr.remote_addr, p);
	put_unaligned_be32(wr.rkey, p + 8);
	put_unaligned_be64(wr.fetch_add ? wr.compare_add : wr.swap, p + 12);
	put_unaligned_be64(wr.fetch_add ? 0 : wr.compare_add, p + 20);
	engine_.sink_.commit();
	wr.sent++;
	return sizeof(std::uint64_t);
}

std::uint32_t Requester::send_atomic_write(SendRequest &wr)
{
	constexpr std::uint32_t word = sizeof(std::uint64_t);
	std::uint8_t *packet = begin_packet(wr, rc_atomic_write, bth_size + reth_size, word, true);
	put_unaligned_be64(wr.remote_addr, packet + bth_size);
	put_unaligned_be32(wr.rkey, packet + bth_size + 8);
	put_unaligned_be32(word, packet + bth_size + 12);
	if (!gather(wr, 0, packet + bth_size + reth_size, word))
		return 0;
	engine_.sink_.commit();
	wr.sent++;
	return word;
}

std::uint32_t Requester::send_prism(SendRequest &wr)
{
	prism_request &request = wr.prism;
	const bool carries =
		(request.op == PRISM_WRITE && !(request.flags & PRISM_FLAG_D)) || request.op == PRISM_ALLOCATE;
	const std::uint32_t offset = wr.sent * qp_.attr.mtu;
	const std::uint32_t n = carries ? std::min(qp_.attr.mtu, wr.length - offset) : 0;
	const std::uint32_t packets = carries ? 1 : wr.psns - wr.sent;

	request.first = !carries || wr.sent == 0;
	request.last = wr.sent + packets == wr.psns;
	request.operands = sq_.operands(wr);
	const std::uint32_t headers = prism_request_header_size(&request);
	std::uint8_t *packet =
		begin_packet(wr, prism_request_opcode(&request), headers, n, request.last, request.flags);
	prism_request_encode(packet, &request);
	if (n && !gather(wr, offset, packet + headers, n))
		return 0;
	engine_.sink_.commit();
	wr.sent += packets;
	if (request.op == PRISM_READ && !(request.flags & PRISM_FLAG_R))
		return request.length - std::min(request.length, offset);
	return n + PRISM_RESULT_SIZE;
}

/* Going back ---------------------------------------------------------------------------------------------------- */

void Requester::lost()
{
	if (qp_.path && !req_.silent())
		qp_.path->cut(qp_);
	rewind();
}

/** Continues a PRISM READ in its resolution if the peer keeps that, else repeats it whole. */
std::uint32_t Requester::resume_at(const SendRequest &wr) const
{
	const bool reads = wr.kind == SendKind::prism && wr.prism.op == PRISM_READ;
	return reads && !(qp_.peer_features & PRISMDV_FEATURE_RESUME) ? 0 : wr.acked;
}

void Requester::rewind()
{
	if (qp_.path)
		qp_.path->release(qp_);
	engine_.counters.retransmits++;
	for (std::uint32_t i = sq_.head; i != sq_.tail; i++) {
		SendRequest &wr = sq_.at(i);
		if (!wr.started)
			break;
		wr.sent = resume_at(wr);
		wr.flight = 0;
		wr.slots = 0;
	}
	sq_.cursor = sq_.head;
	req_.flight = 0;
	req_.outstanding = 0;
	req_.rewound = true;
	PRISM_ASSERT(qp_.packets_under_way() <= 0);
	engine_.mark_dirty(qp_);
}

/** Returns the time to wait for a sign of the peer. */
Time Requester::timer() const
{
	const Time longest = qp_.attr.ack_timeout;
	return std::clamp(req_.waited, std::min(first_wait, longest), longest);
}

/** Starts the timer of what is under way, unless it runs. */
void Requester::begin_timer(Time now)
{
	if (qp_.deadline || qp_.packets_under_way() <= 0 || !qp_.attr.ack_timeout)
		return;
	req_.answers_seen = qp_.path ? qp_.path->answers() : 0;
	engine_.arm_timer(qp_, now + timer());
}

/**
 * Returns true if the answer is probably still to come, by a carrier that loses nothing. The peer has answered other
 * queue pairs since this was last asked: then the answer waits behind theirs, and a retransmission would be one more to
 * wait for. Or the timer was seen by @p late after its end: this process has stood still, and the peer perhaps, too.
 * The timer may run for four times its length (IBTA 9.7.6.1.3). It does not where a packet may be lost, or nobody is
 * answered: users wait for it.
 */
bool Requester::answer_may_come(Time late)
{
	constexpr std::uint8_t most_extensions = 3;
	if (!qp_.path || engine_.sink_.room(qp_) == Room::unknown)
		return false;
	const bool answers = std::exchange(req_.answers_seen, qp_.path->answers()) != qp_.path->answers();
	const bool extends = (answers || late >= timer()) && req_.extensions < most_extensions;
	req_.extensions = extends ? req_.extensions + 1 : 0;
	return extends;
}

void Requester::timeout(Time now)
{
	const Time late = now - std::exchange(qp_.deadline, 0);
	if (req_.wait_until) {
		req_.wait_until = 0;
		engine_.mark_dirty(qp_);
		return;
	}
	if (qp_.packets_under_way() <= 0)
		return;
	if (answer_may_come(late)) {
		engine_.arm_timer(qp_, now + timer());
		return;
	}
	engine_.counters.timeouts++;
	req_.waited += timer();
	const bool counts = req_.waited >= qp_.attr.ack_timeout;
	if (counts && req_.retries == 0) {
		engine_.counters.retry_exceeded++;
		complete_head(IBV_WC_RETRY_EXC_ERR);
		return;
	}
	/* Spread the timers: the peer may be overloaded by retransmissions. */
	const Time length = timer();
	const Time spread = length / 16 * ((qp_.qpn + qp_.attr.dest_qpn + req_.retries) % 16);
	req_.retries -= counts ? 1 : 0;
	rewind();
	engine_.arm_timer(qp_, now + length + spread);
}

void Requester::progressed()
{
	req_.retries = qp_.attr.retry_count;
	req_.rnr_retries = qp_.attr.rnr_retry;
	if (std::exchange(req_.waited, 0)) {
		/* The peer is there, so the network, or a full buffer, lost the packets. */
		if (qp_.path)
			qp_.path->cut(qp_);
		engine_.mark_dirty(qp_);
	}
	if (qp_.path)
		qp_.path->note_answer();
	req_.rewound = false;
	req_.extensions = 0;
	heard();
}

void Requester::restart_timer(Time now)
{
	req_.heard = false;
	qp_.deadline = 0;
	if (req_.wait_until) { /* if all under way is answered, only this timer ends the wait */
		engine_.arm_timer(qp_, req_.wait_until);
		return;
	}
	if (qp_.state != IBV_QPS_ERR)
		begin_timer(now);
}

void Requester::wait_for_receiver(std::uint8_t timer_code, Time now)
{
	if (req_.wait_until)
		return;
	if (req_.rnr_retries == 0) {
		engine_.counters.rnr_exceeded++;
		complete_head(IBV_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	if (req_.rnr_retries != rnr_retry_forever)
		req_.rnr_retries--;
	rewind();
	req_.wait_until = now + Time{rnr_times[timer_code & 31]} * 10'000;
	engine_.arm_timer(qp_, req_.wait_until);
}

/* Completing ---------------------------------------------------------------------------------------------------- */

void Requester::landed(SendRequest &wr, std::uint32_t bytes)
{
	bytes = std::min(bytes, wr.flight);
	PRISM_ASSERT(bytes <= req_.flight);
	wr.flight -= bytes;
	req_.flight -= bytes;
}

void Requester::take_slot(SendRequest &wr)
{
	PRISM_ASSERT(req_.outstanding < qp_.attr.max_rd_atomic);
	wr.slots++;
	req_.outstanding++;
}

void Requester::release_slot(SendRequest &wr)
{
	/* A rewound request holds no slot until it is sent again. */
	if (!wr.slots)
		return;
	PRISM_ASSERT(req_.outstanding > 0);
	wr.slots--;
	req_.outstanding--;
}

void Requester::complete_head(ibv_wc_status status, std::uint32_t byte_len, std::uint32_t vendor_err)
{
	PRISM_ASSERT(!sq_.empty());
	SendRequest &wr = sq_.at(sq_.head);
	landed(wr, wr.flight);
	while (wr.slots)
		release_slot(wr);
	if (wr.started)
		req_.unacked = psn_add(wr.first_psn, wr.psns);
	if (wr.signaled || status != IBV_WC_SUCCESS) {
		ibv_wc wc{};
		wc.wr_id = wr.wr_id;
		wc.status = status;
		wc.opcode = wr.wc_opcode;
		wc.vendor_err = vendor_err;
		wc.byte_len = byte_len;
		wc.qp_num = qp_.qpn;
		engine_.complete(*qp_.send_cq, wc, false);
	}
	if (sq_.cursor == sq_.head)
		sq_.cursor++;
	sq_.head++;
	engine_.report_drained(qp_);
	/* The completion tells the reason; QP_FATAL is for errors that no completion can report (IBTA 11.6.3). */
	if (status != IBV_WC_SUCCESS && status != IBV_WC_WR_FLUSH_ERR)
		engine_.fail_qp(qp_);
}

void Requester::flush()
{
	while (!sq_.empty())
		complete_head(IBV_WC_WR_FLUSH_ERR);
}

} // namespace prism::soft
