/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/one_sided/latch.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "gam/coherence/execute.hpp"

namespace prism::gam
{

Latch::Latch(const latch::Options &options, Host &host, latch::Homes &homes)
	: options_(options), host_(host), homes_(homes),
	  cache_(options.memory.bytes.first(options.memory.lines() * block_size)),
	  limit_(cache_.size() - std::min(max_evictions, cache_.size() / 8))
{
	resting_.reserve(cache_.size());
	due_.reserve(cache_.size());
}

bool Latch::start(Access &access)
{
	const SerialCalls::Call call(calls_);
	access.error = 0;
	access.progress = 0;
	Line *const line = cache_.find(access.at.block());
	if (!is_well_formed(access))
		access.error = EINVAL;
	else if (!line)
		access.error = access.kind == AccessKind::unlock ? EPERM : is_dead(access.at.home()) ? EHOSTUNREACH : 0;
	else
		access.error = line->lock.refusal(access);
	if (access.error || (!line && access.kind == AccessKind::write_back))
		return true;
	if (line && may_hit(*line, access)) {
		stats_.hits++;
		if (const int error = perform(*line, access))
			access.error = error;
		return true;
	}
	stats_.misses++;
	return enqueue(line, access);
}

/**
 * Returns true if @p access may be done at once: it overtakes no earlier access, except that the holder of the lock
 * overtakes those that it holds back.
 */
bool Latch::may_hit(const Line &line, const Access &access) const noexcept
{
	if (access.kind == AccessKind::unlock)
		return true;
	if (!line.queue.empty() && !line.lock.holds(access.thread))
		return false;
	const bool readable = line.phase == Phase::idle ||
			      line.phase == (line.state == State::exclusive ? Phase::installing : Phase::leaving);
	const bool is_for_idle = is_exclusive(access.kind) || access.kind == AccessKind::write_back;
	if (is_for_idle ? line.phase != Phase::idle : !readable)
		return false;
	return verdict(line, access) == 0;
}

int Latch::verdict(const Line &line, const Access &access) const noexcept
{
	if (const int error = line.lock.refusal(access))
		return error;
	if (line.error && options_.rules.fail_lost) /* not even the holder of a lock waits for a lost block */
		return line.error;
	const bool others_first = is_lock(access.kind) && line.state == State::exclusive && !line.requests.empty();
	if (!line.lock.admits(access) || others_first)
		return access.tries ? EBUSY : held_back;
	if (access.kind == AccessKind::write_back)
		return line.dirty ? acquire : 0;
	const State needed = is_exclusive(access.kind) ? State::exclusive : State::shared;
	return line.state >= needed ? 0 : acquire;
}

/** Returns true for a try that would have to wait: for the holder of a lock, or for a node that may hold one. */
bool Latch::must_not_wait(const Line &line, const Access &access) const noexcept
{
	if (!access.tries)
		return false;
	const bool waits = line.phase == Phase::asked || line.phase == Phase::telling || line.phase == Phase::resting;
	return waits || verdict(line, access) == EBUSY || (line.phase == Phase::idle && !line.queue.empty());
}

/** Queues @p access. Returns true if it has ended. */
bool Latch::enqueue(Line *line, Access &access)
{
	if (line && must_not_wait(*line, access)) {
		access.error = EBUSY;
		return true;
	}
	starting_ = &access;
	pending_++;
	if (line) {
		cache_.hide(*line); /* nobody may overtake those that wait */
		line->queue.push(access);
		run(*line);
	} else {
		room_.push(access);
		room_count_++;
		overdue_ = std::min(overdue_, access.room_until);
		fill_room();
	}
	return !std::exchange(starting_, nullptr);
}

/** Performs @p access. Returns its error: 0, or ENOMEM of a lock. */
int Latch::perform(Line &line, Access &access)
{
	if (access.kind == AccessKind::unlock) {
		unlock(line, access);
		return 0;
	}
	if (is_lock(access.kind)) {
		if (const int error = line.lock.take(access))
			return error;
		cache_.hide(line);
		cache_.pin(line);
		return 0;
	}
	cache_.use(line, [&] { execute(access, line.data()); });
	line.dirty |= is_exclusive(access.kind);
	open_if_dirty(line);
	cache_.touch(line);
	return 0;
}

/** Opens the line to other threads if it is already known to be newer than the buffer of the entry. */
void Latch::open_if_dirty(Line &line) noexcept
{
	if (line.state == State::exclusive && line.dirty)
		cache_.open(line);
}

void Latch::unlock(Line &line, Access &access)
{
	PRISM_ASSERT(line.lock.holds(access.thread));
	line.lock.give_back(access.thread);
	access.error = line.error;
	if (!line.lock.is_held()) {
		line.error = 0;
		if (line.owed != no_node && options_.rules.ack_at_unlock)
			acknowledge(line, std::exchange(line.owed, no_node));
	}
	run(line);
}

void Latch::finish(Access &access, int error)
{
	PRISM_ASSERT(pending_ > 0);
	pending_--;
	access.error = error;
	if (starting_ == &access)
		starting_ = nullptr;
	else
		host_.ended(access);
}

/** Ends all accesses of @p line. */
void Latch::fail(Line &line, int error)
{
	while (!line.queue.empty())
		finish(line.queue.pop(), error);
}

/** Continues with @p line until it waits for something. Afterwards it may be another block's, or free. */
void Latch::run(Line &line)
{
	while (line.phase == Phase::idle) {
		int error = 0;
		if (line.unsure != Phase::idle) {
			go_on(line);
		} else if (wants_to_leave(line)) {
			leave(line);
		} else if (Access *const ready = take_ready(line, error)) {
			finish(*ready, error ? error : perform(line, *ready));
		} else if (!line.queue.empty() && verdict(line, line.queue.front()) == acquire) {
			begin(line);
		} else {
			break;
		}
	}
	settle(line);
}

/** Takes the first access if it can end now, or else one of the holder of the lock that holds back the first. */
Access *Latch::take_ready(Line &line, int &error)
{
	if (line.queue.empty())
		return nullptr;
	error = verdict(line, line.queue.front());
	if (error >= 0)
		return &line.queue.pop();
	if (error == acquire || !line.lock.is_held())
		return nullptr;
	Access *ready = nullptr;
	line.queue.remove_if([&](Access &access) {
		if (ready || !line.lock.holds(access.thread) || (error = verdict(line, access)) < 0)
			return false;
		ready = &access;
		return true;
	});
	return ready;
}

void Latch::settle(Line &line)
{
	if (line.phase != Phase::idle)
		return cache_.pin(line);
	if (line.state != State::exclusive)
		turn_away(line);
	const bool needed = !line.queue.empty() || line.lock.is_held();
	if (needed && line.makes_room) {
		evicting_--;
		line.makes_room = line.fleeting = false;
	}
	if (!needed && line.fleeting && line.state == State::shared) {
		set_state(line, State::invalid);
		stats_.evictions_shared++;
	}
	if (!needed && line.state == State::invalid)
		release(line);
	else if (line.lock.is_held())
		cache_.pin(line);
	else
		cache_.unpin(line);
	if (!needed && line.state != State::invalid) {
		cache_.show(line);
		open_if_dirty(line);
	}
	if (!room_.empty())
		fill_room();
}

void Latch::release(Line &line)
{
	evicting_ -= line.makes_room;
	line.dirty = line.fleeting = line.makes_room = line.invalidated = line.am_waiter = line.refused = false;
	line.moved = 0;
	line.error = 0;
	cache_.release(line);
}

void Latch::set_state(Line &line, State state) noexcept
{
	cache_.hide(line);
	line.state = state;
}

void Latch::set_phase(Line &line, Phase phase) noexcept
{
	cache_.hide(line);
	PRISM_ASSERT(line.phase == Phase::idle || busy_ > 0);
	busy_ -= line.phase != Phase::idle;
	busy_ += phase != Phase::idle;
	line.phase = phase;
}

/** Rests until on_time(). Turns away nodes that wait here, as this one may wait for one of them. */
void Latch::rest(Line &line)
{
	if (line.state != State::exclusive)
		turn_away(line);
	set_phase(line, Phase::resting);
	line.again = now_ + options_.rest;
	resting_.push_back(&line);
}

Time Latch::on_time(Time now)
{
	const SerialCalls::Call call(calls_);
	now_ = now;
	do_chores();
	end_overdue(now);
	return std::min(retry(now), overdue_);
}

/** Retries lines whose rest is over. Returns the time when the next one is due. */
Time Latch::retry(Time now)
{
	const auto later =
		std::partition(resting_.begin(), resting_.end(), [now](const Line *line) { return line->again > now; });
	due_.assign(later, resting_.end());
	resting_.erase(later, resting_.end());
	for (Line *const line : due_) {
		set_phase(*line, Phase::idle);
		run(*line);
	}
	Time next = changes_.empty() && sweeps_.empty() ? Time::max() : now + options_.rest;
	for (const Line *const line : resting_)
		next = std::min(next, line->again);
	return next;
}

/** Finds lines for waiting accesses, in order: those to a block without a line must not overtake each other. */
void Latch::fill_room()
{
	if (is_filling_)
		return;
	is_filling_ = true;
	while (!room_.empty()) {
		const Address block = room_.front().at.block();
		Line *const line = make_room(block);
		if (line) {
			room_.remove_if([&](Access &access) {
				if (access.at.block() != block)
					return false;
				room_count_--;
				line->queue.push(access);
				return true;
			});
			run(*line);
		} else if (busy_) {
			break;
		} else {
			room_count_--;
			finish(room_.pop(), ENOBUFS);
		}
	}
	if (room_.empty())
		trim();
	is_filling_ = false;
}

/** Ends accesses of threads whose locks others may wait for, in the lines that they want, and wait for good. */
void Latch::end_overdue(Time now)
{
	if (now < overdue_)
		return;
	AccessQueue over;
	overdue_ = room_.remove_overdue(now, over);
	while (!over.empty()) {
		room_count_--;
		finish(over.pop(), ENOBUFS);
	}
}

/** Evicts lines beyond the limit, so that a miss mostly finds a free line and does not wait for a write-back. */
void Latch::trim()
{
	while (cache_.used() > limit_ + evicting_ && evicting_ < max_evictions && evict_oldest()) {}
}

/** Begins at least to evict the least recently used line. Returns false if no line can go. */
bool Latch::evict_oldest()
{
	Line *const victim = cache_.least_recently_used();
	if (!victim)
		return false;
	victim->makes_room = true;
	evicting_++;
	evict(*victim);
	return true;
}

Latch::Line *Latch::make_room(Address block)
{
	for (;;) {
		if (Line *const line = cache_.find(block))
			return line;
		if (Line *const line = cache_.take(block))
			return line;
		if (evicting_ >= std::min(room_count_, max_evictions) || !evict_oldest())
			return nullptr;
	}
}

void Latch::evict(Line &line)
{
	line.fleeting = true;
	run(line);
}

void Latch::flush()
{
	const SerialCalls::Call call(calls_);
	cache_.for_each([this](Line &line) {
		if (!line.lock.is_held())
			evict(line);
	});
}

bool Latch::at_rest() const
{
	return !pending_ && !busy_ && !is_sweeping() && changes_.empty();
}

Latch::State Latch::state(Address block, const std::byte **data) noexcept
{
	const Line *const line = cache_.find(block);
	if (data)
		*data = line && line->state != State::invalid ? line->data() : nullptr;
	return line ? line->state : State::invalid;
}

} // namespace prism::gam
