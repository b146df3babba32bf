/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The responder half of a queue pair. RC executes requests in order, once (IBTA 9.7.4, docs/semantics.md S.9); UC and
 * UD drop requests that cannot be executed, and answer nothing (IBTA 9.8.2, 9.8.3).
 */
#pragma once

#include "engine.hpp"

namespace prism::soft
{

class Responder
{
public:
	Responder(Engine &engine, QueuePair &qp) : engine_(engine), qp_(qp), resp_(qp.resp) {}

	/** Handles one request packet; everything in it is hostile until checked. */
	void receive(const prism_bth &bth, std::span<const std::uint8_t> packet, Time now);

	/** Handles a packet of UC. */
	void receive_unacknowledged(const prism_bth &bth, std::span<const std::uint8_t> packet);
	/** Handles a packet of UD. */
	void receive_datagram(const Route &route, const prism_bth &bth, std::span<const std::uint8_t> packet);

	/** Notes that the request at @p psn comes as an entry of a bundle. */
	void note_entry(std::uint32_t psn);

	/** Sends the acknowledgement that the packets of this batch asked for. */
	void send_pending_ack();
	/** Returns true if it had better be sent after the next batch. To be asked once in each batch. */
	bool ack_waits();
	/** Returns true if no answer is pending: an answer sent after a request of ours would be received later than
	 * the request. */
	[[nodiscard]] bool only_acknowledges() const { return !resp_.late; }
	/** Sends the next burst of a paced READ response. */
	void continue_stream(Time now);
	/** Returns the room on the way to the peer. */
	[[nodiscard]] Room room();

	/** Leaves RTS: takes back the buffer of an unfinished ALLOCATE, ends the stream, drops held packets. */
	void stop();
	/** Completes posted receives as flushed. */
	void flush();

private:
	using Packet = std::span<const std::uint8_t>;
	/** Answer to a READ: from its first resolution, from one made again now, or from an earlier one. */
	enum class Answer {
		first,
		resolved_again,
		resumed
	};

	void process(const prism_bth &bth, Packet packet, Time now);
	void out_of_sequence();
	void execute(const prism_bth &bth, Packet packet, Time now);
	void execute_standard(const prism_bth &bth, std::uint16_t flags, Packet packet, Time now);
	void execute_message(const prism_bth &bth, std::uint16_t flags, Packet packet);
	void execute_read(const prism_bth &bth, Packet packet, Time now);
	void execute_atomic(const prism_bth &bth, Packet packet);
	void execute_atomic_write(const prism_bth &bth, Packet packet);
	std::uint8_t *atomic_target(std::uint32_t psn, std::uint64_t va, std::uint32_t rkey, unsigned right);
	void execute_prism(const prism_bth &bth, Packet packet, Time now);
	void refuse_unmapped(const prism_request &request, prism_buffer buffer, prism_result &result);
	void follow(std::uint32_t psn, const prism_request &request);
	void resolve(SavedResponse &saved, const prism_request &request, const prism_result &result);
	void send_resolved(const SavedResponse &saved, std::uint32_t packet, Answer answer, Time now);
	void finish_prism(const prism_bth &bth, const prism_request &request, const prism_result &result,
		std::uint8_t *data, Time now);

	bool begin_message(const prism_bth &bth, std::uint16_t flags, Packet &body);
	bool begin_write(const prism_bth &bth, Packet &body);
	bool take_receive(const prism_bth &bth);
	enum class Popped : std::uint8_t {
		yes,
		none,
		too_small
	};
	[[nodiscard]] Popped pop_receive(std::uint64_t length = 0);
	bool store_message(const prism_bth &bth, Packet payload);
	ibv_wc_status store_received(Packet payload);
	bool finish_message(const prism_bth &bth, std::uint16_t flags, std::uint32_t tail);
	void complete_receive(ibv_wc_status status, const prism_bth *bth, std::uint16_t flags, std::uint32_t tail);

	void duplicate(const prism_bth &bth, Packet packet, Time now);
	void duplicate_prism(const prism_bth &bth, Packet packet, Time now);
	void repeat_read(SavedResponse &saved, const prism_bth &bth, const prism_request &request, Time now);
	void resolve_again(SavedResponse &saved, const prism_bth &bth, const prism_request &request, Time now);
	[[nodiscard]] bool unchanged(Resolution &read);
	void fail_duplicate(std::uint32_t psn);
	void replay(const SavedResponse &saved);
	SavedResponse *find_saved(std::uint32_t psn);
	SavedResponse &save(std::uint32_t psn);

	bool hold(const prism_bth &bth, Packet packet, Time now);
	void hold_in_line(const prism_bth &bth, Packet packet);
	void put_off(const prism_bth &bth, Packet packet, Time now);
	void answer_put_off(Time now);
	void answer_in_between(const prism_bth &bth, Packet packet, Time now);
	void note_gap(std::uint32_t end);
	void report_gap();
	void adapt_interval(Time now);
	void drop_held();
	[[nodiscard]] std::uint32_t psns_of(const prism_bth &bth, Packet packet) const;
	void release_held(Time now);
	void start_stream(const ReadStream &stream, Time now);
	void send_until(std::uint32_t end, Time now);
	void stop_stream(bool progressed, Time now);
	void send_read_packet();
	bool make_read_packet(
		const Resolution &read, bool prism, std::uint32_t offset, std::uint32_t psn, std::uint8_t *data);
	bool send_at_once(const Resolution &read, bool prism, std::uint32_t psn, std::uint8_t *data);
	[[nodiscard]] bool stale();
	void lose_stream_memory(std::uint32_t psn);
	void end_stream();

	void advance(std::uint32_t psns)
	{
		PRISM_ASSERT(psns > 0);
		resp_.expected_psn = psn_add(resp_.expected_psn, psns);
	}
	bool access_allowed(std::uint32_t access) const { return (qp_.attr.access & access) == access; }
	bool prism_access_allowed(const prism_request &request) const;
	std::uint8_t *begin_response(std::uint8_t opcode, std::uint32_t psn, std::uint32_t size, std::uint32_t pad = 0);
	void send_ack(std::uint8_t syndrome, std::uint32_t psn);
	void acknowledged(std::uint32_t psn);
	[[nodiscard]] bool acknowledges_behind_stream() const;
	void acknowledge_later(bool wanted, bool answer_likely = false);
	void answer_later(std::uint32_t psn, const prism_response &response);
	void send_late_answer();
	void send_short(std::uint32_t psn, const prism_response &response);
	void send_atomic_ack(std::uint32_t psn, std::uint64_t old);
	void send_word_ack(std::uint32_t psn);
	void drop_message();
	[[nodiscard]] bool too_many() const { return resp_.saved.empty() || resp_.excess; }
	/* Status of the receive that the message has taken, if the receive is at fault. */
	static constexpr ibv_wc_status not_its_fault = IBV_WC_SUCCESS;
	void nak_and_fail(std::uint8_t syndrome, std::uint32_t psn, ibv_wc_status receive = not_its_fault);
	void refuse(prism_reject reason, std::uint32_t psn);
	void refuse_length(std::uint32_t psn);
	void refuse_by_key(std::uint32_t psn, ibv_wc_status receive = IBV_WC_LOC_ACCESS_ERR);
	void refuse_excess(std::uint32_t psn);
	void refuse_by_flags(std::uint32_t psn);
	void count_result(const prism_request &request, const prism_result &result);

	Engine &engine_;
	QueuePair &qp_;
	ResponderState &resp_;
};

} // namespace prism::soft
