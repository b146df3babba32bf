/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Deaths of nodes, and a home's changes to its entries. */
#include "gam/one_sided/latch.hpp"

#include <algorithm>
#include <cerrno>

namespace prism::gam
{

using latch::Entry;
using latch::HomeMemory;

void Latch::lost(NodeId node)
{
	const SerialCalls::Call call(calls_);
	if (node >= max_nodes || node == options_.self)
		return;
	dead_ |= bit(node);
	end_waiting(node);
	cache_.for_each([this, node](Line &line) {
		forget(line, node);
		run(line);
	});
}

/** Ends the accesses to @p home, which is dead, that wait for a line: another node may have the number by then. */
void Latch::end_waiting(NodeId home)
{
	AccessQueue lost;
	room_.remove_if([&](Access &access) {
		if (access.at.home() != home)
			return false;
		room_count_--;
		lost.push(access);
		return true;
	});
	while (!lost.empty())
		finish(lost.pop(), EHOSTUNREACH);
}

/**
 * Forgets @p dead: accesses that waited for it continue. If it is the block's home, the accesses end: at once, or when
 * the chain does.
 */
void Latch::forget(Line &line, NodeId dead)
{
	line.requests.remove(dead);
	if (line.owed == dead)
		line.owed = no_node;
	if (line.block().home() == dead) {
		if (line.phase == Phase::resting) /* it must not wake when another node has the number */
			std::erase(resting_, &line);
		line.is_lost = has_chain(line.phase);
		if (line.is_lost)
			set_state(line, State::invalid);
		else
			broken(line, EHOSTUNREACH);
	} else if (line.phase == Phase::telling && (line.awaited & bit(dead))) {
		if (options_.rules.drop_sharers_of_the_dead)
			told(line, dead, false);
	} else if (line.phase == Phase::asked && line.asked == dead) {
		rest(line);
	}
}

/**
 * Ends a block of a dead home. Requests for it belong to that life too and are dropped: an answer would be taken for
 * one of the next life.
 */
void Latch::end_lost(Line &line)
{
	line.served = 0;
	line.next = line.owed = no_node;
	line.requests.clear();
	broken(line, EHOSTUNREACH);
}

bool Latch::has_let_go(NodeId dead)
{
	bool names_it = false;
	cache_.for_each([&](const Line &line) {
		const bool is_leaving = line.phase == Phase::leaving || line.unsure == Phase::leaving;
		names_it |= is_leaving && (line.next == dead || (line.served & bit(dead)));
	});
	return !names_it || !options_.rules.let_go;
}

void Latch::swept(NodeId dead)
{
	const SerialCalls::Call call(calls_);
	if (dead >= max_nodes)
		return;
	dead_ &= ~bit(dead);
	if (options_.rules.look_again)
		cache_.for_each([dead](Line &line) { line.swept |= bit(dead); });
}

void Latch::sweep(NodeId dead)
{
	const SerialCalls::Call call(calls_);
	if (!options_.region || dead >= max_nodes)
		return;
	sweeps_.push_back({dead, options_.shard});
	do_chores();
}

bool Latch::lend(Address block)
{
	if (!options_.region)
		return true;
	if (changing_.contains(block))
		return false;
	const Entry entry = options_.region->entry(block.block_number());
	if (entry.flags & latch::entry_lent)
		return true;
	if (!entry.writer && !entry.waiter && !entry.sharers) { /* no CAS matches it */
		options_.region->lend(block.block_number(), 1);
		return true;
	}
	change(block);
	return false;
}

/**
 * Posts a chore that lends or withdraws @p block. The allocator's state when it is posted counts, so the last chore is
 * right.
 */
void Latch::change(Address block)
{
	changes_.push_back(block);
	changing_[block]++;
	do_chores();
}

void Latch::changed(Address block)
{
	const auto found = changing_.find(block);
	if (found != changing_.end() && --found->second == 0)
		changing_.erase(found);
	if (!host_.is_allocated(block))
		tell_withdrawn(block);
}

/** Returns the other nodes that have @p block, a bit set. */
std::uint64_t Latch::others_with(Address block) const
{
	const Entry entry = options_.region->entry(block.block_number());
	const NodeId writer = latch::node_of(entry.writer);
	return (entry.sharers | (writer < max_nodes ? bit(writer) : 0)) & ~bit(options_.self);
}

/** Returns false if a node that may have to be told has no room: a large piece that is freed has many blocks. Of blocks
 * that are lent nobody is told. */
bool Latch::may_tell_withdrawn(Address block) const
{
	bool all = true;
	if (host_.is_allocated(block))
		return true;
	for_each_node(others_with(block), [&](NodeId node) { all &= is_dead(node) || host_.has_room(node); });
	return all;
}

/**
 * Tells the nodes that have @p block that it is withdrawn. No CAS gives it to a node now, so the entry names them all.
 */
void Latch::tell_withdrawn(Address block)
{
	for_each_node(others_with(block), [&](NodeId node) { send(node, latch::Type::withdrawn, block); });
	if (Line *const line = cache_.find(block))
		evict(*line);
}

/** Repeats a chore, as it may or may not have been executed. */
void Latch::repeat_chore(std::uint64_t token)
{
	const Address block = block_of(token);
	if (token & change_token)
		return change(block);
	for (NodeId dead = 0; dead < max_nodes; dead++) {
		if (is_dead(dead))
			sweeps_.push_back({dead, block.block_number()});
	}
}

/** Posts chores, a few at a time, to leave room for other chains. */
void Latch::do_chores()
{
	while (!changes_.empty() && chores_under_way_ < max_chores && may_tell_withdrawn(changes_.front())) {
		const HomeMemory *const home = homes_.find(options_.self);
		const Address block = changes_.front();
		Chain chain;
		if (home)
			chain.cas(home->entry(block.block_number()), latch::lend(host_.is_allocated(block)));
		if (home && !post_chore(block.value | change_token, chain))
			return;
		changes_.pop_front();
		if (!home)
			changed(block);
	}
	while (!sweeps_.empty() && chores_under_way_ < max_chores && sweep_next(sweeps_.front())) {}
}

bool Latch::post_chore(std::uint64_t token, const Chain &chain)
{
	if (homes_.post(options_.self, chain, token | chore_token))
		return false;
	stats_.requests += chain.size();
	chores_under_way_++;
	return true;
}

/**
 * Posts the next step of a sweep. All live nodes have let go, so no entry can come to name the dead node. Returns false
 * if it must be tried again later.
 */
bool Latch::sweep_next(Sweep &sweep)
{
	const std::uint64_t blocks = options_.region->layout().blocks;
	const HomeMemory *const home = homes_.find(options_.self);
	const std::uint16_t mark = latch::mark(sweep.dead);
	for (; sweep.next < blocks && home; sweep.next += options_.shards) {
		const Entry entry = options_.region->entry(sweep.next);
		if (entry.writer != mark && entry.waiter != mark && !(entry.sharers & bit(sweep.dead)))
			continue;
		const RemoteAddress at = home->entry(sweep.next);
		Chain chain;
		if (options_.rules.sweep_writers)
			chain.cas(at, latch::sweep_writer(sweep.dead));
		if (options_.rules.sweep_waiters)
			chain.cas(at, latch::sweep_waiter(sweep.dead));
		if (options_.rules.sweep_sharers)
			chain.cas(at, latch::sweep_sharer(sweep.dead));
		if (!post_chore(Address(options_.self, sweep.next * block_size).value, chain))
			return false;
		stats_.lost_values += entry.writer == mark;
		sweep.next += options_.shards;
		return true;
	}
	sweeps_.erase(sweeps_.begin());
	return true;
}

} // namespace prism::gam
