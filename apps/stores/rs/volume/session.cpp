/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "session.hpp"

#include <algorithm>
#include <cerrno>

namespace prism::rs
{

std::size_t VolumeSession::memory_size(const SessionOptions &options) noexcept
{
	return std::size_t{options.depth} * options.replicas * RequestMemory::size(options.block_size);
}

VolumeSession::VolumeSession(SessionHost &host, const SessionOptions &options, std::byte *memory, std::uint32_t lkey,
	const MakeProtocol &make_protocol)
	: host_(host), options_(options), lanes_(options.depth), replicas_(options.replicas)
{
	for (std::uint32_t number = 0; number < options.depth; number++) {
		Lane &lane = lanes_[number];
		lane.number = number;
		lane.requests = std::vector<ReplicaRequest>(options.replicas);
		for (ReplicaRequest &request : lane.requests) {
			request.memory = RequestMemory::divide(memory, options.block_size, lkey);
			memory += RequestMemory::size(options.block_size);
		}
		idle_.push_back(options.depth - 1 - number);
	}
	for (Replica &replica : replicas_)
		replica.put_off.reserve(options.depth);
	ended_.reserve(options.depth);
	to_wake_.reserve(options.depth);
	protocol_ = make_protocol(*this);
}

void VolumeSession::begin() noexcept
{
	for (unsigned replica = 0; replica < replicas(); replica++)
		host_.want(replica, epoch_);
}

/* Operations ----------------------------------------------------------------------------------------------------- */

int VolumeSession::start(apps::Operation &operation, std::uint64_t block) noexcept
{
	if (idle_.empty())
		return EAGAIN;
	Lane &lane = lanes_[idle_.back()];
	idle_.pop_back();
	operation.error = 0;
	operation.length = 0;
	lane.operation = &operation;
	lane.block = block;
	lane.deadline = now() + options_.timeout;
	lane.round_trips = 0;
	lane.wrote = false;
	lane.task.emplace(protocol_->run(lane));
	lane.task->start();
	go_on(lane);
	return 0;
}

/** Continues after the lane's task has run as far as it could. */
void VolumeSession::go_on(Lane &lane) noexcept
{
	if (lane.task->done())
		finish(lane);
	else
		next_timer_ = std::min(next_timer_, lane.waiter.wake_at);
}

void VolumeSession::resume(Lane &lane) noexcept
{
	if (lane.waiter.resume())
		go_on(lane);
}

void VolumeSession::finish(Lane &lane) noexcept
{
	apps::Operation &operation = *lane.operation;
	operation.outcome = lane.task->value();
	operation.round_trips = lane.round_trips;
	lane.task.reset();
	lane.operation = nullptr;
	idle_.push_back(lane.number);
	ended_.push_back(&operation);
}

std::size_t VolumeSession::take_ended(std::span<apps::Operation *> ended) noexcept
{
	const std::size_t count = std::min(ended.size(), ended_.size());
	std::copy_n(ended_.begin(), count, ended.begin());
	ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(count));
	return count;
}

void VolumeSession::abandon() noexcept
{
	for (Lane &lane : lanes_) {
		lane.waiter = {};
		lane.task.reset();
	}
}

void VolumeSession::handle(const Completion &completion) noexcept
{
	const RequestId id = RequestId::of(completion.wr_id);
	if (id.replica >= replicas_.size())
		return;
	Replica &replica = replicas_[id.replica];
	if (!replica.link || id.generation != replica.generation)
		return; /* the connection is gone */
	if (completion.failed()) {
		link_down(id.replica);
		return;
	}
	if (id.lane == RequestId::no_lane) {
		replica.link->flushed();
		return;
	}
	if (id.lane >= lanes_.size())
		return;
	Lane &lane = lanes_[id.lane];
	if (!lane.requests[id.replica].under_way())
		return;
	lane.requests[id.replica].completion = completion;
	end_request(lane, id.replica);
	resume(lane);
}

void VolumeSession::end_request(Lane &lane, unsigned replica) noexcept
{
	ReplicaRequest &request = lane.requests[replica];
	request.fresh = request.state == ReplicaRequest::State::asked && !request.completion.failed();
	request.state = request.fresh ? ReplicaRequest::State::answered : ReplicaRequest::State::idle;
	under_way_--;
	protocol_->request_ended(lane, replica);
}

void VolumeSession::run_timers() noexcept
{
	while (!to_wake_.empty()) {
		Lane &lane = *to_wake_.back();
		to_wake_.pop_back();
		resume(lane);
	}
	if (idle()) {
		next_timer_ = Time::max();
		return;
	}
	const Time time = now();
	if (time < next_timer_)
		return;
	next_timer_ = Time::max();
	for (Lane &lane : lanes_) {
		if (lane.waiter.wake_at <= time)
			resume(lane);
		next_timer_ = std::min(next_timer_, lane.waiter.wake_at);
	}
}

