/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "path.hpp"

#include <algorithm>
#include <new>

#include "base/assertion.hpp"
#include "queue_pair.hpp"

namespace prism::soft
{

namespace
{

/** Bytes of a buffer that a packet takes beside its payload. */
constexpr std::uint32_t packet_cost = 256;
/** Bytes that a queue pair from the line may send before the next: a train. */
constexpr std::uint32_t quantum = 64 << 10;
/** Narrowest window: one packet at a time. */
constexpr std::uint32_t narrowest = 1;

std::uint32_t bytes_under_way(QueuePair &qp)
{
	return qp.req.flight + static_cast<std::uint32_t>(std::max(qp.packets_under_way(), 0)) * packet_cost;
}

} // namespace

Path::Path(const Address &peer, std::uint32_t room) : to(peer), widest_(std::max(room, narrowest)), window_(widest_) {}

void Path::fit(bool loses, std::uint32_t room)
{
	widest_ = std::max(loses ? room : std::min(room, lossless_room), narrowest);
	window_ = std::min(window_, widest_);
}

bool Path::admits(QueuePair &qp)
{
	PRISM_ASSERT(qp.path.get() == this);
	if (qp.req.silent()) { /* its one packet shows whether the peer is alive; it must not wait behind others */
		leave_line(qp);
		return true;
	}
	PathShare &share = qp.req.share;
	const bool has_turn = share.granted || line_.empty();
	const bool may_go = has_turn && under_way_ < window_;
	if (!may_go && (share.waits || join_line(qp)))
		return false;
	share.cuts = cuts_;
	leave_line(qp);
	return true;
}

/** Returns false if allocation fails; the caller must then send at once, as nothing will wake it. */
bool Path::join_line(QueuePair &qp)
try {
	PathShare &share = qp.req.share;
	if (share.granted) /* it has not used up its turn */
		line_.push_front(&qp);
	else
		line_.push_back(&qp);
	share.waits = true;
	return true;
} catch (const std::bad_alloc &) {
	return false;
}

bool Path::ends_turn(const QueuePair &qp) const
{
	const std::uint32_t packet = qp.attr.mtu + packet_cost;
	const std::uint32_t granted = qp.req.share.granted;
	return (granted && granted <= packet) || under_way_ + packet >= window_;
}

void Path::end_turn(QueuePair &qp)
{
	if (!qp.req.share.waits)
		qp.req.share.granted = 0;
}

void Path::sent(QueuePair &qp, std::uint32_t packets, std::uint32_t bytes)
{
	if (qp.req.silent())
		return;
	PathShare &share = qp.req.share;
	const std::uint32_t more = bytes + packets * packet_cost;
	share.granted -= std::min(share.granted, more);
	share.under_way += more;
	under_way_ += more;
}

void Path::update(QueuePair &qp)
{
	PathShare &share = qp.req.share;
	const std::uint32_t now = qp.req.silent() ? 0 : bytes_under_way(qp);
	if (now > share.under_way) {
		share.granted -= std::min(share.granted, now - share.under_way);
	} else if (grows()) {
		const std::uint64_t arrived = share.under_way - now;
		const std::uint64_t more = arrived * (qp.attr.mtu + packet_cost) / window_;
		window_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(window_ + more, widest_));
	}
	PRISM_ASSERT(under_way_ >= share.under_way);
	under_way_ += now;
	under_way_ -= share.under_way;
	share.under_way = now;
}

/* Halves once for all that was sent before the last cut: one full buffer drops packets of many queue pairs. */
void Path::cut(const QueuePair &qp)
{
	if (qp.req.share.cuts != cuts_)
		return;
	cuts_++;
	window_ = std::max(window_ / 2, narrowest);
}

void Path::release(QueuePair &qp)
{
	PRISM_ASSERT(under_way_ >= qp.req.share.under_way);
	under_way_ -= qp.req.share.under_way;
	qp.req.share.under_way = 0;
}

void Path::leave(QueuePair &qp)
{
	release(qp);
	leave_line(qp);
	qp.req.share = {};
}

void Path::leave_line(QueuePair &qp)
{
	if (qp.req.share.waits)
		std::erase(line_, &qp);
	qp.req.share.waits = false;
}

QueuePair *Path::next()
{
	if (line_.empty() || under_way_ >= window_)
		return nullptr;
	QueuePair *first = line_.front();
	line_.pop_front();
	PRISM_ASSERT(first->req.share.waits);
	first->req.share.waits = false;
	if (!first->req.share.granted)
		first->req.share.granted = quantum;
	return first;
}

} // namespace prism::soft
