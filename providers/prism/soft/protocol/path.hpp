/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Room in a receive buffer that the queue pairs of a context that send to one address share. A socket drops packets
 * that do not fit, and many queue pairs that each keep to a window of their own would fill it many times over. So their
 * bytes under way together stay below one window, which halves on a loss and grows by a packet for each window that has
 * arrived. A queue pair that finds it full stands in line. A queue pair whose peer is silent sends one packet at a
 * time, outside the window.
 */
#pragma once

#include <cstdint>
#include <deque>

#include "../net/packet.hpp"

namespace prism::soft
{

struct QueuePair;

/** State that a path keeps for one of its queue pairs. */
struct PathShare {
	std::uint32_t under_way = 0; /* bytes of buffer */
	std::uint32_t granted = 0;   /* bytes that it may send although others stand in line */
	bool waits = false;          /* in line */
	std::uint64_t cuts = 0;      /* the path's cuts when it last sent */
};

class Path
{
public:
	/** @param room bytes of the receiver's buffer: the widest window */
	Path(const Address &peer, std::uint32_t room);

	/** Returns true if more is under way than a carrier that loses nothing holds: then fit() the window to it. */
	[[nodiscard]] bool is_crowded() const { return under_way_ >= lossless_room; }
	/** Sets the widest window, for a carrier that loses packets or one that loses none. */
	void fit(bool loses, std::uint32_t room);
	/** Returns true if @p qp may send now. If not, it stands in line, and next() will name it. */
	bool admits(QueuePair &qp);
	/** Returns true if the next packet of @p qp may be the last for now, so that it should ask for an
	 * acknowledgement. */
	[[nodiscard]] bool ends_turn(const QueuePair &qp) const;
	/** Ends the turn of @p qp, which has sent all it can. */
	void end_turn(QueuePair &qp);
	/** Adds what @p qp has sent to the bytes under way. */
	void sent(QueuePair &qp, std::uint32_t packets, std::uint32_t bytes);
	/** Updates the bytes under way after @p qp has been answered. */
	void update(QueuePair &qp);
	/** Returns true while the window is narrower than it may be. */
	[[nodiscard]] bool grows() const { return window_ < widest_; }
	/** Counts an answer of the peer to any queue pair. */
	void note_answer() { answers_++; }
	[[nodiscard]] std::uint64_t answers() const { return answers_; }
	/** Narrows the window after a loss of @p qp. */
	void cut(const QueuePair &qp);
	/** Takes the bytes of @p qp off those under way: it will retransmit them. */
	void release(QueuePair &qp);
	/** Removes @p qp, which sends no more. */
	void leave(QueuePair &qp);
	/** Returns the queue pair that may send next and takes it out of the line; null if none. */
	QueuePair *next();

	const Address to; /* the address of its queue pairs, until one gets another (ibv_modify_qp in SQD) */

private:
	[[nodiscard]] bool join_line(QueuePair &qp);
	void leave_line(QueuePair &qp);

	/** A few rings' bytes. What is beyond would wait behind all that, while timers run. */
	static constexpr std::uint32_t lossless_room = 256 << 10;

	std::uint32_t widest_;
	std::uint32_t window_;
	std::uint64_t under_way_ = 0;
	std::uint64_t cuts_ = 0;
	std::uint64_t answers_ = 0;
	std::deque<QueuePair *> line_;
};

} // namespace prism::soft