int VolumeSession::post(Lane &lane, unsigned replica) noexcept
{
	Replica &to = replicas_[replica];
	if (!to.link)
		return ENOTCONN;
	ReplicaRequest &request = lane.requests[replica];
	request.number = ++requests_;
	to.put_off.push_back({&request.chain, RequestId{lane.number, replica, to.generation}.wr_id()});
	put_off_++;
	under_way_++;
	return 0;
}

void VolumeSession::ring() noexcept
{
	if (!put_off_)
		return;
	put_off_ = 0;
	for (unsigned number = 0; number < replicas(); number++) {
		Replica &replica = replicas_[number];
		if (replica.put_off.empty())
			continue;
		const int error = replica.link->post(replica.put_off);
		replica.put_off.clear();
		if (error)
			link_down(number);
	}
}

void VolumeSession::release(unsigned replica, std::uint64_t address) noexcept
{
	if (replicas_[replica].link)
		replicas_[replica].link->release(address);
}

/* Connections ---------------------------------------------------------------------------------------------------- */

/** Returns true if @p replica does not know the newest epoch yet: it learns it from a new connection. */
bool VolumeSession::is_stale(unsigned replica, const ReplicaLink &link) const noexcept
{
	return link.view().epoch < epoch_ && !repairs(replica);
}

void VolumeSession::link_up(unsigned replica, ReplicaLink &link) noexcept
{
	if (is_stale(replica, link)) {
		host_.close(replica);
		host_.want(replica, epoch_);
		return;
	}
	epoch_ = std::max(epoch_, link.view().epoch);
	replicas_[replica].link = &link;
	replicas_[replica].generation++;
	for (Lane &lane : lanes_)
		resume(lane);
}

/** Ends all requests under way on the queue pair as failed; whether they were executed is not known. */
void VolumeSession::link_down(unsigned replica) noexcept
{
	Replica &gone = replicas_[replica];
	put_off_ -= std::min(put_off_, gone.put_off.size());
	gone.put_off.clear();
	gone.link = nullptr;
	host_.close(replica);
	for (Lane &lane : lanes_) {
		if (!lane.requests[replica].under_way())
			continue;
		lane.requests[replica].completion = {};
		lane.requests[replica].completion.error = IBV_WC_WR_FLUSH_ERR;
		end_request(lane, replica);
	}
	if (repairs(replica)) /* another connection might lead to another incarnation of it */
		lost_its_replica_ = true;
	else
		host_.want(replica, epoch_);
	for (Lane &lane : lanes_)
		wake(lane);
}

void VolumeSession::look_after_links() noexcept
{
	for (unsigned replica = 0; replica < replicas(); replica++) {
		ReplicaLink *const link = replicas_[replica].link;
		if (!link)
			continue;
		if (is_stale(replica, *link) || link->talk(oldest_request(replica), requests_, flush_id(replica)))
			link_down(replica);
	}
}

std::uint64_t VolumeSession::flush_id(unsigned replica) const noexcept
{
	return RequestId{RequestId::no_lane, replica, replicas_[replica].generation}.wr_id();
}

/** Returns the number of the oldest request to @p replica that is under way. */
std::uint64_t VolumeSession::oldest_request(unsigned replica) const noexcept
{
	std::uint64_t oldest = ~std::uint64_t{0};
	for (const Lane &lane : lanes_) {
		if (lane.requests[replica].under_way())
			oldest = std::min(oldest, lane.requests[replica].number);
	}
	return oldest;
}

void VolumeSession::flush() noexcept
{
	for (unsigned replica = 0; replica < replicas(); replica++) {
		if (replicas_[replica].link)
			replicas_[replica].link->flush(flush_id(replica));
	}
}

bool VolumeSession::flushing() const noexcept
{
	return std::any_of(replicas_.begin(), replicas_.end(),
		[](const Replica &replica) { return replica.link && replica.link->flushing(); });
}

unsigned VolumeSession::connected() const noexcept
{
	return static_cast<unsigned>(std::count_if(
		replicas_.begin(), replicas_.end(), [](const Replica &replica) { return replica.link != nullptr; }));
}

bool VolumeSession::serves(unsigned replica) const noexcept
{
	const ReplicaView *const there = view(replica);
	return there && there->serving && there->epoch == epoch_;
}

unsigned VolumeSession::serving() const noexcept
{
	unsigned count = 0;
	for (unsigned replica = 0; replica < replicas(); replica++)
		count += serves(replica);
	return count;
}

void VolumeSession::repaired_has_epoch() noexcept
{
	if (options_.repairs && replicas_[*options_.repairs].link)
		replicas_[*options_.repairs].link->set_epoch(epoch_);
}

} // namespace prism::rs
