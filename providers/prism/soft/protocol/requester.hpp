/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The requester half of an RC queue pair: sends work requests, goes back N (IBTA 9.7.3, 9.7.5). */
#pragma once

#include "engine.hpp"

namespace prism::soft
{

/**
 * Returns the packets in one piece of a standard READ. It is requested in pieces, counted from its start, so that its
 * response never exceeds the window.
 */
inline std::uint32_t read_piece_packets(std::uint32_t mtu)
{
	return (64u << 10) / mtu;
}

/** Returns true if the request sends nothing to the peer. */
inline bool is_local(const SendRequest &wr)
{
	return wr.kind == SendKind::bind_window || wr.kind == SendKind::local_invalidate;
}

class Requester
{
public:
	Requester(Engine &engine, QueuePair &qp) : engine_(engine), qp_(qp), sq_(qp.sq), req_(qp.req) {}

	/**
	 * Sends all that may be sent.
	 * @return true if it stopped for want of room: then the next progress() must call it too.
	 */
	bool transmit(Time now);
	/** Returns true if all that waits to be sent is one packet, longer than an acknowledgement. */
	[[nodiscard]] bool has_one_long_packet() const;
	/** Handles the end of the retransmission or RNR timer. */
	void timeout(Time now);

	/** Handles a loss: retransmits, and reduces the bytes under way. */
	void lost();
	/** Goes back to the oldest unanswered PSN. */
	void rewind();
	/** Notes progress: the retry counters start anew. */
	void progressed();
	/** Notes that the peer lives, though it has brought nothing new. */
	void heard() { req_.heard = true; }
	/** Restarts the timer after a packet that has brought signs of the peer. */
	void restart_timer(Time now);
	/** Waits as the peer's RNR NAK asks, then retransmits. */
	void wait_for_receiver(std::uint8_t timer_code, Time now);

	/** Completes the oldest request. With an error status the QP goes to ERROR. */
	void complete_head(ibv_wc_status status, std::uint32_t byte_len = 0, std::uint32_t vendor_err = 0);
	void flush();

	/** Copies response data into the local sges of @p wr, from @p offset on; false if a sge is no longer valid. */
	bool scatter(const SendRequest &wr, std::uint32_t offset, const std::uint8_t *data, std::uint32_t length);
	bool store_result(const SendRequest &wr, std::uint64_t address);
	/** Takes answered payload bytes of @p wr out of the window. */
	void landed(SendRequest &wr, std::uint32_t bytes);
	/** Frees the slot of a piece of a READ, an atomic or a PRISM request that has been answered. */
	void release_slot(SendRequest &wr);

private:
	bool transmit_all(Time now);
	[[nodiscard]] bool has_room();
	[[nodiscard]] bool path_admits();
	bool transmit_unacknowledged(Time now);
	enum class Turn {
		now,
		later,     /* by the timer */
		with_room, /* by progress() */
		never,     /* it is lost */
	};
	[[nodiscard]] Turn turn_of(const SendRequest &wr, Time now);
	[[nodiscard]] bool in_burst() const;
	[[nodiscard]] bool is_early() const;
	bool may_burst(Time now);
	void send_unacknowledged(SendRequest &wr);
	bool check_datagram(const SendRequest &wr);
	std::uint32_t send_datagram(SendRequest &wr);
	[[nodiscard]] std::uint32_t resume_at(const SendRequest &wr) const;
	bool may_send(const SendRequest &wr, Time now) const;
	void start(SendRequest &wr);
	void take_slot(SendRequest &wr);
	bool local_memory_valid(const SendRequest &wr);
	bool check_local_memory(const SendRequest &wr);
	bool run_local(SendRequest &wr);
	void send_one(SendRequest &wr);
	std::uint32_t send_message_packet(SendRequest &wr);
	std::uint32_t send_read_request(SendRequest &wr);
	std::uint32_t send_atomic(SendRequest &wr);
	std::uint32_t send_atomic_write(SendRequest &wr);
	std::uint32_t send_prism(SendRequest &wr);
	[[nodiscard]] Time timer() const;
	void begin_timer(Time now);
	[[nodiscard]] bool answer_may_come(Time late);
	[[nodiscard]] bool gather(SendRequest &wr, std::uint32_t offset, std::uint8_t *to, std::uint32_t length);
	std::uint8_t *begin_packet(SendRequest &wr, std::uint8_t opcode, std::size_t headers, std::uint32_t payload,
		bool last, std::uint8_t flags = 0);
	[[nodiscard]] bool more_follows() const;
	bool wants_ack(const SendRequest &wr, bool last);

	Engine &engine_;
	QueuePair &qp_;
	SendQueue &sq_;
	RequesterState &req_;
	bool was_idle_ = false; /* nothing was under way when this turn began */
};

} // namespace prism::soft
