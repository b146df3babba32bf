/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "responder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "target_memory.hpp"

namespace prism::soft
{

/* Sending ------------------------------------------------------------------------------------------------------- */

std::uint8_t *Responder::begin_response(std::uint8_t opcode, std::uint32_t psn, std::uint32_t size, std::uint32_t pad)
{
	send_late_answer();
	/* As its request came: in a bundle or not. */
	std::uint8_t *packet = engine_.sink_.begin_for(qp_, opcode, size, !engine_.unbundles_);
	prism_bth bth{};
	bth.opcode = opcode;
	bth.pad = static_cast<u8>(pad);
	bth.qpn = qp_.attr.dest_qpn;
	bth.psn = psn;
	prism_bth_encode(packet, &bth);
	if (pad)
		std::memset(packet + size - pad, 0, pad);
	return packet;
}

void Responder::send_ack(std::uint8_t syndrome, std::uint32_t psn)
{
	std::uint8_t *packet = begin_response(rc_acknowledge, psn, bth_size + aeth_size);
	prism_aeth_encode(packet + bth_size, syndrome, resp_.msn);
	engine_.sink_.commit();
	acknowledged(psn);
	if ((syndrome & syndrome_class_mask) == syndrome_class_nak)
		engine_.counters.tx_nak++;
	else if ((syndrome & syndrome_class_mask) == syndrome_rnr)
		engine_.counters.tx_rnr_nak++;
}

/** Clears the pending acknowledgement: a packet sent at @p psn acknowledges all before it. A repeated answer does
 * not acknowledge later requests. */
void Responder::acknowledged(std::uint32_t psn)
{
	if (psn_diff(psn_add(psn, 1), resp_.expected_psn) >= 0)
		resp_.ack_pending = false;
}

/** Returns true if an older READ is being answered again: later requests are acknowledged after its answer. */
bool Responder::acknowledges_behind_stream() const
{
	const ReadStream &stream = resp_.stream;
	return stream.active && psn_diff(psn_add(stream.first_psn, stream.psns), resp_.expected_psn) < 0;
}

void Responder::send_pending_ack()
{
	if (acknowledges_behind_stream() || !resp_.ack_pending)
		return;
	send_late_answer();
	if (!std::exchange(resp_.ack_pending, false))
		return; /* the answer acknowledged everything */
	/* An acknowledgement with PSNs of a READ that is being answered would tell that the answer was lost. */
	const std::uint32_t next = resp_.stream.active ? resp_.stream.first_psn : resp_.expected_psn;
	send_ack(syndrome_ack, psn_add(next, PRISM_PSN_MASK));
}

bool Responder::ack_waits()
{
	return resp_.ack_pending && std::exchange(resp_.ack_may_wait, false);
}

void Responder::acknowledge_later(bool wanted, bool answer_likely)
{
	if (!wanted || qp_.type != IBV_QPT_RC)
		return;
	if (!resp_.ack_pending)
		resp_.ack_may_wait = answer_likely && engine_.travels_in_trains(qp_);
	resp_.ack_pending = true;
	engine_.mark_dirty(qp_);
}

/** Puts the answer off: a peer that has stored a message by this request fetches the reply by another, so the
 * answers leave together. */
void Responder::answer_later(std::uint32_t psn, const prism_response &response)
{
	send_late_answer();
	acknowledge_later(true, true);
	resp_.late = {psn, response};
}

void Responder::send_late_answer()
{
	if (!resp_.late)
		return;
	const LateAnswer answer = *resp_.late;
	resp_.late.reset();
	send_short(answer.psn, answer.response);
}

void Responder::send_short(std::uint32_t psn, const prism_response &response)
{
	acknowledged(psn);
	std::uint8_t *packet = begin_response(PRISM_OP_RESPONSE, psn, PRISM_RESPONSE_SIZE);
	prism_aeth_encode(packet + bth_size, syndrome_ack, resp_.msn);
	prism_response_encode(packet, &response);
	engine_.sink_.commit();
}

void Responder::send_atomic_ack(std::uint32_t psn, std::uint64_t old)
{
	acknowledged(psn);
	std::uint8_t *packet = begin_response(rc_atomic_acknowledge, psn, bth_size + aeth_size + atomic_ack_size);
	prism_aeth_encode(packet + bth_size, syndrome_ack, resp_.msn);
	put_unaligned_be64(old, packet + bth_size + aeth_size);
	engine_.sink_.commit();
}

/** Drops the rest of a message, as UC cannot report. A receive taken for it serves the next one. */
void Responder::drop_message()
{
	engine_.counters.rx_message_dropped++;
	resp_.message.active = false;
}

void Responder::send_word_ack(std::uint32_t psn)
{
	acknowledged(psn);
	std::uint8_t *packet = begin_response(rc_read_response_only, psn, bth_size + aeth_size);
	prism_aeth_encode(packet + bth_size, syndrome_ack, resp_.msn);
	engine_.sink_.commit();
}

/** Sends a NAK and fails. The owner is told once: by the receive concerned, or else by an event (IBTA 9.9.3, classes
 * A and C). */
void Responder::nak_and_fail(std::uint8_t syndrome, std::uint32_t psn, ibv_wc_status receive)
{
	if (qp_.type == IBV_QPT_UC && syndrome != syndrome_operational_error) {
		drop_message();
		return;
	}
	if (qp_.type == IBV_QPT_RC)
		send_ack(syndrome, psn);
	const ibv_event_type event = syndrome == syndrome_access_error ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR;
	const bool told = receive != not_its_fault && resp_.receive_taken;
	if (told)
		complete_receive(receive, nullptr, 0, 0);
	engine_.fail_qp(qp_);
	if (!told)
		engine_.listener_.qp_event(qp_, event);
}

/** Refuses a packet that the format forbids: executes nothing and tells the peer. */
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

/** Refuses a request that the access flags of the QP itself forbid. */
void Responder::refuse_by_flags(std::uint32_t psn)
{
	engine_.counters.rx_bad_flags++;
	nak_and_fail(syndrome_invalid_request, psn);
}

/** Refuses a packet, or a message, of a wrong length, or longer than the receive. */
void Responder::refuse_length(std::uint32_t psn)
{
	engine_.counters.rx_bad_format++;
	nak_and_fail(syndrome_invalid_request, psn, IBV_WC_LOC_LEN_ERR);
}

/** Refuses an access that no key allows, or whose memory has been unmapped. */
void Responder::refuse_by_key(std::uint32_t psn, ibv_wc_status receive)
{
	engine_.counters.rx_access_error++;
	nak_and_fail(syndrome_access_error, psn, receive);
}

/** Refuses more READ, atomic and PRISM requests at once than max_dest_rd_atomic allows. */
void Responder::refuse_excess(std::uint32_t psn)
{
	engine_.counters.rx_excess_request++;
	nak_and_fail(syndrome_invalid_request, psn);
}

/* Receiving ----------------------------------------------------------------------------------------------------- */

void Responder::receive(const prism_bth &bth, Packet packet, Time now)
{
	if (resp_.stream.active && hold(bth, packet, now))
		return;
	process(bth, packet, now);
}

/** Reports a lost request, once until it comes. */
void Responder::out_of_sequence()
{
	if (!resp_.nak_sent)
		send_ack(syndrome_psn_sequence, resp_.expected_psn);
	resp_.nak_sent = true;
}

void Responder::process(const prism_bth &bth, Packet packet, Time now)
{
	const std::int32_t ahead = psn_diff(bth.psn, resp_.expected_psn);
	if (ahead < 0) {
		duplicate(bth, packet, now);
		return;
	}
	if (ahead > 0) {
		engine_.counters.rx_out_of_sequence++;
		out_of_sequence();
		return;
	}
	resp_.nak_sent = false;
	execute(bth, packet, now);
}

/**
 * Notes that the peer bundles requests, so it takes bundled answers. Only if the next request is an entry: a packet
 * that matches no PSN must not make us send what the peer does not understand.
 */
void Responder::note_entry(std::uint32_t psn)
{
	if (psn == (resp_.stream.active ? resp_.held_psn : resp_.expected_psn))
		qp_.heard_bundle = true;
}

void Responder::execute(const prism_bth &bth, Packet packet, Time now)
{
	const std::uint16_t flags = rc_opcode_flags(bth.opcode);
	if (!flags)
		execute_prism(bth, packet, now);
	else if (packet.size() & 3)
		refuse(PRISM_BAD_FORMAT, bth.psn);
	else
		execute_standard(bth, flags, packet, now);
}

/* Ends ---------------------------------------------------------------------------------------------------------- */

void Responder::stop()
{
	/* Acknowledge completed requests: they must not fail at the peer. */
	if (resp_.ack_pending) {
		if (acknowledges_behind_stream())
			end_stream();
		send_pending_ack();
		engine_.sink_.flush();
	}
	TargetMemory target(engine_, qp_);
	prism_message_abort(&TargetMemory::env, target.context(), &resp_.prism);
	end_stream();
	drop_held();
	resp_.put_off.clear();
	resp_.message.active = false;
	resp_.ack_pending = false;
	resp_.late.reset();
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
