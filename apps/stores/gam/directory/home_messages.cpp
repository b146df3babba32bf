/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Requests, evictions and answers of other nodes. */
#include "gam/directory/home.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/wire.hpp"
#include "gam/coherence/execute.hpp"

namespace prism::gam::directory
{

namespace
{

bool is_write_back(const Message &message) noexcept
{
	return static_cast<AccessKind>(Operation::unpacked(message.counter).kind) == AccessKind::write_back &&
	       message.data.empty();
}

} // namespace

bool Home::hear(NodeId from, const Message &message)
{
	const auto type = static_cast<Type>(message.type);
	if (type >= Type::read && type <= Type::uncached)
		return request(from, message);
	if (!is_mine(message.block))
		return false;
	const Block block = block_at(message.block);
	bool allowed = true;
	switch (type) {
	case Type::again:
		allowed = ask_again(from, message);
		break;
	case Type::evict_shared:
		block.entry.sharers &= ~bit(from);
		break;
	case Type::evict_dirty:
		allowed = evict_dirty(from, block, message);
		break;
	case Type::ack:
	case Type::locked:
		allowed = acknowledged(from, block, type == Type::locked);
		break;
	case Type::data:
		allowed = fetched(from, block, message);
		break;
	case Type::transferred:
		allowed = transferred(from, block);
		break;
	default:
		allowed = false;
	}
	settle(block);
	return allowed;
}

/**
 * Returns true if @p from may ask for the block: the owner may not, and no node may ask twice. But a node that got a
 * copy from the owner may send its next request before the owner's message has reached this home.
 */
bool Home::may_ask(NodeId from, const Block &block) noexcept
{
	const Record *const record = find_record(block);
	if (!record || !is_in_transit(block.entry))
		return block.entry.owner != from && !(record && (record->askers & bit(from)));
	const bool is_asking = record->asking && is_remote(*record->asking) && as_request(*record->asking).from == from;
	const bool may_have_it = is_asking && is_cached(*record->asking) && !is_exclusive(record->asking->kind);
	return !(record->askers & bit(from)) && (!is_asking || may_have_it) &&
	       (block.entry.owner != from || record->left);
}

bool Home::request(NodeId from, const Message &message)
{
	const auto type = static_cast<Type>(message.type);
	Message answer;
	answer.block = message.block;
	answer.request = message.request;
	answer.error = EFAULT;
	if (!is_mine(message.block) || !context_.host().is_allocated(message.block)) {
		context_.send(from, Type::failed, answer);
		return true;
	}
	const Block block = block_at(message.block);
	if (block.entry.waits) {
		answer.error = EOWNERDEAD;
		context_.send(from, Type::failed, answer);
		return true;
	}
	forget_again(from, block);
	if (type == Type::uncached && is_write_back(message)) {
		answer.error = 0;
		context_.send(from, Type::answered, answer); /* the requester's earlier messages have come before */
		return true;
	}
	if (!may_ask(from, block) || (type != Type::uncached && !message.data.empty()))
		return false;
	/* With all the memory that it will need, so that what cannot be had is refused before anything changes. */
	Request *request = nullptr;
	int error = make_record(block);
	if (!error)
		error = requests_.take(from, type == Type::uncached ? block_size : 0, request);
	if (error) {
		settle(block);
		answer.error = static_cast<std::uint8_t>(error);
		context_.send(from, Type::failed, answer);
		return true;
	}
	request->at = message.block;
	request->number = message.request;
	request->tries = message.flags & tries;
	request->is_again = type == Type::again;
	const bool reads = type == Type::read || type == Type::again;
	request->kind = reads ? AccessKind::read : AccessKind::write;
	request->upgrades = type == Type::upgrade;
	if (type == Type::uncached && !read_operation(*request, message)) {
		requests_.give_back(*request);
		settle(block);
		return false;
	}
	arrive(block, *request);
	settle(block);
	return true;
}

/** Drops a repeated request of @p from, which sends a new one, and so has got its answer. */
void Home::forget_again(NodeId from, const Block &block)
{
	Record *const record = find_record(block);
	if (!record || !(record->askers & bit(from)))
		return;
	record->waiting.remove_if([&](Access &access) {
		if (!is_remote(access) || as_request(access).from != from || !as_request(access).is_again)
			return false;
		requests_.give_back(as_request(access));
		record->askers &= ~bit(from);
		return true;
	});
}

bool Home::read_operation(Request &request, const Message &message)
{
	const Operation operation = Operation::unpacked(message.counter);
	request.uncached = true;
	request.kind = static_cast<AccessKind>(operation.kind);
	request.function = static_cast<Function>(operation.function);
	request.length = operation.length;
	if (request.kind > AccessKind::atomic || operation.offset >= block_size ||
		message.data.empty() != (request.kind == AccessKind::read))
		return false;
	request.at = message.block + operation.offset;
	request.buffer.assign(message.data.begin(), message.data.end());
	request.buffer.resize(block_size);
	request.bytes = request.buffer.data() + operation.offset;
	if (request.kind == AccessKind::atomic) {
		request.operand = apps::load<std::uint64_t>(request.buffer.data());
		request.compare = apps::load<std::uint64_t>(request.buffer.data() + sizeof(std::uint64_t));
	}
	return is_well_formed(request);
}

/**
 * Handles the repeated request of a node that waits for data from a dead one. Requests still under way are answered
 * from here.
 */
bool Home::ask_again(NodeId from, const Message &message)
{
	const Block block = block_at(message.block);
	Record *const record = find_record(block);
	if (record && record->asking && is_remote(*record->asking) && as_request(*record->asking).from == from &&
		as_request(*record->asking).number == message.request) {
		record->again |= block.entry.owner == message.node;
		return true;
	}
	if (record && (record->askers & bit(from)))
		return true;
	if (!(message.flags & exclusive)) {
		if (block.entry.owner == from)
			return true;
		return request(from, message);
	}
	if (block.entry.owner != from || !(message.flags & has_done))
		return true; /* done or the grant is under way */
	Message answer;
	answer.block = message.block;
	answer.request = message.request;
	answer.flags = older;
	answer.counter = block.entry.term;
	answer.data = {block.bytes, block_size};
	context_.send(from, Type::grant, answer);
	return true;
}

bool Home::evict_dirty(NodeId from, const Block &block, const Message &message)
{
	if (message.data.empty())
		return false;
	Message answer;
	answer.block = block.address;
	context_.send(from, Type::evicted, answer);
	Entry &entry = block.entry;
	if (entry.owner != from)
		return true;
	std::ranges::copy(message.data, block.bytes);
	if (is_in_transit(entry) && context_.rules().late_eviction) {
		/* It answers earlier messages from the line that it still holds, after this one. */
		record(block).left = true;
	} else {
		begin_own_term_after(block, from);
	}
	return true;
}

bool Home::acknowledged(NodeId from, const Block &block, bool locked)
{
	Record *const record = find_record(block);
	if (!record || !is_in_transit(block.entry) || (locked && record->asking && !record->asking->tries))
		return !context_.rules().await_acks;
	if (block.entry.state != HomeState::to_alone)
		return locked && block.entry.owner == from && !record->left && refused_by_owner(block, *record);
	if (!(record->awaited & bit(from)))
		return !context_.rules().await_acks;
	record->awaited &= ~bit(from);
	record->refused |= locked;
	if (!locked || !context_.rules().roll_back)
		block.entry.sharers &= ~bit(from);
	if (!record->awaited)
		all_acknowledged(block, *record);
	return true;
}

void Home::all_acknowledged(const Block &block, Record &record)
{
	block.entry.state = HomeState::shared;
	Access *const asking = std::exchange(record.asking, nullptr);
	if (!asking)
		return;
	if (record.refused)
		refuse(block, *asking, EBUSY);
	else if (is_remote(*asking) && (record.askers & bit(as_request(*asking).from)))
		requests_.give_back(as_request(*asking)); /* the dead owner had already served it */
	else
		wait_as_next(record, *asking);
}

bool Home::refused_by_owner(const Block &block, Record &record)
{
	block.entry.state = context_.rules().roll_back ? HomeState::dirty : HomeState::shared;
	if (Access *const asking = std::exchange(record.asking, nullptr))
		refuse(block, *asking, EBUSY);
	return true;
}

bool Home::fetched(NodeId from, const Block &block, const Message &message)
{
	Record *const record = find_record(block);
	Entry &entry = block.entry;
	const bool is_expected = entry.state == HomeState::to_shared || entry.state == HomeState::to_unshared;
	if (!record || !is_expected || entry.owner != from || message.data.empty())
		return false;
	std::ranges::copy(message.data, block.bytes);
	const bool was_read = entry.state == HomeState::to_shared;
	entry.sharers = was_read && !record->left ? bit(from) : 0;
	begin_own_term_after(block, from);
	Access *const asking = std::exchange(record->asking, nullptr);
	const bool has_been_sent = was_read && !record->again && asking && is_forwarded(*asking);
	if (has_been_sent) {
		entry.sharers |= bit(as_request(*asking).from);
		requests_.give_back(as_request(*asking));
	} else if (asking) {
		wait_as_next(*record, *asking);
	}
	return true;
}

bool Home::transferred(NodeId from, const Block &block)
{
	Record *const record = find_record(block);
	Entry &entry = block.entry;
	if (!record || entry.state != HomeState::to_unshared || entry.owner != from || through_home_ ||
		(record->asking && !is_forwarded(*record->asking)))
		return false;
	Access *const asking = std::exchange(record->asking, nullptr);
	if (!asking) {
		begin_own_term(block, true);
		context_.stats().lost_values++; /* the value died with the node */
		return true;
	}
	Request &request = as_request(*asking);
	if (record->again) {
		begin_own_term(block, true);
		context_.stats().lost_values++;
		request.upgrades = false;
		wait_as_next(*record, request);
		return true;
	}
	begin_term_of(block, request.from);
	Message message = about(block, request);
	message.node = from;
	context_.send(request.from, Type::done, message);
	requests_.give_back(request);
	return true;
}

} // namespace prism::gam::directory
