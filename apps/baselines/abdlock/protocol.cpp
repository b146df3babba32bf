/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "protocol.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace prism::rs
{

namespace
{

constexpr std::uint32_t bit(unsigned replica)
{
	return std::uint32_t{1} << replica;
}

/** Returns a number of 32 bits, not 0, for a client's number of 64 bits. */
std::uint32_t holder_of(std::uint64_t client)
{
	const auto folded = static_cast<std::uint32_t>(client ^ client >> 32);
	return folded ? folded : 1;
}

std::uint64_t word_found(const ReplicaRequest &request)
{
	std::uint64_t word = 0;
	std::memcpy(&word, request.memory.old.data(), sizeof(word));
	return word;
}

/** A replica's copy of the block, as it was read. */
struct Copy {
	Version version;
	std::span<const std::byte> block;

	[[nodiscard]] bool intact() const noexcept { return version.intact(block); }
};

Copy copy_in(const ReplicaRequest &request, std::uint32_t block_size)
{
	Copy copy;
	std::memcpy(&copy.version, request.memory.in_room.data(), sizeof(copy.version));
	copy.block = request.memory.in_room.subspan(sizeof(copy.version), block_size);
	return copy;
}

bool answered(const Lane &lane, unsigned replica)
{
	return lane.requests[replica].state == ReplicaRequest::State::answered;
}

bool gets(const Lane &lane)
{
	return lane.operation->kind == apps::OperationKind::get;
}

/** Gives up the locks still asked for: if they come now, when there are enough, they are given back at once. */
void forget_asked(Lane &lane)
{
	for (ReplicaRequest &request : lane.requests) {
		if (request.state == ReplicaRequest::State::asked)
			request.state = ReplicaRequest::State::late;
	}
}

} // namespace

LockProtocol::LockProtocol(const LockOptions &options, std::uint64_t client, VolumeSession &session)
	: options_(options), client_(client), holder_(holder_of(client)),
	  patience_(std::min(options.patience, options.lease / 4)), session_(session), random_(holder_)
{
}

/* Requests ------------------------------------------------------------------------------------------------------- */

RemoteAddress LockProtocol::record(const ReplicaView &view, std::uint64_t block) const noexcept
{
	return view.slots.at(block * record_size(options_.block_size));
}

/** Adds the READ of the block, or of the tag alone: a PUT needs no more. */
void LockProtocol::add_read(const Lane &lane, ReplicaRequest &request, RemoteAddress record) const noexcept
{
	const std::size_t bytes = sizeof(Version) + (gets(lane) ? options_.block_size : 0);
	request.chain.rdma_read(
		record + offsetof(RecordHead, version), request.memory.slice(request.memory.in_room.first(bytes)));
}

/**
 * Builds the chain of hold.step. The lock is released by CMP_AND_SWP too, as it may belong to another client by now.
 */
void LockProtocol::build(const Lane &lane, ReplicaRequest &request, Hold &hold, const ReplicaView &view) const noexcept
{
	const RemoteAddress place = record(view, hold.block);
	const LocalSlice old = request.memory.slice(request.memory.old.first(sizeof(hold.word)));
	Chain &chain = request.begin_chain();
	switch (hold.step) {
	case Step::lock:
		chain.rdma_cas(place, hold.compare, hold.word, old);
		if (options_.pipelined)
			add_read(lane, request, place);
		break;
	case Step::read:
		add_read(lane, request, place);
		break;
	case Step::write:
		chain.rdma_write(place + offsetof(RecordHead, version),
			request.memory.slice(request.memory.out_room.first(sizeof(Version) + options_.block_size)));
		if (options_.pipelined)
			chain.rdma_cas(place, hold.word, 0, old);
		break;
	case Step::unlock:
		chain.rdma_cas(place, hold.word, 0, old);
		break;
	}
}

/** Returns false if there is no connection. */
bool LockProtocol::ask(Lane &lane, Work &work, unsigned replica, Step step) noexcept
{
	const ReplicaView *const view = session_.view(replica);
	ReplicaRequest &request = lane.requests[replica];
	if (!view)
		return false;
	Hold &hold = work.holds[replica];
	hold.step = step;
	lane.wrote |= step == Step::write;
	hold.asked_at = session_.now();
	build(lane, request, hold, *view);
	request.epoch = view->epoch;
	request.state = ReplicaRequest::State::asked;
	if (!session_.post(lane, replica))
		return true;
	request.state = ReplicaRequest::State::idle;
	return false;
}

void LockProtocol::request_ended(Lane &lane, unsigned replica) noexcept
{
	Work &work = work_of(lane);
	Hold &hold = work.holds[replica];
	ReplicaRequest &request = lane.requests[replica];
	if (request.completion.failed()) {
		hold.held = false; /* unknown: the lease ends a lock that may be there */
		return;
	}
	const bool gives_back = hold.step == Step::unlock || (hold.step == Step::write && options_.pipelined);
	if (gives_back) {
		hold.held = false;
		hold.lost = word_found(request) != hold.word;
	} else if (hold.step == Step::lock) {
		const std::uint64_t found = word_found(request);
		hold.held = found == hold.compare;
		hold.refused = !hold.held && answered(lane, replica);
		if (hold.refused && found != hold.seen) {
			hold.seen = found;
			hold.seen_since = session_.now();
		}
	}
	/* The lock came too late: its attempt has ended. */
	if (hold.held && request.state == ReplicaRequest::State::idle && ask(lane, work, replica, Step::unlock))
		request.state = ReplicaRequest::State::late;
}

/* Locks ---------------------------------------------------------------------------------------------------------- */

LockProtocol::Replicas LockProtocol::held(const Lane &lane, const Work &work) const noexcept
{
	Replicas mask = 0;
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		if (work.holds[replica].held && answered(lane, replica))
			mask |= bit(replica);
	}
	return mask;
}

