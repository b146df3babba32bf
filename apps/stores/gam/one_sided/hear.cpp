/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Messages of other nodes. */
#include "gam/one_sided/latch.hpp"

#include <cerrno>
#include <cstring>

namespace prism::gam
{

using latch::Type;

void Latch::send(NodeId to, Type type, Address block, std::uint8_t flags, std::uint32_t version, std::uint64_t sharers,
	std::span<const std::byte> data)
{
	if (is_dead(to))
		return;
	Message message;
	message.type = static_cast<std::uint8_t>(type);
	message.flags = flags;
	message.block = block;
	message.request = version;
	message.counter = sharers;
	message.data = data;
	stats_.messages++;
	host_.send(to, message);
}

void Latch::hear(NodeId from, const Message &message)
{
	const SerialCalls::Call call(calls_);
	const bool is_for_this =
		message.block == message.block.block() && shard_of(message.block, options_.shards) == options_.shard;
	if (from >= max_nodes || from == options_.self || is_dead(from) || !is_for_this) {
		stats_.refused++;
		return;
	}
	Line *const line = cache_.find(message.block);
	switch (static_cast<Type>(message.type)) {
	case Type::request:
		hear_request(from, line, message);
		break;
	case Type::invalidate:
		hear_invalidate(from, line, message);
		break;
	case Type::withdrawn:
		if (from != message.block.home())
			stats_.refused++;
		else if (line)
			line->fleeting = true;
		break;
	default:
		if (!line || !hear_answer(from, *line, message)) {
			stats_.refused++;
			return;
		}
	}
	if (line)
		run(*line);
}

/**
 * Handles a request. A node that is doing something with the block queues it, and will have the block or turn all away.
 */
void Latch::hear_request(NodeId from, Line *line, const Message &message)
{
	const bool exclusive = message.flags & latch::exclusive;
	if (!line || (line->state != State::exclusive && (line->phase == Phase::idle || line->phase == Phase::resting)))
		return send(from, Type::moved, message.block);
	const bool is_locked = line->state == State::exclusive && !line->lock.allows(exclusive);
	const bool may_take_long = line->state != State::exclusive && line->phase != Phase::idle;
	if ((message.flags & latch::tries) && (is_locked || may_take_long))
		return send(from, Type::busy, message.block);
	if ((line->requests.all() | line->served) & bit(from) || line->next == from)
		stats_.refused++; /* it has already asked */
	else
		line->requests.add(from, exclusive);
}

/** Drops the copy; if it is locked, at the last unlock. */
void Latch::hear_invalidate(NodeId from, Line *line, const Message &message)
{
	const auto version = static_cast<std::uint32_t>(message.request);
	if (!line)
		return options_.rules.ack_without_copy ? send(from, Type::ack, message.block) : void();
	const bool is_writer = line->state == State::exclusive || line->phase == Phase::telling;
	if (is_writer || line->owed != no_node) {
		stats_.refused++;
		return;
	}
	if (line->state == State::shared && line->lock.is_held() && options_.rules.locks_hold) {
		if (message.flags & latch::tries)
			send(from, Type::busy, message.block);
		else
			line->owed = from;
		return;
	}
	if (!line->invalidated || latch::is_no_older(version, line->acked))
		line->acked = version;
	line->invalidated = true;
	acknowledge(*line, from);
}

void Latch::acknowledge(Line &line, NodeId to)
{
	set_state(line, State::invalid);
	send(to, Type::ack, line.block());
}

/** Handles an answer. Returns false if this node has not asked for it. */
bool Latch::hear_answer(NodeId from, Line &line, const Message &message)
{
	const auto type = static_cast<Type>(message.type);
	if (line.phase == Phase::telling && (line.awaited & bit(from))) {
		const bool refuses = type == Type::busy && line.queue.front().tries;
		if (type != Type::ack && !refuses)
			return false;
		told(line, from, refuses);
		return true;
	}
	if (line.phase != Phase::asked || line.asked != from)
		return false;
	switch (type) {
	case Type::grant_read:
	case Type::grant_write:
		return hear_grant(line, message);
	case Type::moved:
		line.moved++;
		set_phase(line, Phase::idle);
		return true;
	case Type::busy:
		if (!line.queue.front().tries)
			return false;
		set_phase(line, Phase::idle);
		finish(line.queue.pop(), EBUSY);
		return true;
	default:
		return false;
	}
}

bool Latch::hear_grant(Line &line, const Message &message)
{
	const bool exclusive = static_cast<Type>(message.type) == Type::grant_write;
	if (exclusive != is_exclusive(line.queue.front().kind) || message.data.size() != block_size)
		return false;
	store_words(line.data(), message.data);
	line.version = static_cast<std::uint32_t>(message.request);
	line.am_waiter = false;
	line.fleeting |= (message.flags & latch::freed) != 0;
	set_phase(line, Phase::idle);
	if (exclusive) {
		tell(line, message.counter);
	} else if (line.invalidated && latch::is_no_older(line.acked, line.version) &&
		   options_.rules.drop_invalidated) {
		use_once(line);
	} else {
		line.moved = 0;
		set_state(line, State::shared);
	}
	return true;
}

/**
 * Tells @p sharers to drop their copies. The entry names this node as the writer, and it has the data; it owns the
 * block when all have answered.
 */
void Latch::tell(Line &line, std::uint64_t sharers)
{
	const bool tries = line.queue.front().tries;
	set_state(line, State::invalid);
	line.awaited = sharers & ~bit(options_.self) & ~(options_.rules.drop_sharers_of_the_dead ? dead_ : 0);
	set_phase(line, Phase::telling);
	for_each_node(line.awaited, [&](NodeId sharer) {
		send(sharer, Type::invalidate, line.block(), tries ? latch::tries : std::uint8_t{0}, line.version);
	});
	if (!options_.rules.await_acks)
		line.awaited = 0;
	if (!line.awaited)
		told_all(line);
}

void Latch::told(Line &line, NodeId by, bool refuses)
{
	line.awaited &= ~bit(by);
	line.refused |= refuses;
	if (!line.awaited || (refuses && !options_.rules.await_all_answers))
		told_all(line);
}

/**
 * Goes on when all have answered. A refused try waits for all too: a later answer would be taken for one to the next
 * claim.
 */
void Latch::told_all(Line &line)
{
	set_phase(line, Phase::idle);
	if (line.refused && !options_.rules.undo_tries) {
		line.refused = false;
		finish(line.queue.pop(), EBUSY);
	} else if (line.refused)
		undo(line);
	else
		own(line);
}

/** Owns the block. The access that needed it comes first, before those of other nodes. */
void Latch::own(Line &line)
{
	set_state(line, State::exclusive);
	line.dirty = false;
	line.waiter = no_node;
	line.moved = 0;
	Access &access = line.queue.pop();
	finish(access, perform(line, access));
}

} // namespace prism::gam
