/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Answers to requests of a node. */
#include "gam/directory/lines.hpp"

#include <algorithm>
#include <cerrno>

#include "gam/coherence/execute.hpp"

namespace prism::gam::directory
{

bool Lines::hear(NodeId from, const Message &message)
{
	const auto type = static_cast<Type>(message.type);
	Line *const line = cache_.find(message.block);
	if (type == Type::invalidate)
		return from == message.block.home() && invalidate(line, message);
	const bool is_answer = type >= Type::shared_data && type <= Type::failed;
	if (is_answer && (!line || !awaits_answer(line->state) || line->pending->request != message.request))
		return message.request <= requests_; /* answer to a request that has ended because another node died */
	if (!line)
		return false;
	if (type == Type::shared_data)
		return take_shared(*line, message);
	if (type == Type::handed_over)
		return take_over(*line, message);
	return from == message.block.home() && hear_from_home(*line, message);
}

bool Lines::hear_from_home(Line &line, const Message &message)
{
	switch (static_cast<Type>(message.type)) {
	case Type::grant:
		return take_grant(line, message);
	case Type::permission:
		return take_permission(line, message);
	case Type::done:
		return take_done(line, message);
	case Type::answered:
		return take_answer(line, message);
	case Type::busy:
	case Type::failed:
		return take_refusal(line, message);
	case Type::evicted:
		return take_evicted(line);
	case Type::fetch_shared:
	case Type::fetch_invalidate:
	case Type::forward_read:
	case Type::forward_write:
		return give_up(line, message);
	default:
		return false;
	}
}

bool Lines::take_shared(Line &line, const Message &message)
{
	if (line.state != LineState::to_shared || message.data.empty())
		return false;
	store_words(line.data(), message.data);
	line.counter = message.counter;
	Pending &pending = *line.pending;
	if (!pending.dropped || !context_.rules().drop_invalidated) {
		enter(line, LineState::shared);
		advance(line);
		return true;
	}
	/*
	 * Serves only the reads that waited before the invalidation. A lock would keep the copy, so locks start over.
	 */
	while (pending.early > 0 && pending.waiting.front().kind == AccessKind::read) {
		Access &read = pop(pending);
		execute(read, line.data());
		context_.end(read, 0);
	}
	pending.early = 0;
	enter(line, LineState::invalid);
	advance(line);
	return true;
}

void Lines::own(Line &line)
{
	enter(line, LineState::dirty);
	advance(line);
}

bool Lines::take_grant(Line &line, const Message &message)
{
	if (line.state != LineState::to_dirty || message.data.empty())
		return false;
	store_words(line.data(), message.data);
	line.counter = message.counter;
	context_.stats().lost_values += message.flags & older ? 1 : 0;
	own(line);
	return true;
}

bool Lines::take_permission(Line &line, const Message &message)
{
	if (line.state != LineState::to_dirty || (!line.pending->has_copy && context_.rules().upgrade_without_copy))
		return false;
	line.counter = message.counter;
	own(line);
	return true;
}

bool Lines::take_over(Line &line, const Message &message)
{
	if (line.state != LineState::to_dirty || message.data.empty() || line.pending->is_here)
		return false;
	store_words(line.data(), message.data);
	line.pending->is_here = true;
	line.pending->has_copy = false;
	own_if_complete(line);
	return true;
}

bool Lines::take_done(Line &line, const Message &message)
{
	if (line.state != LineState::to_dirty || line.pending->is_done || message.node >= max_nodes)
		return false;
	line.pending->is_done = true;
	line.counter = message.counter;
	line.pending->old_owner = message.node;
	if (context_.is_dead(message.node) && !line.pending->is_here)
		ask_again(line, message.node);
	else
		own_if_complete(line);
	return true;
}

void Lines::own_if_complete(Line &line)
{
	const Pending &pending = *line.pending;
	if (pending.is_here && (pending.is_done || !context_.rules().await_done))
		own(line);
}

bool Lines::take_answer(Line &line, const Message &message)
{
	if (line.state != LineState::to_uncached)
		return false;
	Access &access = line.pending->waiting.front();
	if (message.data.empty() != (access.kind != AccessKind::read))
		return false;
	if (access.kind == AccessKind::read)
		std::copy_n(&message.data[access.at.in_block()], access.length, access.bytes);
	access.old_value = message.counter;
	context_.end(pop(*line.pending), 0);
	enter(line, LineState::invalid);
	advance(line);
	return true;
}

bool Lines::take_refusal(Line &line, const Message &message)
{
	Pending &pending = *line.pending;
	const bool is_busy = static_cast<Type>(message.type) == Type::busy;
	const bool is_allowed = is_busy ? pending.waiting.front().tries && line.state != LineState::to_uncached
					: message.error == EFAULT || message.error == ENOBUFS ||
						  message.error == ENOMEM || message.error == EOWNERDEAD ||
						  is_of_log(message.error);
	if (!is_allowed)
		return false;
	context_.end(pop(pending), is_busy ? EBUSY : message.error);
	const bool has_copy = line.state == LineState::to_dirty && pending.has_copy;
	enter(line, has_copy ? LineState::shared : LineState::invalid);
	advance(line);
	return true;
}

bool Lines::take_evicted(Line &line)
{
	if (line.state != LineState::to_invalid)
		return false;
	AccessQueue &waiting = pending(line).waiting;
	while (!waiting.empty() && waiting.front().kind == AccessKind::write_back && !is_demand(waiting.front()))
		context_.end(pop(*line.pending), 0);
	enter(line, LineState::invalid);
	advance(line);
	return true;
}

} // namespace prism::gam::directory