/** True if an answer is under way and not overdue. */
bool LockProtocol::is_awaited(const Lane &lane, const Work &work, unsigned replica) const noexcept
{
	return lane.requests[replica].under_way() && session_.now() - work.holds[replica].asked_at < patience_;
}

/** Returns the number of locks that are held or may come by waiting. */
unsigned LockProtocol::within_reach(const Lane &lane, const Work &work) const noexcept
{
	auto count = static_cast<unsigned>(std::popcount(held(lane, work)));
	for (unsigned replica = 0; replica < options_.replicas; replica++)
		count += is_awaited(lane, work, replica);
	return count;
}

/** Returns the time at which a replica's patience or the attempt ends. */
Time LockProtocol::next_look(const Lane &lane, const Work &work) const noexcept
{
	Time next = work.limit;
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		if (is_awaited(lane, work, replica))
			next = std::min(next, work.holds[replica].asked_at + patience_);
	}
	return next;
}

/**
 * Asks until enough locks are held or on their way. It waits for requests that release an earlier lock: with locks at
 * another replica in their place, another GET would have something to write back.
 */
void LockProtocol::ask_for_locks(Lane &lane, Work &work) noexcept
{
	RoundOptions options;
	options.reads = true;
	const Time now = session_.now();
	auto count = static_cast<unsigned>(std::popcount(held(lane, work)));
	for (unsigned replica = 0; replica < options_.replicas; replica++)
		count +=
			lane.requests[replica].state == ReplicaRequest::State::asked && is_awaited(lane, work, replica);
	for (unsigned i = 0; i < options_.replicas && count < work.needed; i++) {
		const unsigned replica = static_cast<unsigned>((lane.block + i) % options_.replicas);
		count += lane.requests[replica].state == ReplicaRequest::State::late && is_awaited(lane, work, replica);
		if (!round::can_ask(session_, lane, replica, options, now))
			continue;
		Hold &hold = work.holds[replica];
		const bool expired = hold.seen && now - hold.seen_since > options_.lease;
		hold.compare = expired ? hold.seen : 0;
		hold.word = work.word;
		hold.block = lane.block;
		count += ask(lane, work, replica, Step::lock);
	}
}

/** Takes work.needed locks. Returns 0, with work.locked set, or EAGAIN if it cannot have them now. */
apps::Task<int> LockProtocol::lock(Lane &lane, Work &work)
{
	lane.round_trips++;
	for (;;) {
		if (session_.now() >= work.limit)
			co_return EAGAIN;
		work.locked = held(lane, work);
		if (static_cast<unsigned>(std::popcount(work.locked)) >= work.needed) {
			forget_asked(lane);
			co_return 0;
		}
		ask_for_locks(lane, work);
		const bool refused = std::any_of(
			work.holds.begin(), work.holds.end(), [](const Hold &hold) { return hold.refused; });
		/* Give up: others may be waiting for the locks held here. */
		if (refused && within_reach(lane, work) < work.needed)
			co_return EAGAIN;
		co_await Event{lane.waiter, next_look(lane, work)};
	}
}

