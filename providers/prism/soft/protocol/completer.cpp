/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "completer.hpp"

#include <algorithm>

#include "base/assertion.hpp"

namespace prism::soft
{

namespace
{

bool ends_before(const SendRequest &wr, std::uint32_t psn)
{
	return psn_diff(psn, psn_add(wr.first_psn, wr.psns)) >= 0;
}

/** Returns the PSN of the (first packet of the) response to @p wr. */
std::uint32_t response_psn(const SendRequest &wr)
{
	const bool reads = wr.prism.op == PRISM_READ;
	return reads ? wr.first_psn : psn_add(wr.first_psn, wr.psns - 1);
}

/** Numbers of resolutions run over 32 bits and wrap. */
bool is_newer(std::uint32_t resolution, std::uint32_t than)
{
	return static_cast<std::int32_t>(resolution - than) > 0;
}

/** Returns the opcode of a packet of a READ's answer at this place. */
std::uint8_t read_opcode(bool first, bool last)
{
	if (first)
		return last ? PRISM_OP_READ_RESPONSE_ONLY : PRISM_OP_READ_RESPONSE_FIRST;
	return last ? PRISM_OP_READ_RESPONSE_LAST : PRISM_OP_READ_RESPONSE_MIDDLE;
}

} // namespace

void Completer::receive(const prism_bth &bth, std::span<const std::uint8_t> packet, Time now)
{
	const std::uint16_t flags = rc_opcode_flags(bth.opcode);
	if ((qp_.state != IBV_QPS_RTS && qp_.state != IBV_QPS_SQD) || packet.size() < bth_size + aeth_size) {
		drop();
		return;
	}
	if (bth.opcode == rc_acknowledge)
		acknowledge(bth, packet, now);
	else if (bth.opcode == rc_atomic_acknowledge)
		atomic_response(bth, packet);
	else if (flags & op_read_response)
		read_response(bth, flags, packet);
	else if (bth.opcode == PRISM_OP_RESPONSE)
		prism_short_response(bth, packet);
	else if (prism_opcode_is_response(bth.opcode))
		prism_read_response(bth, packet);
	else
		drop();
}

/** Handles a missing response: goes back, once for each place where the loss may be. */
void Completer::loss()
{
	if (!qp_.req.rewound)
		requester_.lost();
}

void Completer::acknowledge_message(SendRequest &wr, std::uint32_t packets)
{
	PRISM_ASSERT(wr.acked < packets && packets <= wr.psns);
	requester_.landed(wr, (packets - wr.acked) * qp_.attr.mtu);
	wr.acked = packets;
	wr.sent = std::max(wr.sent, packets);
	qp_.req.unacked = psn_add(wr.first_psn, packets);
	requester_.progressed();
}

/**
 * Acknowledges everything before @p psn. Completes SENDs and WRITEs; stops at a request whose response is missing and
 * returns false.
 */
bool Completer::acknowledge_before(std::uint32_t psn)
{
	SendQueue &sq = qp_.sq;
	while (!sq.empty()) {
		SendRequest &wr = sq.at(sq.head);
		if (!wr.started || psn_diff(psn, wr.first_psn) <= 0)
			return true;
		const auto packets = static_cast<std::uint32_t>(psn_diff(psn, wr.first_psn));
		if (needs_response(wr)) {
			/* The packets of a PRISM message may be acknowledged, but for the last, which is answered. */
			const bool sends = wr.kind == SendKind::prism && wr.prism.op != PRISM_READ;
			const std::uint32_t landed = std::min(packets, wr.psns - 1);
			if (sends && landed > wr.acked)
				acknowledge_message(wr, landed);
			return packets <= wr.acked;
		}
		if (packets < wr.psns) {
			if (packets > wr.acked)
				acknowledge_message(wr, packets);
			return true;
		}
		requester_.complete_head(IBV_WC_SUCCESS, wr.length);
		requester_.progressed();
	}
	return true;
}

void Completer::acknowledge(const prism_bth &bth, std::span<const std::uint8_t> packet, Time now)
{
	if (packet.size() != bth_size + aeth_size) {
		drop();
		return;
	}
	const std::uint8_t syndrome = packet[bth_size];
	const std::uint8_t kind = syndrome & syndrome_class_mask;

	/* An answer to a request that was never sent, or was done long ago. */
	if (psn_diff(bth.psn, qp_.req.next_psn) >= 0 || psn_diff(bth.psn, qp_.req.unacked) < 0) {
		drop();
		return;
	}
	if (kind == syndrome_class_nak) {
		nak(syndrome, bth.psn);
		return;
	}
	if (kind == syndrome_rnr) {
		engine_.counters.rx_rnr_nak++;
		if (acknowledge_before(bth.psn))
			requester_.wait_for_receiver(syndrome & 31, now);
		else
			loss();
		return;
	}
	if (kind == syndrome_class_ack && !acknowledge_before(psn_add(bth.psn, 1)))
		loss();
	engine_.mark_dirty(qp_);
}

void Completer::nak(std::uint8_t syndrome, std::uint32_t psn)
{
	engine_.counters.rx_nak++;
	if (syndrome == syndrome_psn_sequence) {
		acknowledge_before(psn);
		loss();
		return;
	}
	/*
	 * The responder has gone to ERROR and will answer no more. If the answer to an earlier request was lost, that
	 * request may have been executed, and is not the refused one.
	 */
	while (!acknowledge_before(psn) && ends_before(qp_.sq.at(qp_.sq.head), psn))
		requester_.complete_head(IBV_WC_WR_FLUSH_ERR);
	if (qp_.sq.empty())
		return;
	switch (syndrome) {
	case syndrome_invalid_request:
		requester_.complete_head(IBV_WC_REM_INV_REQ_ERR);
		break;
	case syndrome_access_error:
		requester_.complete_head(IBV_WC_REM_ACCESS_ERR);
		break;
	default:
		requester_.complete_head(IBV_WC_REM_OP_ERR);
		break;
	}
}

/** Returns the request that a response at @p psn answers, if everything before it is known to be done; else nullptr. */
SendRequest *Completer::answered(std::uint32_t psn)
{
	SendQueue &sq = qp_.sq;
	if (psn_diff(psn, qp_.req.next_psn) >= 0 || psn_diff(psn, qp_.req.unacked) < 0) {
		drop();
		return nullptr;
	}
	/* The response itself acknowledges all packets before its request. */
	while (!sq.empty()) {
		SendRequest &wr = sq.at(sq.head);
		if (!wr.started) {
			drop();
			return nullptr;
		}
		if (psn_diff(psn, psn_add(wr.first_psn, wr.psns)) < 0)
			return &wr;
		if (needs_response(wr)) {
			drop();
			loss();
			return nullptr;
		}
		requester_.complete_head(IBV_WC_SUCCESS, wr.length);
		requester_.progressed();
	}
	drop();
	return nullptr;
}

/** Copies into local memory; if a sge has gone, the QP fails. */
bool Completer::deliver(SendRequest &wr, std::uint32_t offset, const std::uint8_t *data, std::uint32_t length)
{
	if (requester_.scatter(wr, offset, data, length))
		return true;
	requester_.complete_head(IBV_WC_LOC_PROT_ERR);
	return false;
}

void Completer::atomic_response(const prism_bth &bth, std::span<const std::uint8_t> packet)
{
	if (packet.size() != bth_size + aeth_size + atomic_ack_size) {
		drop();
		return;
	}
	SendRequest *wr = answered(bth.psn);
	if (!wr || wr->kind != SendKind::atomic) {
		if (wr)
			drop();
		return;
	}
	const std::uint64_t old = get_unaligned_be64(packet.data() + bth_size + aeth_size);
	if (!deliver(*wr, 0, reinterpret_cast<const std::uint8_t *>(&old), sizeof(old)))
		return;
	requester_.complete_head(IBV_WC_SUCCESS, sizeof(old));
	requester_.progressed();
	engine_.mark_dirty(qp_);
}

void Completer::read_response(const prism_bth &bth, std::uint16_t flags, std::span<const std::uint8_t> packet)
{
	const std::uint32_t header = bth_size + (flags & (op_first | op_last) ? aeth_size : 0);
	if (packet.size() < header + bth.pad) {
		drop();
		return;
	}
	SendRequest *wr = answered(bth.psn);
	if (wr && wr->kind == SendKind::atomic_write && bth.opcode == rc_read_response_only &&
		packet.size() == header) {
		requester_.complete_head(IBV_WC_SUCCESS, wr->length);
		requester_.progressed();
		engine_.mark_dirty(qp_);
		return;
	}
	if (!wr || wr->kind != SendKind::read) {
		if (wr)
			drop();
		return;
	}
	const std::uint32_t at = static_cast<std::uint32_t>(psn_diff(bth.psn, wr->first_psn));
	if (at != wr->acked) {
		drop();
		if (at > wr->acked)
			loss();
		return;
	}
	const std::uint32_t mtu = qp_.attr.mtu;
	const std::uint32_t offset = at * mtu;
	const std::uint32_t expected = std::min(mtu, wr->length - offset);
	if (packet.size() != header + expected + bth.pad) {
		drop();
		return;
	}
	if (!deliver(*wr, offset, packet.data() + header, expected))
		return;
	wr->acked++;
	wr->sent = std::max(wr->sent, wr->acked);
	requester_.landed(*wr, expected);
	qp_.req.unacked = psn_add(wr->first_psn, wr->acked);
	const bool done = wr->acked == wr->psns;
	if (done || wr->acked % read_piece_packets(mtu) == 0) {
		requester_.release_slot(*wr);
		engine_.mark_dirty(qp_);
	}
	if (done)
		requester_.complete_head(IBV_WC_SUCCESS, wr->length);
	requester_.progressed();
}

void Completer::finish_prism(SendRequest &wr, const prism_response &response)
{
	bool ok = true;
	if (wr.prism.op == PRISM_CAS &&
		(response.status == PRISM_STATUS_OK || response.status == PRISM_STATUS_CAS_MISS))
		ok = requester_.scatter(wr, 0, response.result, wr.prism.cas_size);
	else if (wr.prism.op == PRISM_ALLOCATE)
		ok = requester_.store_result(wr, response.status == PRISM_STATUS_OK ? response.value : 0);
	if (!ok) {
		requester_.complete_head(IBV_WC_LOC_PROT_ERR);
		return;
	}
	requester_.complete_head(IBV_WC_SUCCESS, prism_response_length(&wr.prism, &response), response.status);
	requester_.progressed();
	engine_.mark_dirty(qp_);
}

void Completer::prism_short_response(const prism_bth &bth, std::span<const std::uint8_t> packet)
{
	prism_response response;
	if (!prism_response_decode(packet.data(), static_cast<std::uint32_t>(packet.size()), &response)) {
		drop();
		return;
	}
	SendRequest *wr = answered(bth.psn);
	if (!wr)
		return;
	if (wr->kind != SendKind::prism || bth.psn != response_psn(*wr) ||
		!prism_response_fits(&wr->prism, &response)) {
		drop();
		return;
	}
	finish_prism(*wr, response);
}

/** Returns true if a conditional request was sent right after the oldest request: a READ's first status may stand
 * (S.9.3). */
bool Completer::head_is_followed()
{
	SendQueue &sq = qp_.sq;
	if (sq.head + 1 == sq.tail)
		return false;
	const SendRequest &next = sq.at(sq.head + 1);
	return next.started && next.kind == SendKind::prism && (next.prism.flags & PRISM_FLAG_C);
}

/** Returns true if the READ may begin with this resolution. It must not be older than a READ before it; a late
 * answer may be, if both have been resolved again since. */
bool Completer::may_begin(const SendRequest &wr, std::uint32_t resolution)
{
	if (wr.latched)
		return is_newer(resolution, wr.resolution);
	const std::optional<std::uint32_t> &newest = qp_.req.newest_read;
	return !newest || is_newer(resolution, *newest) || head_is_followed();
}

void Completer::finish_read(std::uint32_t resolution, std::uint32_t length)
{
	PRISM_ASSERT(qp_.sq.at(qp_.sq.head).latched);
	std::optional<std::uint32_t> &newest = qp_.req.newest_read;
	if (!newest || is_newer(resolution, *newest))
		newest = resolution;
	requester_.complete_head(IBV_WC_SUCCESS, length);
}

/** Returns true if this packet continues, or begins, the READ's response. Two resolutions are never spliced. */
bool Completer::latch(SendRequest &wr, const prism_bth &bth, std::uint32_t resolution, std::uint32_t length)
{
	const bool begins = bth.psn == wr.first_psn;
	if (wr.latched && resolution == wr.resolution)
		return length == wr.read_length;
	if (!begins || !may_begin(wr, resolution))
		return false;
	wr.latched = true;
	wr.resolution = resolution;
	wr.read_length = length;
	wr.acked = 0;
	/* A peer that keeps resolutions had to resolve anew: it reads other memory now, of which we have nothing. */
	if (qp_.peer_features & PRISMDV_FEATURE_RESUME)
		wr.reached = 0;
	return true;
}

void Completer::prism_read_response(const prism_bth &bth, std::span<const std::uint8_t> packet)
{
	if (packet.size() < std::size_t{PRISM_READ_RESPONSE_HEADER} + bth.pad) {
		drop();
		return;
	}
	SendRequest *wr = answered(bth.psn);
	if (!wr || wr->kind != SendKind::prism || wr->prism.op != PRISM_READ || (wr->prism.flags & PRISM_FLAG_R)) {
		if (wr)
			drop();
		return;
	}
	const std::uint8_t *rdeth = packet.data() + bth_size + aeth_size;
	const std::uint32_t resolution = get_unaligned_be32(rdeth);
	const std::uint32_t length = get_unaligned_be32(rdeth + 4);
	const auto at = static_cast<std::uint32_t>(psn_diff(bth.psn, wr->first_psn));
	const std::uint32_t mtu = qp_.attr.mtu;
	const std::uint32_t offset = at * mtu;
	const std::uint32_t expected = std::min(mtu, length - std::min(length, offset));
	const bool first = at == 0, last = offset + expected == length;
	/* A dropped packet must change nothing, so check all of it before it may begin a resolution. */
	if (!prism_length_fits(&wr->prism, length) || (!first && !expected) || bth.opcode != read_opcode(first, last) ||
		packet.size() != std::size_t{PRISM_READ_RESPONSE_HEADER} + expected + bth.pad) {
		drop();
		return;
	}
	if (!latch(*wr, bth, resolution, length)) {
		engine_.counters.rx_resolution_dropped++;
		/* A first packet is still missing, unless this is a late one of a resolution before the latched one. */
		if (!wr->latched || is_newer(resolution, wr->resolution)) {
			wr->latched = false;
			wr->acked = 0;
			loss();
		}
		return;
	}
	if (at != wr->acked) {
		drop();
		if (at > wr->acked)
			loss();
		return;
	}
	if (!deliver(*wr, offset, packet.data() + PRISM_READ_RESPONSE_HEADER, expected))
		return;
	wr->acked++;
	requester_.landed(*wr, expected);
	if (!last) {
		/* Packets that an earlier resolution had brought too are no progress: else a READ could go on for
		 * ever. */
		if (wr->acked <= wr->reached) {
			requester_.heard();
			return;
		}
		wr->reached = wr->acked;
		requester_.progressed();
		return;
	}
	finish_read(resolution, length);
	requester_.progressed();
	engine_.mark_dirty(qp_);
}

} // namespace prism::soft
