/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* READ responses of several packets: pacing them, and holding back the requests after them (docs/semantics.md S.9). */
#include "responder.hpp"

#include <algorithm>
#include <utility>

#include "target_memory.hpp"

namespace prism::soft
{

namespace
{

/*
 * Pacing of READ responses (docs/semantics.md S.9): a burst fits the smallest socket buffer that a peer may have, and
 * the interval lets a busy receiver drain it. The interval doubles when the peer asks again, as that means loss, and
 * shrinks slowly.
 */
constexpr std::uint32_t next_burst_bytes = 64 << 10;
constexpr std::uint32_t first_burst_bytes = 128 << 10;
constexpr std::uint32_t repeat_burst_bytes = 16 << 10; /* losses seldom come alone */
constexpr Time min_interval = 15'000;
constexpr Time max_interval = 4'000'000;
constexpr Time longest_silence = 500'000;
/** Interval at which a carrier without room is asked again if there are no turns, and the longest wait for room. */
constexpr Time stop_interval = 100'000'000;
constexpr Time longest_stop = 1'000'000'000;

/** Limit of the requests held while a stream is under way; further ones are dropped, to be retransmitted. */
constexpr std::size_t max_held_bytes = 256 << 10;

/** Returns true for the first packet of a READ, atomic or PRISM request. */
bool begins_request(std::uint8_t opcode)
{
	switch (opcode) {
	case PRISM_OP_WRITE_MIDDLE:
	case PRISM_OP_WRITE_LAST:
	case PRISM_OP_ALLOCATE_MIDDLE:
	case PRISM_OP_ALLOCATE_LAST:
		return false;
	default:
		return prism_opcode_is_request(opcode) || (rc_opcode_flags(opcode) & (op_read | op_atomic | op_word));
	}
}

} // namespace

/* READ responses ------------------------------------------------------------------------------------------------ */

/** Returns the number of PSNs that a request packet takes, by its header alone. */
std::uint32_t Responder::psns_of(const prism_bth &bth, Packet packet) const
{
	const bool reads =
		bth.opcode == rc_read_request || (bth.opcode == PRISM_OP_READ_REQUEST && !(bth.flags & PRISM_FLAG_R));
	if (!reads || packet.size() < bth_size + reth_size)
		return 1;
	return packets_for(get_unaligned_be32(packet.data() + bth_size + 12), qp_.attr.mtu);
}

/**
 * Adapts the interval when the peer asks again for the READ under way. Soon after a burst that means loss, and bursts
 * slow down. But if the pauses are too long for the peer's timer, slower bursts would never let the READ end.
 */
void Responder::adapt_interval(Time now)
{
	ReadStream &stream = resp_.stream;
	const Time timeout = qp_.attr.ack_timeout; /* the peer's timer is seldom different */
	const Time limit = timeout ? std::clamp(timeout / 4, min_interval, max_interval) : max_interval;
	const bool kept_waiting = now > stream.next - stream.interval + longest_silence;
	stream.interval =
		kept_waiting ? std::max(min_interval, stream.interval / 4) : std::min(limit, stream.interval * 2);
}

/**
 * Holds later requests while a response is being sent, so that requests access memory in order. Returns true if the
 * packet has been dealt with.
 */
bool Responder::hold(const prism_bth &bth, Packet packet, Time now)
{
	const std::int32_t at = psn_diff(bth.psn, resp_.stream.first_psn);
	if (at >= static_cast<std::int32_t>(resp_.stream.psns)) {
		hold_in_line(bth, packet);
		return true;
	}
	if (bth.opcode != rc_read_request && bth.opcode != PRISM_OP_READ_REQUEST)
		return false; /* saved answers do not disturb */
	put_off(bth, packet, now);
	return true;
}

/**
 * Puts off a repeated READ until the next burst is due: nobody gets more than a fair share of the device by repeating
 * requests. Of repeats of the READ under way the last counts, as it tells what is missing now.
 */
void Responder::put_off(const prism_bth &bth, Packet packet, Time now)
{
	const auto asks_for_stream = [this](std::uint32_t psn) { return psn_diff(psn, resp_.stream.first_psn) >= 0; };
	for (std::vector<std::uint8_t> &repeat : resp_.put_off) {
		prism_bth other;
		prism_bth_decode(repeat.data(), &other);
		if (other.psn != bth.psn && !(asks_for_stream(other.psn) && asks_for_stream(bth.psn)))
			continue;
		repeat.assign(packet.begin(), packet.end());
		return;
	}
	if (resp_.put_off.size() >= std::max<std::size_t>(resp_.saved.size(), 1)) {
		engine_.counters.rx_duplicate_dropped++;
		return;
	}
	/* Part of the response was lost: slow down. */
	if (asks_for_stream(bth.psn))
		adapt_interval(now);
	resp_.put_off.emplace_back(packet.begin(), packet.end());
}

/** Continues the READ under way from the requested packet, or answers an older one in between. */
void Responder::answer_put_off(Time now)
{
	const std::vector<std::uint8_t> packet = std::move(resp_.put_off.front());
	resp_.put_off.pop_front();
	prism_bth bth;
	prism_bth_decode(packet.data(), &bth);
	const std::int32_t at = psn_diff(bth.psn, resp_.stream.first_psn);
	if (!resp_.stream.active || at < 0) {
		answer_in_between(bth, packet, now);
	} else if (at >= static_cast<std::int32_t>(resp_.stream.psns)) {
		hold_in_line(bth, packet);
	} else {
		end_stream();
		process(bth, packet, now);
	}
}

/**
 * Answers an older READ that is asked for again. If its answer is short, the one under way continues after it; else the
 * peer has most likely gone back beyond that one and will come to it again.
 */
void Responder::answer_in_between(const prism_bth &bth, Packet packet, Time now)
{
	ReadStream interrupted = resp_.stream;
	interrupted.waited = true;
	const std::uint32_t held_psn = resp_.held_psn;
	end_stream();
	duplicate(bth, packet, now);
	if (resp_.stream.active) {
		/* Report the gap after it, in case the peer has not gone back: the network duplicates packets, too. */
		const bool lost = interrupted.active || resp_.held_gap || !resp_.held.empty();
		drop_held();
		resp_.held_psn = psn_add(resp_.stream.first_psn, resp_.stream.psns);
		if (lost)
			note_gap(held_psn);
		return;
	}
	resp_.held_psn = held_psn;
	if (interrupted.active && qp_.state != IBV_QPS_ERR) {
		resp_.stream = interrupted;
		engine_.streams_.splice(engine_.streams_.end(), qp_.place);
	}
}

void Responder::hold_in_line(const prism_bth &bth, Packet packet)
{
	/* The peer has come to new requests: the duplicates before them are not needed, or come again. */
	if (psn_diff(bth.psn, resp_.expected_psn) >= 0 && psn_diff(resp_.held_psn, resp_.expected_psn) < 0)
		resp_.held_psn = resp_.expected_psn;
	const std::int32_t ahead = psn_diff(bth.psn, resp_.held_psn);
	if (ahead < 0)
		return; /* held already */
	const bool full = resp_.held_bytes + packet.size() > max_held_bytes;
	if (ahead > 0 || full) {
		(ahead > 0 ? engine_.counters.rx_out_of_sequence : engine_.counters.rx_held_overflow)++;
		note_gap(psn_add(bth.psn, 1));
		return;
	}
	/* Do not count duplicates: the peer may have their answers already, and ask for others in their place. */
	const bool counts = begins_request(bth.opcode) && psn_diff(bth.psn, resp_.expected_psn) >= 0;
	const std::uint32_t served = resp_.held_requests + counts + !resp_.stream.duplicate;
	resp_.held.push_back({{packet.begin(), packet.end()}, counts, served > qp_.attr.max_dest_rd_atomic});
	resp_.held_requests += counts;
	resp_.held_bytes += packet.size();
	resp_.held_psn = psn_add(bth.psn, psns_of(bth, packet));
	if (resp_.held_gap && psn_diff(resp_.held_lost, resp_.held_psn) <= 0)
		resp_.held_gap = false;
}

/** Notes that a packet before @p end was lost and is not held. */
void Responder::note_gap(std::uint32_t end)
{
	if (!resp_.held_gap || psn_diff(end, resp_.held_lost) > 0)
		resp_.held_lost = end;
	resp_.held_gap = true;
}

void Responder::drop_held()
{
	resp_.held.clear();
	resp_.held_bytes = 0;
	resp_.held_requests = 0;
	resp_.held_gap = false;
}

/** Answers held packets, in order, until a stream begins or none is left. */
void Responder::release_held(Time now)
{
	while (!resp_.stream.active && qp_.state != IBV_QPS_ERR && !(resp_.held.empty() && resp_.put_off.empty())) {
		if (!resp_.put_off.empty()) {
			answer_put_off(now);
			continue;
		}
		const HeldPacket held = std::move(resp_.held.front());
		resp_.held.pop_front();
		PRISM_ASSERT(resp_.held_bytes >= held.bytes.size());
		resp_.held_bytes -= held.bytes.size();
		prism_bth bth;
		prism_bth_decode(held.bytes.data(), &bth);
		resp_.held_requests -= held.counts;
		resp_.excess = held.excess;
		process(bth, held.bytes, now);
		resp_.excess = false;
	}
	if (resp_.held_gap && !resp_.stream.active)
		report_gap();
}

/**
 * Reports that a request after the READ was lost, but after the READ's answer, lest the peer take the answer for lost.
 * Among duplicates, acknowledging everything suffices: the peer sees which answer it still lacks.
 */
void Responder::report_gap()
{
	resp_.held_gap = false;
	if (resp_.held_psn == resp_.expected_psn)
		out_of_sequence();
	else
		acknowledge_later(true);
}

void Responder::start_stream(const ReadStream &fresh, Time now)
{
	PRISM_ASSERT(!resp_.stream.active);
	const Time interval = std::max(min_interval, resp_.stream.interval);
	send_late_answer();
	if (!fresh.duplicate)
		resp_.ack_pending = false;
	resp_.stream = fresh;
	resp_.stream.interval = interval;
	resp_.stream.active = true;
	resp_.stream.begun = engine_.running_.epoch();
	if (resp_.held.empty())
		resp_.held_psn = psn_add(fresh.first_psn, fresh.psns);
	const std::uint32_t end = fresh.offset + (fresh.duplicate ? repeat_burst_bytes : first_burst_bytes);
	send_until(end, now);
	if (resp_.stream.active)
		engine_.streams_.splice(engine_.streams_.end(), qp_.place);
}

void Responder::continue_stream(Time now)
{
	/* Take turns with older READs: a grace period waits for the end of this one, however often a peer asks for
	 * those (S.7.3). */
	if (resp_.put_off.empty() || std::exchange(resp_.stream.waited, false))
		send_until(resp_.stream.offset + next_burst_bytes, now);
	else
		answer_put_off(now);
	if (!resp_.stream.active)
		release_held(now);
}

/** Sends a burst, or as much of it as the device has room for in this round. */
void Responder::send_until(std::uint32_t end, Time now)
{
	ReadStream &stream = resp_.stream;
	const std::uint32_t begin = stream.offset;
	Room left = room();
	while (stream.offset < end && engine_.read_room_ > 0 && left != Room::no) {
		send_read_packet();
		if (!stream.active)
			return;
		left = room();
	}
	if (left == Room::no) {
		stop_stream(stream.offset > begin, now);
		return;
	}
	stream.stopped = false;
	stream.next = stream.offset >= end && left == Room::unknown ? now + stream.interval : now;
}

/** Stops the stream until there is room. Ends it for a peer that takes nothing for long, as grace periods wait for it
 * (S.7.3); that peer asks again.
 */
void Responder::stop_stream(bool progressed, Time now)
{
	ReadStream &stream = resp_.stream;
	if (!stream.stopped || progressed)
		stream.stopped_at = now;
	stream.stopped = true;
	stream.next = now + stop_interval;
	if (stream.active && now >= stream.stopped_at + longest_stop) {
		end_stream();
		acknowledge_later(true); /* this answer is missing in it */
	}
}

Room Responder::room()
{
	return engine_.sink_.room(qp_);
}

/** Makes the packet of @p read's answer that begins at @p offset, with @p psn and what lies at @p data. Returns false
 * if that is unmapped. */
bool Responder::make_read_packet(
	const Resolution &read, bool prism, std::uint32_t offset, std::uint32_t psn, std::uint8_t *data)
{
	const std::uint32_t n = std::min(qp_.attr.mtu, read.length - offset);
	const bool first = offset == 0, last = offset + n == read.length;
	/* First, middle, last, only: the order in both opcode ranges. */
	const std::uint8_t place = first ? (last ? 3 : 0) : (last ? 2 : 1);
	TargetMemory target(engine_, qp_);
	const prism_span span{data, read.va + offset, n};
	const std::uint32_t header =
		prism ? std::uint32_t{PRISM_READ_RESPONSE_HEADER} : bth_size + (first || last ? aeth_size : 0);
	const std::uint32_t pad = pad_for(n);
	const std::uint8_t opcode =
		(prism ? std::uint8_t{PRISM_OP_READ_RESPONSE_FIRST} : std::uint8_t{rc_read_response_first}) + place;
	std::uint8_t *packet = begin_response(opcode, psn, header + n + pad, pad);
	if (prism || first || last)
		prism_aeth_encode(packet + bth_size, syndrome_ack, resp_.msn);
	if (prism) {
		put_unaligned_be32(read.number, packet + bth_size + aeth_size);
		put_unaligned_be32(read.length, packet + bth_size + aeth_size + 4);
	}
	prism_load(&TargetMemory::env, target.context(), &span, 0, packet + header, n);
	return !target.faulted();
}

void Responder::send_read_packet()
{
	ReadStream &stream = resp_.stream;
	PRISM_ASSERT(stream.active && stream.offset <= stream.read.length);
	const std::uint32_t mtu = qp_.attr.mtu;
	const std::uint32_t psn = psn_add(stream.first_psn, stream.offset / mtu);
	const std::uint32_t n = std::min(mtu, stream.read.length - stream.offset);
	std::uint8_t *const data =
		TargetMemory(engine_, qp_)
			.resolve(stream.read.rkey, stream.read.va + stream.offset, n, PRISM_RIGHT_READ);
	if ((n && !data) || !make_read_packet(stream.read, stream.prism, stream.offset, psn, data)) {
		lose_stream_memory(psn);
		return;
	}
	if (stale()) {
		end_stream();
		acknowledge_later(true); /* this answer is missing in it */
		return;
	}
	engine_.sink_.commit();
	engine_.read_room_ -= static_cast<std::int32_t>(n);
	stream.offset += n;
	if (stream.offset == stream.read.length) {
		/* The whole answer was sent: the next may go a little faster. */
		stream.interval -= stream.interval / 8;
		end_stream();
	}
}

/** Answers a new READ whose data, which lie at @p data, fit into one packet. Returns false if there is no room: then it
 * takes a stream. */
bool Responder::send_at_once(const Resolution &read, bool prism, std::uint32_t psn, std::uint8_t *data)
{
	PRISM_ASSERT(!resp_.stream.active && read.length <= qp_.attr.mtu);
	send_late_answer();
	if (engine_.read_room_ <= 0 || room() == Room::no)
		return false;
	resp_.ack_pending = false;
	if (!make_read_packet(read, prism, 0, psn, data)) {
		refuse_by_key(psn);
		return true;
	}
	engine_.sink_.commit();
	engine_.read_room_ -= static_cast<std::int32_t>(read.length);
	return true;
}

/**
 * Returns true if a READ that continues an earlier resolution must end: a buffer in it has been handed out meanwhile,
 * and may have been written before it was read here. The peer has to ask again, and then gets a new resolution.
 */
bool Responder::stale()
{
	Resolution &read = resp_.stream.read;
	return resp_.stream.resumed && engine_.running_.epochs.hand_outs.changed(read.handed_out) && !unchanged(read);
}

/** Handles memory that was deregistered or unmapped while its READ was under way. */
void Responder::lose_stream_memory(std::uint32_t psn)
{
	end_stream();
	if (resp_.stream.duplicate)
		fail_duplicate(psn);
	else
		refuse_by_key(psn);
}

void Responder::end_stream()
{
	resp_.stream.active = false;
	if (resp_.ack_pending)
		engine_.mark_dirty(qp_);
	if (qp_.place.empty())
		qp_.place.splice(qp_.place.end(), engine_.streams_, std::ranges::find(engine_.streams_, &qp_));
	engine_.running_.keep(engine_.oldest_stream());
}

} // namespace prism::soft