/**
 * Sends the same request to all of @p whom, whose locks are held. Returns EAGAIN if one is gone, or if the locks may
 * expire.
 */
apps::Task<int> LockProtocol::exchange(Lane &lane, Work &work, Replicas whom, Step step)
{
	lane.round_trips++;
	if (session_.now() >= work.limit)
		co_return EAGAIN;
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		if ((whom & bit(replica)) && !ask(lane, work, replica, step))
			co_return EAGAIN;
	}
	for (;;) {
		bool all = true;
		for (unsigned replica = 0; replica < options_.replicas; replica++) {
			if (!(whom & bit(replica)))
				continue;
			if (lane.requests[replica].state == ReplicaRequest::State::idle)
				co_return EAGAIN;
			all &= answered(lane, replica);
		}
		if (all)
			co_return 0;
		if (session_.now() >= work.limit)
			co_return EAGAIN;
		co_await Event{lane.waiter, work.limit};
	}
}

/** Releases the held locks, without waiting. Locks still under way are released when they come. */
void LockProtocol::release(Lane &lane, Work &work) noexcept
{
	round::begin(lane);
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		ReplicaRequest &request = lane.requests[replica];
		if (work.holds[replica].held && request.state == ReplicaRequest::State::idle &&
			ask(lane, work, replica, Step::unlock))
			request.state = ReplicaRequest::State::late;
	}
}

/* Blocks --------------------------------------------------------------------------------------------------------- */

void LockProtocol::hand_over(const Lane &lane, const Version &version, std::span<const std::byte> block) const noexcept
{
	apps::Operation &operation = *lane.operation;
	operation.length = options_.block_size;
	const std::span<std::byte> room =
		operation.result.first(std::min<std::size_t>(operation.result.size(), options_.block_size));
	if (version.tag == Tag{})
		std::fill(room.begin(), room.end(), std::byte{0});
	else
		std::memcpy(room.data(), block.data(), room.size());
}

/**
 * Takes the newest block of those that are locked. @p stale: the replicas that need it written back; their requests
 * have it ready.
 */
int LockProtocol::plan_get(Lane &lane, Work &work, Replicas &stale) noexcept
{
	Copy newest;
	Replicas intact = 0;
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		if (!(work.locked & bit(replica)))
			continue;
		const Copy copy = copy_in(lane.requests[replica], options_.block_size);
		if (!copy.intact())
			continue;
		if (!intact || copy.version.tag > newest.version.tag)
			newest = copy;
		intact |= bit(replica);
	}
	if (static_cast<unsigned>(std::popcount(intact)) < quorum()) {
		if (work.needed == options_.replicas)
			return EIO;
		work.needed++;
		return EAGAIN;
	}
	hand_over(lane, newest.version, newest.block);
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		ReplicaRequest &request = lane.requests[replica];
		const bool whole = intact & bit(replica);
		if (!(work.locked & bit(replica)) ||
			(whole && copy_in(request, options_.block_size).version.tag == newest.version.tag))
			continue;
		std::memcpy(request.memory.out_room.data(), &newest.version, sizeof(newest.version));
		std::memcpy(request.memory.out_room.data() + sizeof(newest.version), newest.block.data(),
			newest.block.size());
		stale |= bit(replica);
	}
	return 0;
}

/** Returns the newest tag of this client's other PUTs to the block. */
Tag LockProtocol::newest_used(const Work &work) const noexcept
{
	Tag newest;
	for (const Work &other : works_) {
		if (&other != &work && other.block == work.block)
			newest = std::max(newest, other.tag);
	}
	if (used_.empty())
		return newest;
	const auto used = used_.find(work.block);
	return used == used_.end() ? newest : std::max(newest, used->second);
}

/**
 * Prepares the WRITEs. @p stale: the replicas that have neither the block nor a newer one; their requests have it
 * ready.
 */
