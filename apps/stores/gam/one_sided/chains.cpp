/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The chains that a line posts to get its block, and their outcomes. The caller then calls run(). */
#include "gam/one_sided/latch.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

#include "gam/coherence/execute.hpp"

namespace prism::gam
{

using latch::Entry;
using latch::HomeMemory;
using latch::Outcome;
using latch::Slot;

namespace
{

constexpr std::array<std::byte, block_size> zeros{};

} // namespace

Slot &Latch::slot(const Line &line) const noexcept
{
	std::byte *const lines = options_.memory.bytes.data();
	const auto number = static_cast<std::size_t>(line.data() - lines) / block_size;
	return *reinterpret_cast<Slot *>(lines + cache_.size() * block_size + number * latch::slot_size);
}

LocalSlice Latch::slice(const void *place, std::uint32_t bytes) const noexcept
{
	const auto offset = static_cast<const std::byte *>(place) - options_.memory.bytes.data();
	return {options_.memory.address + static_cast<std::uint64_t>(offset), bytes, options_.memory.lkey};
}

/** Posts @p chain. Returns false if that failed: @p line rests, to try again, or is broken. */
bool Latch::post(Line &line, const Chain &chain, Phase phase)
{
	const int error = homes_.post(line.block().home(), chain, line.block().value);
	if (error == EAGAIN) {
		if (phase == Phase::leaving && line.unsure == Phase::idle)
			take_back(line);
		rest(line);
		return false;
	}
	if (error) {
		broken(line, EHOSTUNREACH);
		return false;
	}
	line.was_unsure |= std::exchange(line.unsure, Phase::idle) != Phase::idle;
	stats_.requests += chain.size();
	set_phase(line, phase);
	line.swept = 0;
	return true;
}

/** Begins to acquire what the first access needs. */
void Latch::begin(Line &line)
{
	Access &access = line.queue.front();
	const NodeId home_id = line.block().home();
	const HomeMemory *const home = is_dead(home_id) ? nullptr : homes_.find(home_id);
	if (line.error)
		return fail(line, line.error);
	if (!home)
		return fail(line, EHOSTUNREACH);
	if (line.block().block_number() >= home->layout.blocks)
		return fail(line, EFAULT);
	const bool gives_up = access.tries && line.moved >= options_.patience;
	if (gives_up) {
		line.moved = 0;
		return finish(line.queue.pop(), EBUSY);
	}
	if (access.kind == AccessKind::write_back)
		return install(line, *home);
	line.fleeting |= access.uncached;
	line.invalidated = false;
	if (line.moved >= options_.patience)
		wait(line, *home);
	else if (is_exclusive(access.kind))
		claim(line, *home);
	else if (access.uncached && !access.progress)
		peek(line, *home);
	else
		fetch(line, *home);
}

void Latch::fetch(Line &line, const HomeMemory &home)
{
	const RemoteAddress entry = home.entry(line.block().block_number());
	Chain chain;
	chain.cas(entry, latch::fetch(options_.self, line.am_waiter), slice(&slot(line).found, sizeof(Entry)));
	chain.read(entry + offsetof(Entry, value), slice(line.data(), block_size)).indirect_bounded().conditional();
	post(line, chain, Phase::fetching);
}

void Latch::peek(Line &line, const HomeMemory &home)
{
	const RemoteAddress entry = home.entry(line.block().block_number());
	Chain chain;
	chain.cas(entry, latch::peek(), slice(&slot(line).found, sizeof(Entry)));
	chain.read(entry + offsetof(Entry, value), slice(line.data(), block_size)).indirect_bounded().conditional();
	post(line, chain, Phase::peeking);
}

void Latch::claim(Line &line, const HomeMemory &home)
{
	const RemoteAddress entry = home.entry(line.block().block_number());
	line.reads = line.state == State::invalid;
	Chain chain;
	chain.cas(entry, latch::claim(options_.self, line.am_waiter), slice(&slot(line).found, sizeof(Entry)));
	if (line.reads)
		chain.read(entry + offsetof(Entry, value), slice(line.data(), block_size))
			.indirect_bounded()
			.conditional();
	post(line, chain, Phase::claiming);
}

void Latch::wait(Line &line, const HomeMemory &home)
{
	Chain chain;
	chain.cas(home.entry(line.block().block_number()), latch::wait(options_.self),
		slice(&slot(line).found, sizeof(Entry)));
	post(line, chain, Phase::waiting);
}

/** Reads the block again. This node is already the writer, so the value cannot change, and no sharer is added. */
void Latch::reread(Line &line, const Entry &found)
{
	const HomeMemory *const home = homes_.find(line.block().home());
	if (!home)
		return broken(line, EHOSTUNREACH);
	set_state(line, State::invalid);
	line.sharers = found.sharers;
	line.version = found.value.tag;
	Chain chain;
	chain.read(home->entry(line.block().block_number()) + offsetof(Entry, value), slice(line.data(), block_size))
		.indirect_bounded();
	post(line, chain, Phase::rereading);
}

/**
 * Undoes a failed try: the sharers that have acknowledged have lost their copies, and nothing else has changed. Also
 * removes marks of this node from the entry when it does not want the block any more.
 */
void Latch::undo(Line &line)
{
	const HomeMemory *const home = homes_.find(line.block().home());
	if (!home)
		return broken(line, EHOSTUNREACH);
	const RemoteAddress entry = home->entry(line.block().block_number());
	Chain chain;
	if (line.am_waiter)
		chain.cas(entry, latch::sweep_waiter(options_.self));
	chain.cas(entry, latch::undo(options_.self), slice(&slot(line).found, sizeof(Entry)));
	post(line, chain, Phase::undoing);
}

void Latch::completed(std::uint64_t token, const Outcome &outcome)
{
	const SerialCalls::Call call(calls_);
	if (token & chore_token) {
		PRISM_ASSERT(chores_under_way_ > 0);
		chores_under_way_--;
		if (outcome.failed)
			repeat_chore(token);
		if (token & change_token)
			changed(block_of(token));
		return do_chores();
	}
	Line *const line = cache_.find(block_of(token));
	if (!line || line->phase == Phase::idle)
		return; /* no chain of it was posted */
	if (std::exchange(line->is_lost, false))
		end_lost(*line);
	else if (outcome.failed || is_dead(line->block().home()))
		failed(*line, outcome);
	else
		ended(*line, outcome);
	run(*line);
}

/**
 * Handles a failed chain: the queue pair has ended. A chain that only asks is begun again. One that gives the block
 * away may have been executed; until it is posted again, this node neither has the block nor has given it away.
 */
void Latch::failed(Line &line, const Outcome &outcome)
{
	const Phase phase = line.phase;
	const NodeId home = line.block().home();
	if (is_dead(home) || !homes_.find(home))
		return broken(line, EHOSTUNREACH);
	if (outcome.refused) {
		stats_.refused++;
		broken(line, EPROTO);
		if (phase != Phase::claiming && phase != Phase::rereading)
			return;
		line.unsure = Phase::undoing; /* the entry may name this node as the writer */
	} else if (phase == Phase::leaving || phase == Phase::undoing) {
		line.unsure = phase;
	}
	rest(line);
}

/** Posts the chain again whose execution is uncertain. */
void Latch::go_on(Line &line)
{
	const NodeId home_id = line.block().home();
	const HomeMemory *const home = is_dead(home_id) ? nullptr : homes_.find(home_id);
	if (!home)
		return broken(line, EHOSTUNREACH);
	if (line.unsure == Phase::undoing)
		undo(line);
	else
		post_leave(line, *home);
}

void Latch::ended(Line &line, const Outcome &outcome)
{
	const Phase phase = line.phase;
	set_phase(line, Phase::idle);
	switch (phase) {
	case Phase::fetching:
		return fetched(line, outcome);
	case Phase::peeking:
		return peeked(line, outcome);
	case Phase::claiming:
		return claimed(line, outcome);
	case Phase::rereading:
		return has_reread(line, outcome);
	case Phase::waiting:
		line.moved = 0;
		line.am_waiter = outcome.status == PRISMDV_STATUS_OK;
		return;
	case Phase::undoing:
		return undone(line, outcome);
	case Phase::leaving:
		return left(line, outcome);
	case Phase::installing:
		return installed(line, outcome);
	default:
		return;
	}
}

/** Zeroes the part that was not read: a block without a buffer is zeros, as is the part beyond a short buffer. */
void Latch::complete_data(Line &line, const Outcome &outcome) noexcept
{
	const std::uint32_t there = outcome.status == PRISMDV_STATUS_OK ? outcome.bytes : 0;
	if (there < block_size)
		store_words(line.data() + there, std::span(zeros).first(block_size - there));
}

void Latch::fetched(Line &line, const Outcome &outcome)
{
	if (outcome.status == PRISMDV_STATUS_SKIPPED)
		return missed(line);
	complete_data(line, outcome);
	line.version = slot(line).found.value.tag;
	line.am_waiter = false;
	if (line.invalidated && options_.rules.drop_invalidated)
		return use_once(line);
	line.moved = 0;
	set_state(line, State::shared);
}

/** Uses the peeked block: the buffer was current at the moment of the CAS or later, so within the access. */
void Latch::peeked(Line &line, const Outcome &outcome)
{
	if (outcome.status == PRISMDV_STATUS_SKIPPED) {
		line.queue.front().progress = 1; /* from now on like any other access: it may have to wait */
		return missed(line);
	}
	complete_data(line, outcome);
	use_once(line);
}

void Latch::claimed(Line &line, const Outcome &outcome)
{
	if (outcome.status == (line.reads ? PRISMDV_STATUS_SKIPPED : PRISMDV_STATUS_CAS_MISS))
		return missed(line);
	const Entry &old = slot(line).found;
	line.am_waiter = false;
	if (old.sharers & line.swept)
		return; /* the next try finds this node in the entry, with the current sharers */
	if (!line.reads && line.state == State::invalid && options_.rules.reread) /* invalidated meanwhile */
		return reread(line, old);
	if (line.reads)
		complete_data(line, outcome);
	line.version = old.value.tag;
	tell(line, old.sharers);
}

void Latch::has_reread(Line &line, const Outcome &outcome)
{
	complete_data(line, outcome);
	tell(line, line.sharers & ~line.swept); /* they became sharers before this node was the writer */
}

void Latch::undone(Line &line, const Outcome &outcome)
{
	const bool was_unsure = std::exchange(line.was_unsure, false), tried = std::exchange(line.refused, false);
	if (outcome.status != PRISMDV_STATUS_OK && !was_unsure)
		return broken(line, ESTALE);
	line.am_waiter = false;
	if (tried)
		finish(line.queue.pop(), EBUSY);
}

/** Handles a CAS that has missed: the old bytes tell why. */
void Latch::missed(Line &line)
{
	const Entry old = slot(line).found;
	if (!(old.flags & latch::entry_lent))
		return not_lent(line);
	if (!latch::is_sound(old)) {
		stats_.refused++;
		return broken(line, EPROTO);
	}
	const NodeId writer = latch::node_of(old.writer), waiter = latch::node_of(old.waiter);
	line.am_waiter = waiter == options_.self;
	/* Writer by a claim whose answer was lost; if also waiter, until it leaves */
	if (writer == options_.self && !(old.sharers & line.swept))
		return reread(line, old);
	if (writer == options_.self)
		return; /* read the current sharers */
	if (writer != no_node && (bit(writer) & line.swept))
		return; /* the entry was read before its home swept it */
	if (is_dead(writer) && options_.rules.rest_for_the_dead)
		return rest(line);
	if (writer != no_node)
		return ask(line, writer);
	if (waiter == no_node || line.am_waiter)
		return; /* the entry is free by now */
	if (line.queue.front().tries)
		return finish(line.queue.pop(), EBUSY);
	rest(line); /* do not ask the waiter, which may wait for a node that waits for this one */
}

void Latch::ask(Line &line, NodeId writer)
{
	const Access &access = line.queue.front();
	line.asked = writer;
	line.invalidated = false;
	set_phase(line, Phase::asked);
	const unsigned flags = (is_exclusive(access.kind) ? latch::exclusive : 0U) | (access.tries ? latch::tries : 0U);
	send(writer, latch::Type::request, line.block(), static_cast<std::uint8_t>(flags));
}

/**
 * Handles a block that is not lent. A home that has allocated it lends it at its own first use, as it writes zeros
 * before it hands the block out. Any other node gives up and removes its marks; otherwise nobody could get the block
 * when it is allocated again.
 */
void Latch::not_lent(Line &line)
{
	const NodeId home_id = line.block().home();
	const HomeMemory *const home = homes_.find(home_id);
	if (home_id != options_.self || !home || !host_.is_allocated(line.block())) {
		const Entry old = slot(line).found;
		broken(line, EFAULT);
		line.am_waiter = old.waiter == latch::mark(options_.self);
		if (line.am_waiter || old.writer == latch::mark(options_.self))
			line.unsure = Phase::undoing;
		return;
	}
	Chain chain;
	chain.cas(home->entry(line.block().block_number()), latch::lend(true));
	post(line, chain, Phase::lending);
}

/** Uses the data for the access that waited for it, and no other: it may already have been invalidated. */
void Latch::use_once(Line &line)
{
	set_state(line, State::invalid);
	if (is_lock(line.queue.front().kind))
		return;
	Access &access = line.queue.pop();
	line.moved = 0;
	execute(access, line.data());
	finish(access, 0);
}

/**
 * Drops the block: its value is lost, or never existed. Ends all accesses that wait here. Locks are held until they are
 * unlocked.
 */
void Latch::broken(Line &line, int error)
{
	set_phase(line, Phase::idle);
	take_back(line);
	turn_away(line);
	set_state(line, State::invalid);
	line.dirty = line.refused = line.am_waiter = false;
	line.awaited = 0;
	line.unsure = Phase::idle;
	line.was_unsure = false;
	line.error = line.lock.is_held() ? error : 0;
	if (line.owed != no_node)
		acknowledge(line, std::exchange(line.owed, no_node));
	fail(line, error);
}

} // namespace prism::gam
