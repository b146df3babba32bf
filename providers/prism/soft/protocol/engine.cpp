/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "engine.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <mutex>
#include <new>
#include <numeric>
#include <random>
#include <utility>

#include "base/assertion.hpp"
#include "completer.hpp"
#include "requester.hpp"
#include "responder.hpp"
#include "user_memory.hpp"

namespace prism::soft
{

Engine::Engine(PacketSink &sink, EventListener &listener, std::uint32_t first_qpn, std::uint32_t qp_count,
	const SharedByEngines &shared)
	: memory(shared.memory ? *shared.memory : own_memory_),
	  counters(shared.counters ? *shared.counters : own_counters_),
	  own_epochs_(shared.epochs ? nullptr : std::make_unique<RequestEpochs>()), sink_(sink, counters),
	  listener_(listener), first_qpn_(first_qpn), qps_(qp_count), qpn_order_(qp_count),
	  queues_(shared.queues ? *shared.queues : own_queues_), receive_room_(shared.receive_room),
	  running_(shared.epochs ? *shared.epochs : *own_epochs_)
{
	/* Reserve now: neither a posted request nor its timer is lost for want of memory. */
	dirty_.reserve(qp_count);
	timers_.reserve(std::size_t{max_timers_a_qp} * qp_count);
	std::iota(qpn_order_.begin(), qpn_order_.end(), 0);
}

Engine::~Engine() = default;

/* Objects ----------------------------------------------------------------------------------------------------- */

void Engine::shuffle_qpns(std::uint64_t seed)
{
	std::shuffle(qpn_order_.begin(), qpn_order_.end(), std::mt19937_64(seed));
}

std::uint32_t Engine::take_qpn()
{
	/* Reuse numbers as late as possible, so that late packets of a destroyed QP find no other. */
	for (std::size_t i = 0; i < qps_.size(); i++) {
		const std::uint32_t index = qpn_order_[next_qpn_++ % qps_.size()];
		if (!qps_[index])
			return first_qpn_ + index;
	}
	return 0;
}

void Engine::add_qp(QueuePair &qp)
{
	PRISM_ASSERT(!find_qp(qp.qpn) && qp.qpn - first_qpn_ < qps_.size());
	qp.place.assign(1, &qp);
	qp.receive_sges.reserve(qp.srq ? qp.srq->queue.max_sge() : qp.rq.max_sge());
	qps_[qp.qpn - first_qpn_] = &qp;
	counters.qps++;
	queues_.qps.fetch_add(1, std::memory_order_relaxed);
}

void Engine::remove_qp(QueuePair &qp)
{
	PRISM_ASSERT(find_qp(qp.qpn) == &qp);
	reset_qp(qp);
	std::erase(dirty_, &qp);
	std::erase_if(members_, [&qp](const Member &member) { return member.qp == &qp; });
	memory.unbind_all(qp.qpn);
	qps_[qp.qpn - first_qpn_] = nullptr;
	counters.qps.subtract();
	queues_.qps.fetch_sub(1, std::memory_order_relaxed);
}

QueuePair *Engine::find_qp(std::uint32_t qpn)
{
	const std::uint32_t index = qpn - first_qpn_;
	return index < qps_.size() ? qps_[index] : nullptr;
}

bool Engine::add_member(QueuePair &qp, const Address &group)
{
	const Member member{group, &qp};
	if (std::ranges::find(members_, member) != members_.end())
		return false;
	members_.push_back(member);
	return true;
}

bool Engine::remove_member(QueuePair &qp, const Address &group)
{
	return std::erase(members_, Member{group, &qp}) > 0;
}

bool Engine::in_a_group(const QueuePair &qp) const
{
	return std::ranges::any_of(members_, [&qp](const Member &member) { return member.qp == &qp; });
}

std::uint32_t Engine::take_srqn()
{
	std::uint32_t &next = queues_.next_number;
	while (queues_.by_number.contains(next) || !next)
		next = (next + 1) & PRISM_QPN_MASK;
	return next++;
}

void Engine::add_srq(SharedReceiveQueue &srq)
{
	PRISM_ASSERT(!find_srq(srq.number));
	queues_.by_number[srq.number] = &srq;
}

void Engine::remove_srq(SharedReceiveQueue &srq)
{
	PRISM_ASSERT(find_srq(srq.number) == &srq);
	queues_.by_number.erase(srq.number);
}

SharedReceiveQueue *Engine::find_srq(std::uint32_t number)
{
	const auto found = queues_.by_number.find(number);
	return found == queues_.by_number.end() ? nullptr : found->second;
}

/* Queue pair life ----------------------------------------------------------------------------------------------- */

void Engine::reset_qp(QueuePair &qp)
{
	Responder(*this, qp).stop();
	leave_path(qp);
	qp.state = IBV_QPS_RESET;
	qp.sq.head = qp.sq.cursor = qp.sq.tail;
	qp.rq.clear();
	qp.req = {};
	qp.resp = {};
	qp.attr = {};
	qp.peer_features = 0;
	qp.heard_bundle = false;
	qp.notify_drained = false;
	qp.deadline = 0;
}

void Engine::keep_answers(QueuePair &qp, std::uint32_t count)
{
	PRISM_ASSERT(count <= max_outstanding);
	std::vector<SavedResponse> &saved = qp.resp.saved;
	saved.reserve(count);                                                        /* throws before any change */
	std::rotate(saved.begin(), saved.begin() + qp.resp.next_saved, saved.end()); /* the oldest first */
	if (saved.size() > count)
		saved.erase(saved.begin(), saved.end() - count);
	qp.resp.next_saved = saved.size() < count ? static_cast<std::uint32_t>(saved.size()) : 0;
	saved.resize(count);
	qp.attr.max_dest_rd_atomic = count;
}

void Engine::fail_qp(QueuePair &qp)
{
	if (qp.state == IBV_QPS_ERR)
		return;
	qp.state = IBV_QPS_ERR;
	qp.deadline = 0;
	Responder(*this, qp).stop();
	flush(qp);
	leave_path(qp);
	if (qp.srq)
		listener_.qp_event(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
}

void Engine::report_drained(QueuePair &qp)
{
	if (!qp.notify_drained || !qp.drained())
		return;
	qp.notify_drained = false;
	listener_.qp_event(qp, IBV_EVENT_SQ_DRAINED);
}

void Engine::flush(QueuePair &qp)
{
	PRISM_ASSERT(qp.state == IBV_QPS_ERR);
	Requester(*this, qp).flush();
	Responder(*this, qp).flush();
}

void Engine::complete(CompletionQueue &cq, const ibv_wc &wc, bool solicited)
{
	if (cq.push(wc, solicited))
		return;
	counters.cq_overflows++;
	if (cq.note_overflow())
		listener_.cq_event(cq, IBV_EVENT_CQ_ERR);
}

/* Packets and time ---------------------------------------------------------------------------------------------- */

bool Engine::comes_from_peer(const QueuePair &qp, const Route &route)
{
	return route.from == qp.attr.peer && (!qp.attr.peer_port || route.source_port == qp.attr.peer_port);
}

bool Engine::accepts(QueuePair *qp, const Route &route, const prism_bth &bth)
{
	if (!qp || qp->state < IBV_QPS_RTR || qp->state == IBV_QPS_ERR) {
		counters.rx_unknown_qp++;
		return false;
	}
	if (qp->type != IBV_QPT_UD && !comes_from_peer(*qp, route)) {
		counters.rx_wrong_source++;
		return false;
	}
	if (!understands(*qp, bth.opcode)) {
		counters.rx_unknown_opcode++;
		return false;
	}
	return true;
}

/** A QP that did not ask for PRISM drops its opcodes, as a stock peer does. */
bool Engine::understands(const QueuePair &qp, std::uint8_t opcode) const
{
	if (prism_opcode_is_bundle(opcode))
		return qp.prism && protocol_version >= version_with_bundles;
	if (prism_opcode_is_request(opcode) || prism_opcode_is_response(opcode))
		return qp.prism;
	return opcode_flags(qp, opcode) != 0;
}

/** Returns the meaning of a standard opcode to @p qp; 0: none. */
std::uint16_t Engine::opcode_flags(const QueuePair &qp, std::uint8_t opcode)
{
	if (qp.type == IBV_QPT_RC)
		return rc_opcode_flags(opcode);
	if (qp.type == IBV_QPT_UC)
		return uc_opcode_flags(opcode);
	return opcode == ud_send_only || opcode == ud_send_only_imm ? op_known | op_request | op_send : 0;
}

void Engine::receive(const Route &route, std::span<const std::uint8_t> packet, Time now)
{
	const SerialCalls::Call call(calls_);
	if (packet.size() < bth_size || packet.size() > max_packet_size) {
		counters.rx_bad_format++;
		return;
	}
	prism_bth bth;
	prism_bth_decode(packet.data(), &bth);
	if (bth.qpn == gsi_qpn) {
		receive_management(route, bth, packet);
		return;
	}
	if (bth.qpn == multicast_qpn) {
		receive_for_group(route, bth, packet);
		return;
	}
	QueuePair *qp = find_qp(bth.qpn);
	if (!accepts(qp, route, bth))
		return;
	unbundles_ = prism_opcode_is_bundle(bth.opcode);
	if (unbundles_)
		receive_bundle(*qp, route, bth, packet, now);
	else
		receive_one(*qp, route, bth, packet, now);
	if (qp->type == IBV_QPT_RC)
		finish_answers(*qp, now);
}

void Engine::receive_one(
	QueuePair &qp, const Route &route, const prism_bth &bth, std::span<const std::uint8_t> packet, Time now)
{
	const bool request = (rc_opcode_flags(bth.opcode) & op_request) || prism_opcode_is_request(bth.opcode) ||
			     bth.opcode == PRISM_OP_BUNDLE;
	if (qp.type == IBV_QPT_RC && !request) {
		Completer(*this, qp).receive(bth, packet, now);
		/* A window that grows depends on each answer; another only on what is under way at the end. */
		if (qp.path && qp.path->grows())
			qp.path->update(qp);
		return;
	}
	running_.enter();
	if (qp.type == IBV_QPT_UD)
		Responder(*this, qp).receive_datagram(route, bth, packet);
	else if (qp.type == IBV_QPT_UC)
		Responder(*this, qp).receive_unacknowledged(bth, packet);
	else
		Responder(*this, qp).receive(bth, packet, now);
}

/**
 * Receives the entries of a bundle, each as the packet that it replaces, until one is refused (W.12.2). An invalid
 * entry or bundle counts as a request with an unknown operation: it is refused as others are, in its turn.
 */
void Engine::receive_bundle(
	QueuePair &qp, const Route &route, const prism_bth &bth, std::span<const std::uint8_t> packet, Time now)
{
	const bool answers = bth.opcode == PRISM_OP_BUNDLE_RESPONSE;
	prism_bundle bundle;
	if (!prism_bundle_open(&bundle, packet.data(), static_cast<std::uint32_t>(packet.size()), qp.attr.mtu)) {
		if (answers)
			counters.rx_response_dropped++;
		else
			receive_one(qp, route, bth, packet, now);
		return;
	}
	counters.rx_bundles++;
	std::array<std::uint8_t, max_packet_size> bytes;
	for (std::uint32_t psn = bth.psn; const std::uint32_t size = prism_bundle_next(&bundle, bytes.data());) {
		prism_bth entry = bundle.bth;
		entry.psn = std::exchange(psn, bundle.bth.psn);
		counters.rx_bundled++;
		const bool allowed = prism_bundle_takes(bytes.data(), size, qp.attr.mtu) == bth.opcode;
		if (!allowed && answers) {
			counters.rx_response_dropped++;
			return;
		}
		if (!allowed)
			bytes[0] = entry.opcode = PRISM_OP_BUNDLE;
		if (!answers)
			Responder(*this, qp).note_entry(entry.psn);
		receive_one(qp, route, entry, std::span(bytes).first(size), now);
		if (qp.state < IBV_QPS_RTR || qp.state == IBV_QPS_ERR)
			return;
	}
}

/** Does what is due once after a packet, however many answers it has brought. */
void Engine::finish_answers(QueuePair &qp, Time now)
{
	if (qp.req.heard)
		Requester(*this, qp).restart_timer(now);
	if (!qp.path)
		return;
	qp.path->update(qp);
	wake_next(*qp.path);
}

bool Engine::last_overtakes(std::span<const std::uint8_t> train, std::size_t segment) const
{
	const auto last = train.last(train.size() % segment);
	if (last.size() < bth_size + aeth_size || last[0] != rc_acknowledge ||
		(last[bth_size] & syndrome_class_mask) != syndrome_class_ack)
		return false;
	/* Answers keep their order: an ACK means that the answers before it have come, or are lost. */
	for (std::size_t at = 0; at + segment <= train.size(); at += segment)
		if ((rc_opcode_flags(train[at]) & (op_read_response | op_ack)) || prism_opcode_is_response(train[at]) ||
			train[at] == PRISM_OP_BUNDLE_RESPONSE)
			return false;
	return true;
}

/** Gives a copy to each queue pair in the group that the datagram was sent to (IBTA 10.5.2). */
void Engine::receive_for_group(const Route &route, const prism_bth &bth, std::span<const std::uint8_t> packet)
{
	bool anybody = false;
	for (std::size_t i = 0; i < members_.size(); i++) {
		if (members_[i].group != route.to)
			continue;
		anybody = true;
		if (accepts(members_[i].qp, route, bth))
			Responder(*this, *members_[i].qp).receive_datagram(route, bth, packet);
	}
	if (!anybody)
		counters.rx_unknown_qp++;
}

/* Management ---------------------------------------------------------------------------------------------------- */

void Engine::receive_management(const Route &route, const prism_bth &bth, std::span<const std::uint8_t> packet)
{
	constexpr std::size_t headers = bth_size + deth_size;
	if (bth.opcode != ud_send_only || packet.size() != headers + mad_size || bth.pad) {
		counters.rx_bad_format++;
		return;
	}
	if (get_unaligned_be32(packet.data() + bth_size) != gsi_qkey) {
		counters.rx_bad_qkey++;
		return;
	}
	if (!listener_.management(route, packet.subspan(headers)))
		counters.rx_management_dropped++;
}

void Engine::send_management(unsigned source, const Address &peer, std::span<const std::uint8_t, mad_size> mad)
{
	std::uint8_t *packet = sink_.begin_from(source, peer, 0, bth_size + deth_size + mad_size);
	prism_bth bth{};
	bth.opcode = ud_send_only;
	bth.qpn = gsi_qpn;
	bth.psn = gsi_psn_++ & PRISM_PSN_MASK;
	prism_bth_encode(packet, &bth);
	put_unaligned_be32(gsi_qkey, packet + bth_size);
	put_unaligned_be32(gsi_qpn, packet + bth_size + 4);
	std::copy(mad.begin(), mad.end(), packet + bth_size + deth_size);
	sink_.commit();
}

void Engine::mark_dirty(QueuePair &qp)
{
	if (qp.dirty)
		return;
	qp.dirty = true;
	dirty_.push_back(&qp);
}

/* Paths --------------------------------------------------------------------------------------------------------- */

void Engine::join_path(QueuePair &qp)
{
	if (qp.path && (!qp.attr.ack_timeout || qp.path->to != qp.attr.peer))
		leave_path(qp);
	/* Without a timer a loss is never noticed, and its bytes under way would keep others out for ever. */
	if (qp.path || !qp.attr.ack_timeout)
		return;
	try {
		std::weak_ptr<Path> &known = paths_[qp.attr.peer];
		qp.path = known.lock();
		if (!qp.path)
			known = qp.path = std::make_shared<Path>(qp.attr.peer, receive_room_);
	} catch (const std::bad_alloc &) {
		/* Send without a path this time: nothing would retry later for want of memory. */
	}
}

void Engine::leave_path(QueuePair &qp)
{
	if (!qp.path)
		return;
	const std::shared_ptr<Path> path = std::move(qp.path);
	path->leave(qp);
	if (path.use_count() == 1)
		paths_.erase(path->to);
	else
		wake_next(*path);
}

void Engine::wake_next(Path &path)
{
	if (QueuePair *qp = path.next())
		mark_dirty(*qp);
}

/* Time ---------------------------------------------------------------------------------------------------------- */

/** Returns true if packets go to the peer in trains, where a packet may overtake others of its train. */
bool Engine::travels_in_trains(const QueuePair &qp)
{
	return qp.attr.peer_is_ours && trains_arrive_whole && sink_.room(qp) == Room::unknown;
}

void Engine::progress(Time now, Again again)
{
	const SerialCalls::Call call(calls_);
	run_timers(now);
	answer(now, again);
}

void Engine::answer(Time now, Again again)
{
	const SerialCalls::Call call(calls_);
	read_room_ = read_room;
	if (!streams_.empty()) {
		running_.enter(); /* requests that wait for the end of a stream may begin */
		run_streams(now);
	}
	running_.leave(oldest_stream());
	std::size_t waiting = 0;
	/* Use an index, as the list may grow: transmitting marks dirty the QP itself, when it fails, and the next in
	 * line. */
	for (std::size_t i = 0; i < dirty_.size(); i++) {
		QueuePair &qp = *dirty_[i];
		qp.dirty = false;
		Requester requester(*this, qp);
		Responder responder(*this, qp);
		const bool wait = again == Again::surely && responder.ack_waits();
		const bool follows = responder.only_acknowledges() && travels_in_trains(qp);
		if (!wait && !(follows && requester.has_one_long_packet()))
			responder.send_pending_ack();
		const bool stopped = requester.transmit(now);
		if (!wait)
			responder.send_pending_ack();
		if ((wait || stopped) && !qp.dirty) {
			qp.dirty = true;
			dirty_[waiting++] = &qp;
		}
	}
	dirty_.resize(waiting);
	/* The first in this round is the last in the next. */
	if (waiting > 1)
		std::rotate(dirty_.begin(), dirty_.begin() + 1, dirty_.end());
	expects_more_ = false;
	answers_ = 0;
	sink_.flush();
}

void Engine::arm_timer(QueuePair &qp, Time deadline)
{
	PRISM_ASSERT(deadline);
	qp.deadline = deadline;
	/* The heap keeps one entry for each QP, at or before its deadline; it is corrected when it comes up. */
	if (qp.queued_deadline && qp.queued_deadline <= deadline)
		return;
	if (timers_.size() >= max_timers_a_qp * qps_.size())
		forget_overtaken_timers();
	push_timer({deadline, qp.qpn});
	qp.queued_deadline = deadline;
}

/** Allocates nothing: room was reserved. */
void Engine::push_timer(const Timer &timer)
{
	PRISM_ASSERT(timers_.size() < timers_.capacity());
	timers_.push_back(timer);
	std::push_heap(timers_.begin(), timers_.end(), std::greater<>{});
}

/** Rebuilds the heap without overtaken entries, which would stay until their times, maybe hours away. */
void Engine::forget_overtaken_timers()
{
	timers_.clear();
	for (const QueuePair *qp : qps_)
		if (qp && qp->queued_deadline)
			push_timer({qp->queued_deadline, qp->qpn});
}

void Engine::run_timers(Time now)
{
	while (!timers_.empty() && timers_.front().deadline <= now) {
		const Timer timer = timers_.front();
		std::pop_heap(timers_.begin(), timers_.end(), std::greater<>{});
		timers_.pop_back();
		QueuePair *qp = find_qp(timer.qpn);
		if (!qp || qp->queued_deadline != timer.deadline)
			continue;
		qp->queued_deadline = 0;
		if (!qp->deadline)
			continue;
		if (qp->deadline > now)
			arm_timer(*qp, qp->deadline);
		else
			Requester(*this, *qp).timeout(now);
	}
}

void Engine::run_streams(Time now)
{
	/* A stream that ends takes itself off the list. */
	for (std::size_t waiting = streams_.size(); waiting && !streams_.empty() && read_room_ > 0; waiting--) {
		QueuePair *qp = streams_.front();
		streams_.splice(streams_.end(), streams_, streams_.begin());
		if (qp->resp.stream.next <= now ||
			(qp->resp.stream.stopped && Responder(*this, *qp).room() != Room::no))
			Responder(*this, *qp).continue_stream(now);
	}
}

Time Engine::next_deadline() const
{
	Time next = timers_.empty() ? 0 : timers_.front().deadline;
	for (const QueuePair *qp : streams_)
		if (!next || qp->resp.stream.next < next)
			next = qp->resp.stream.next;
	return next;
}

/* The application's memory --------------------------------------------------------------------------------------- */

bool Engine::intact(bool done)
{
	if (!done)
		counters.memory_faults++;
	return done;
}

bool Engine::load(void *to, const void *from, std::size_t length)
{
	return intact(load_from_user(to, from, length));
}

bool Engine::store(void *to, const void *from, std::size_t length)
{
	return intact(store_to_user(to, from, length));
}

/* Free lists ---------------------------------------------------------------------------------------------------- */

/*
 * Calls into an engine are serialised, and a request runs within one call, except for a READ whose response is paced:
 * so only streams of this engine can be under way when an ALLOCATE looks. Others tell theirs by RequestEpochs.
 */
RequestEpoch Engine::oldest_stream() const
{
	RequestEpoch oldest = no_request;
	for (const QueuePair *qp : streams_)
		oldest = std::min(oldest, qp->resp.stream.begun);
	return oldest;
}

/** Looks for entries that are past their grace period. Needs the lock of @p srq, as do all below that are given one. */
void Engine::advance(SharedReceiveQueue &srq)
{
	const RequestEpoch ended = running_.epochs.end_current();
	const RequestEpoch oldest = std::min(oldest_stream(), running_.epochs.oldest_beside(running_));
	prism_freelist_advance(&srq.indices, ended, oldest);
	PRISM_ASSERT(srq.indices.allocatable - srq.indices.consumer <= srq.queue.size());
}

int Engine::post_free_list(SharedReceiveQueue &srq, std::uint64_t wr_id, const Sge &entry)
{
	PRISM_ASSERT(srq.free_list);
	if (!srq.queue.post(wr_id, {&entry, 1}))
		return ENOMEM;
	srq.indices.producer++;
	srq.posted++;
	return 0;
}

std::uint32_t Engine::allocatable(SharedReceiveQueue &srq)
{
	const std::lock_guard guard(srq.lock);
	advance(srq);
	return srq.indices.allocatable - srq.indices.consumer + static_cast<std::uint32_t>(srq.returned.size());
}

const std::uint8_t *Engine::memory_of(const SharedReceiveQueue &srq, const Sge &entry, std::uint32_t rights) const
{
	return memory.resolve(entry.lkey, entry.addr, entry.length, rights, srq.pd);
}

void Engine::reject(SharedReceiveQueue &srq, std::uint64_t wr_id, const Sge &entry)
{
	const int error = memory_of(srq, entry, 0) ? EACCES : EINVAL;
	srq.reports.push_back({wr_id, entry, error});
	if (srq.reports.size() > srq.queue.max_wr())
		srq.reports.pop_front();
	srq.rejected++;
	counters.free_list_rejected++;
}

void Engine::set_limit(SharedReceiveQueue &srq, std::uint32_t limit)
{
	std::unique_lock guard(srq.lock);
	srq.limit = limit;
	const bool below = srq.falls_below_limit();
	guard.unlock();
	if (below)
		listener_.srq_event(srq, IBV_EVENT_SRQ_LIMIT_REACHED);
}

prism_pop Engine::pop_buffer(const QueuePair &qp, std::uint32_t number, std::uint32_t length, prism_buffer &buffer)
{
	SharedReceiveQueue *srq = find_srq(number);
	if (!srq || !srq->free_list || srq->pd != qp.pd)
		return PRISM_POP_NO_LIST;
	std::unique_lock guard(srq->lock);
	const prism_pop popped = take_buffer(*srq, length, buffer);
	const bool below = srq->falls_below_limit();
	guard.unlock();
	if (below)
		listener_.srq_event(*srq, IBV_EVENT_SRQ_LIMIT_REACHED);
	return popped;
}

prism_pop Engine::take_buffer(SharedReceiveQueue &srq, std::uint32_t length, prism_buffer &buffer)
{
	advance(srq);
	/* Reserve room for giving back the popped buffer, which then cannot fail: each queue pair has one unfinished
	 * ALLOCATE. */
	srq.returned.reserve(srq.returned.size() + queues_.qps.load(std::memory_order_relaxed));
	for (std::uint32_t tries = 0; tries < max_free_list_tries; tries++) {
		const bool again = !srq.returned.empty();
		if (!again && prism_freelist_empty(&srq.indices))
			return PRISM_POP_EMPTY;
		const std::uint64_t wr_id = again ? srq.returned.back().wr_id : srq.queue.front().wr_id;
		const Sge entry = again ? srq.returned.back().entry : srq.queue.front().sges[0];
		constexpr std::uint32_t rights = access_local_write | access_remote_write;
		const std::uint8_t *at = memory_of(srq, entry, rights);
		if (at && entry.length < length) {
			counters.rx_payload_too_large++;
			return PRISM_POP_TOO_LARGE;
		}
		if (!at) /* if there is no memory for the report the entry stays */
			reject(srq, wr_id, entry);
		if (again) {
			srq.returned.pop_back();
		} else {
			srq.queue.pop();
			srq.indices.consumer++;
		}
		if (!at)
			continue;
		srq.popped++;
		running_.epochs.hand_outs.add(at, entry.length);
		buffer = {entry.addr, entry.length, entry.lkey, srq.number, wr_id};
		return PRISM_POP_OK;
	}
	return PRISM_POP_EMPTY;
}

void Engine::give_back(const prism_buffer &buffer)
{
	SharedReceiveQueue *srq = find_srq(buffer.free_list);
	if (!srq)
		return;
	const std::lock_guard guard(srq->lock);
	/* take_buffer() reserved the room. */
	PRISM_ASSERT(srq->returned.size() < srq->returned.capacity());
	srq->returned.push_back({buffer.wr_id, {buffer.va, buffer.length, buffer.key}});
	srq->reclaimed++;
	counters.free_list_reclaimed++;
}

} // namespace prism::soft