int LockProtocol::plan_put(Lane &lane, Work &work, Replicas &stale) noexcept
{
	const auto tag_at = [&lane, this](unsigned replica) {
		return copy_in(lane.requests[replica], options_.block_size).version.tag;
	};
	if (work.tag == Tag{}) {
		Tag newest = newest_used(work);
		for (unsigned replica = 0; replica < options_.replicas; replica++) {
			if (work.locked & bit(replica))
				newest = std::max(newest, tag_at(replica));
		}
		if (newest.is_last())
			return EOVERFLOW;
		work.tag = newest.next(client_);
	}
	Version version;
	version.tag = work.tag;
	version.checksum = version.compute(lane.operation->value);
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		ReplicaRequest &request = lane.requests[replica];
		if (!(work.locked & bit(replica)) || tag_at(replica) >= work.tag)
			continue;
		std::memcpy(request.memory.out_room.data(), &version, sizeof(version));
		std::memcpy(request.memory.out_room.data() + sizeof(version), lane.operation->value.data(),
			lane.operation->value.size());
		stale |= bit(replica);
	}
	return 0;
}

/* Operations ----------------------------------------------------------------------------------------------------- */

LockProtocol::Work &LockProtocol::work_of(const Lane &lane)
{
	while (works_.size() <= lane.number)
		works_.emplace_back().holds.resize(options_.replicas);
	return works_[lane.number];
}

void LockProtocol::begin_operation(const Lane &lane, Work &work) noexcept
{
	work.block = lane.block;
	work.tag = {};
	work.needed = quorum();
	for (Hold &hold : work.holds)
		hold.seen = 0;
}

void LockProtocol::begin_attempt(Lane &lane, Work &work) noexcept
{
	round::begin(lane);
	work.word = std::uint64_t{holder_} << 32 | ++sequence_;
	work.limit = std::min(lane.deadline, session_.now() + options_.lease / 2);
	for (Hold &hold : work.holds)
		hold.refused = hold.lost = false;
}

/** Makes one attempt. Returns 0 if done, EAGAIN to try again. */
apps::Task<int> LockProtocol::attempt(Lane &lane, Work &work)
{
	begin_attempt(lane, work);
	if (const int error = co_await lock(lane, work))
		co_return error;
	if (!options_.pipelined) {
		if (const int error = co_await exchange(lane, work, work.locked, Step::read))
			co_return error;
	}
	Replicas stale = 0;
	if (const int error = gets(lane) ? plan_get(lane, work, stale) : plan_put(lane, work, stale))
		co_return error;
	if (stale) {
		if (const int error = co_await exchange(lane, work, stale, Step::write))
			co_return error;
	}
	/* The operation is done, whatever the result of the unlocks. */
	if (!options_.pipelined)
		(void)co_await exchange(lane, work, work.locked, Step::unlock);
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		if ((stale & bit(replica)) && work.holds[replica].lost)
			co_return EAGAIN; /* the lock was lost, before the WRITE or after it */
	}
	co_return 0;
}

Time LockProtocol::wait_after(unsigned attempts) noexcept
{
	const Time bound = std::min(options_.longest_wait, options_.shortest_wait * (1 << std::min(attempts, 16U)));
	return Time(std::uniform_int_distribution<Time::rep>(1, bound.count())(random_));
}

/**
 * Ends the operation. Other PUTs to the block consider the tags of those under way; the tag of a failed one, which may
 * have left something, is kept.
 */
LockProtocol::Outcome LockProtocol::end(Lane &lane, Work &work, int error) noexcept
{
	const Tag tag = std::exchange(work.tag, Tag{});
	if (!error) {
		const auto used = used_.empty() ? used_.end() : used_.find(work.block);
		if (used != used_.end() && used->second < tag)
			used_.erase(used);
		return Outcome::ok;
	}
	if (tag != Tag{}) {
		Tag &used = used_[work.block];
		used = std::max(used, tag);
	}
	return lane.fail(error);
}

apps::Task<LockProtocol::Outcome> LockProtocol::run(Lane &lane)
{
	Work &work = work_of(lane);
	begin_operation(lane, work);
	for (unsigned attempts = 0;; attempts++) {
		const int error = co_await attempt(lane, work);
		release(lane, work);
		if (error != EAGAIN)
			co_return end(lane, work, error);
		const Time until = session_.now() + wait_after(attempts);
		while (session_.now() < std::min(until, lane.deadline))
			co_await Event{lane.waiter, std::min(until, lane.deadline)};
		if (session_.now() >= lane.deadline)
			co_return end(lane, work, EHOSTUNREACH);
	}
}

} // namespace prism::rs
