/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the queue pairs of a context that send to one address share: the room in its receive buffer. A socket drops what
 * does not fit, and many queue pairs that each keep to a window of their own would fill it many times over. What is
 * under way together stays below a window, which halves when something is lost and grows by a packet for each window
 * that has arrived; who finds it full stands in line. A queue pair whose peer is silent sends one packet at a time,
 * outside the window.
 */
#pragma once

#include <cstdint>
#include <deque>

#include "../net/packet.hpp"

namespace prism::soft
{

struct QueuePair;

/** What a path knows of one of its queue pairs. */
struct PathShare {
	std::uint32_t under_way = 0; /* bytes of buffer */
	std::uint32_t granted = 0;   /* bytes that it may send although others stand in line */
	bool waits = false;          /* in line */
	std::uint64_t cuts = 0;      /* the path's when it last sent */
};

class Path
{
public:
	/** @param room of the receiver's buffer, in bytes: the widest window */
	Path(const Address &peer, std::uint32_t room);

	/** Whether @p qp may send now. If not, it stands in line, and next() will name it. */
	bool admits(QueuePair &qp);
	/** Whether the next packet of @p qp may be the last for now, so that it had better be acknowledged. */
	[[nodiscard]] bool ends_turn(const QueuePair &qp) const;
	/** @p qp has sent what it can. */
	void end_turn(QueuePair &qp);
	/** @p qp has sent, or has been answered. */
	void update(QueuePair &qp);
	/** Something of @p qp was lost. */
	void cut(const QueuePair &qp);
	/** @p qp will send again what is under way. */
	void release(QueuePair &qp);
	/** @p qp sends no more. */
	void leave(QueuePair &qp);
	/** Who may send next, and is no longer in line; null: nobody. */
	QueuePair *next();

	const Address to; /* that of its queue pairs, until one is given another (ibv_modify_qp in SQD) */

private:
	[[nodiscard]] bool join_line(QueuePair &qp);
	void leave_line(QueuePair &qp);

	const std::uint32_t widest_;
	std::uint32_t window_;
	std::uint64_t under_way_ = 0;
	std::uint64_t cuts_ = 0;
	std::deque<QueuePair *> line_;
};

} // namespace prism::soft
