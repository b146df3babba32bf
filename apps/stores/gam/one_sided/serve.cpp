/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Handing a block back to the home and on to other nodes. The entry changes first: it holds what others are told. */
#include "gam/one_sided/latch.hpp"

#include <cerrno>

namespace prism::gam
{

using latch::Entry;
using latch::HomeMemory;
using latch::Outcome;
using latch::Slot;

/** Returns true if a lock keeps the block here. */
bool Latch::is_kept(const Line &line) const noexcept
{
	return line.lock.is_held() && options_.rules.own_locks_hold;
}

/** Returns true if the block should be given away. A block locked here for reading can still be read elsewhere. */
bool Latch::wants_to_leave(const Line &line) const noexcept
{
	if (line.state != State::exclusive || line.phase != Phase::idle)
		return false;
	if (is_kept(line))
		return line.lock.allows(false) && line.requests.readers();
	return !line.requests.empty() || (line.fleeting && line.queue.empty());
}

/**
 * Gives up the block in one step for all that wait: readers get copies, and the next writer the block. The line changes
 * when the chain is posted, as others may hear of the change before this node does.
 */
void Latch::leave(Line &line)
{
	const HomeMemory *const home = homes_.find(line.block().home());
	if (!home)
		return broken(line, EHOSTUNREACH);
	const NodeId waiter = line.waiter;
	line.served = line.requests.readers();
	line.requests.remove_readers();
	const bool nobody_waits = waiter == no_node || waiter == options_.self;
	if (!is_kept(line) && (nobody_waits || line.requests.has_writer(waiter)))
		line.next = nobody_waits ? line.requests.first_writer() : waiter;
	line.requests.remove(line.next);
	line.evicts =
		line.fleeting && !line.served && line.next == no_node && line.requests.empty() && !line.lock.is_held();
	set_state(line, line.evicts || line.next != no_node ? State::invalid : State::shared);
	post_leave(line, *home);
}

void Latch::post_leave(Line &line, const HomeMemory &home)
{
	const NodeId me = options_.self, waiter = line.waiter;
	const bool waiter_is_served = waiter == no_node || waiter == me || waiter == line.next ||
				      (waiter < max_nodes && (line.served & bit(waiter)));
	const std::uint64_t sharers = line.evicts ? 0 : line.served | (line.state == State::shared ? bit(me) : 0);
	const RemoteAddress entry = home.entry(line.block().block_number());
	const LocalSlice found = slice(&slot(line).found, sizeof(Entry));
	Chain chain;
	line.dirty &= options_.rules.write_back;
	if (line.dirty)
		append_write_back(line, chain, home);
	if (line.dirty && line.evicts) {
		chain.cas(entry, latch::write_back_and_leave(me, waiter), found)
			.data_indirect(home.scratch(me))
			.conditional();
	} else {
		if (line.dirty)
			chain.cas(entry, latch::write_back(me), slice(&slot(line).installed, sizeof(Entry)))
				.data_indirect(home.scratch(me))
				.conditional();
		chain.cas(entry, latch::leave(me, waiter, line.next, sharers, waiter_is_served ? no_node : waiter),
			found);
		if (line.dirty)
			chain.conditional();
	}
	post(line, chain, Phase::leaving);
}

/** Appends the ALLOCATE of a write-back; it puts the pointer where the next CAS loads it. */
void Latch::append_write_back(Line &line, Chain &chain, const HomeMemory &home) const
{
	Slot &results = slot(line);
	results.address = 0;
	chain.allocate(home.free_list, slice(line.data(), block_size))
		.redirect_bounded(home.scratch(options_.self) + latch::scratch_pointer, line.version + 1)
		.result(slice(&results.address, sizeof(results.address)));
}

void Latch::left(Line &line, const Outcome &outcome)
{
	const Slot results = slot(line);
	const bool was_unsure = std::exchange(line.was_unsure, false);
	if (line.dirty && !results.address) { /* no buffer: this node still has the block */
		if (was_unsure)
			line.unsure = Phase::leaving;
		else
			take_back(line);
		return rest(line);
	}
	if (outcome.status == PRISMDV_STATUS_SKIPPED) { /* no longer the writer: others have declared this node dead */
		give_back(line, results.address);
		return was_unsure ? has_left(line, results.installed) : broken(line, ESTALE);
	}
	const bool missed = outcome.status == PRISMDV_STATUS_CAS_MISS;
	if (line.dirty && line.evicts && missed)
		give_back(line, results.address);
	else if (line.dirty)
		has_installed(line, !options_.rules.release_old ? results.address
				    : line.evicts               ? results.found.value.ptr
								: results.installed.value.ptr);
	if (!missed)
		return grant(line, results.found);
	if (latch::node_of(results.found.writer) != options_.self)
		return was_unsure ? has_left(line, results.found) : broken(line, ESTALE);
	line.waiter = latch::node_of(results.found.waiter); /* to be served first; try again */
	take_back(line);
}

/**
 * Handles a leave that turns out to have been executed: the buffer that it replaced is lost, and those that it serves
 * have waited.
 */
void Latch::has_left(Line &line, const Entry &found)
{
	line.version += line.dirty;
	line.dirty = false;
	grant(line, found);
}

/**
 * Grants the block to those that it was left to. @p found: the entry before the CAS. If the block was free by then, its
 * home may not have told them.
 */
void Latch::grant(Line &line, const Entry &found)
{
	const std::span<const std::byte> data(line.data(), block_size);
	const std::uint8_t flags = found.flags & latch::entry_lent ? 0 : latch::freed;
	for_each_node(line.served, [&](NodeId reader) {
		send(reader, latch::Type::grant_read, line.block(), flags, line.version, 0, data);
	});
	if (line.next != no_node)
		send(line.next, latch::Type::grant_write, line.block(), flags, line.version, line.served, data);
	line.served = 0;
	line.next = line.waiter = no_node;
}

/** Takes back a block that was to be given away; requests of nodes that have died meanwhile are dropped. */
void Latch::take_back(Line &line) noexcept
{
	line.requests.put_back(is_dead(line.next) ? no_node : line.next, line.served & ~dead_);
	line.served = 0;
	line.next = no_node;
	set_state(line, State::exclusive);
}

void Latch::has_installed(Line &line, std::uint64_t old_buffer)
{
	line.version++;
	line.dirty = false;
	stats_.evictions_dirty += line.evicts;
	if (old_buffer)
		give_back(line, old_buffer);
}

/** Gives back @p buffer. An address that is no buffer was written by a faulty node. */
void Latch::give_back(Line &line, std::uint64_t buffer)
{
	const NodeId home_id = line.block().home();
	const HomeMemory *const home = homes_.find(home_id);
	if (!home || !home->has_buffer(buffer)) {
		stats_.refused++;
		return;
	}
	freed_++;
	homes_.give_back(home_id, buffer);
}

void Latch::turn_away(Line &line)
{
	for_each_node(options_.rules.turn_away ? line.requests.all() : 0,
		[&](NodeId node) { send(node, latch::Type::moved, line.block()); });
	line.requests.clear();
}

void Latch::install(Address at)
{
	Line *const line = cache_.find(at.block());
	if (!line || !line->dirty || line->state != State::exclusive || line->phase != Phase::idle)
		return;
	const HomeMemory *const home = homes_.find(line->block().home());
	if (!home)
		return broken(*line, EHOSTUNREACH);
	install(*line, *home);
	run(*line);
}

/** Writes back a dirty line and keeps the block. */
void Latch::install(Line &line, const HomeMemory &home)
{
	line.evicts = false;
	cache_.hide(line); /* it is not newer once it is installed */
	Chain chain;
	append_write_back(line, chain, home);
	chain.cas(home.entry(line.block().block_number()), latch::write_back(options_.self),
		     slice(&slot(line).installed, sizeof(Entry)))
		.data_indirect(home.scratch(options_.self))
		.conditional();
	post(line, chain, Phase::installing);
}

void Latch::installed(Line &line, const Outcome &outcome)
{
	const Slot results = slot(line);
	if (!results.address) { /* no buffer: it is still dirty, as before */
		if (!line.queue.empty())
			rest(line);
		return;
	}
	if (outcome.status == PRISMDV_STATUS_OK)
		return has_installed(line, results.installed.value.ptr);
	give_back(line, results.address);
	broken(line, ESTALE);
}

} // namespace prism::gam
