/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Demands of the home, which a node obeys at once or when its threads let it. */
#include "gam/directory/lines.hpp"

namespace prism::gam::directory
{

bool Lines::invalidate(Line *line, const Message &message)
{
	const Rules &rules = context_.rules();
	const LineState state = line ? line->state : LineState::invalid;
	switch (state) {
	case LineState::invalid:
	case LineState::to_uncached:
		if (rules.ack_without_copy)
			answer(message, Type::ack);
		return true;
	case LineState::to_shared:
		if (!line->pending->dropped)
			line->pending->early = line->pending->length;
		line->pending->dropped = true;
		break;
	case LineState::to_dirty:
		line->pending->has_copy = false;
		break;
	case LineState::shared:
		pending(*line);
		return obey_or_queue(*line, message, line->pending->lock.allows(true));
	default:
		return false;
	}
	const bool acks = state == LineState::to_shared ? rules.ack_while_reading : rules.ack_while_writing;
	if (!acks)
		return obey_or_queue(*line, message, false);
	answer(message, Type::ack);
	return true;
}

/** Hands over the data of this node, the owner or the next one. */
bool Lines::give_up(Line &line, const Message &message)
{
	const bool is_forward = message.type >= static_cast<std::uint8_t>(Type::forward_read);
	if (is_forward && (message.node >= max_nodes || message.node == context_.self()))
		return false;
	switch (line.state) {
	case LineState::to_invalid:
		if (context_.rules().serve_while_evicting) {
			pending(line);
			if (has_room_to_obey(line, message))
				obey(line, message);
			else
				queue(line, message);
		}
		return true;
	case LineState::to_dirty:
		if (context_.rules().serve_after_grant)
			return obey_or_queue(line, message, false);
		obey(line, message);
		return true;
	case LineState::dirty:
		pending(line);
		return obey_or_queue(
			line, message, line.pending->lock.allows(wants_alone(static_cast<Type>(message.type))));
	default:
		return false;
	}
}

bool Lines::obey_or_queue(Line &line, const Message &message, bool admitted)
{
	Pending &pending = *line.pending;
	if (pending.demand.is_queued)
		return false; /* the home has one demand at a time */
	const bool is_free =
		(admitted && pending.waiting.empty()) || (!context_.rules().locks_hold && !is_in_transit(line.state));
	if (!is_free && message.flags & tries)
		answer(message, Type::locked);
	else if (is_free && has_room_to_obey(line, message))
		obey(line, message);
	else
		queue(line, message);
	advance(line);
	return true;
}

void Lines::queue(Line &line, const Message &message)
{
	Demand &demand = line.pending->demand;
	demand.progress = 1;
	demand.is_queued = true;
	demand.type = static_cast<Type>(message.type);
	demand.message = message;
	demand.message.data = {};
	push(*line.pending, demand);
}

/** Returns true if those that get the data have room for it; else resume() goes on with the line. */
bool Lines::has_room_to_obey(Line &line, const Message &message)
{
	if (static_cast<Type>(message.type) == Type::invalidate)
		return true;
	const bool is_forward = message.type >= static_cast<std::uint8_t>(Type::forward_read);
	const NodeId home = line.block().home();
	const NodeId full = !context_.has_room(home)                         ? home
			    : is_forward && !context_.has_room(message.node) ? message.node
									     : no_node;
	if (full != no_node)
		to_obey_.add(full, line.block(), line.pending->to_obey);
	else
		line.pending->to_obey.unlink();
	return full == no_node;
}

/**
 * Carries out a demand; changes the line, but looks at nothing that waits. Copies that are left of the line are of the
 * next term, which is the home's: else it would take them for older ones when it has died and returned.
 */
void Lines::obey(Line &line, const Message &message)
{
	auto type = static_cast<Type>(message.type);
	const std::span<const std::byte> data{line.data(), block_size};
	if (type == Type::invalidate) {
		answer(message, Type::ack);
		enter(line, LineState::invalid);
		return;
	}
	log_before_it_leaves(line);
	const bool is_forward = type == Type::forward_read || type == Type::forward_write;
	const bool reaches = is_forward && !context_.is_dead(message.node);
	if (reaches) {
		Message to_requester = message;
		to_requester.counter += type == Type::forward_read;
		to_requester.data = data;
		context_.send(
			message.node, type == Type::forward_read ? Type::shared_data : Type::handed_over, to_requester);
	}
	if (type == Type::forward_write && reaches)
		answer(message, Type::transferred);
	else
		answer(message, Type::data, data);
	if (!is_readable(line.state)) /* it is being evicted, or was meanwhile */
		return;
	enter(line, wants_alone(type) ? LineState::invalid : LineState::shared);
	line.counter += line.state == LineState::shared;
}

void Lines::answer(const Message &message, Type type, std::span<const std::byte> data)
{
	Message answer;
	answer.block = message.block;
	answer.request = message.request;
	answer.data = data;
	context_.send(message.block.home(), type, answer);
}

} // namespace prism::gam::directory
