/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/directory/home.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>
#include <utility>

#include "gam/coherence/execute.hpp"

namespace prism::gam::directory
{

Home::Home(Context &context, std::span<std::byte> memory, std::size_t shards, std::size_t shard, std::size_t requests,
	bool through_home)
	: context_(context), memory_(memory), shards_(shards), shard_(shard), through_home_(through_home),
	  entries_((memory.size() / block_size + shards - 1 - shard) / shards), requests_(requests)
{
}

bool Home::is_mine(Address block) const noexcept
{
	return block.block_number() < memory_.size() / block_size && shard_of(block, shards_) == shard_;
}

Home::Block Home::block_at(Address address) noexcept
{
	const std::size_t index = address.block_number() / shards_;
	return {address, index, entries_[index], &memory_[address.offset()]};
}

const Entry *Home::entry(Address block) const noexcept
{
	return is_mine(block) ? &entries_[block.block_number() / shards_] : nullptr;
}

Home::Record *Home::find_record(const Block &block) noexcept
{
	return block.entry.has_record ? &records_.find(block.index)->second : nullptr;
}

Home::Record &Home::record(const Block &block)
{
	Record &made = records_[block.index];
	block.entry.has_record = true;
	return made;
}

/** Makes the record of @p block, so that record() finds it. Returns 0 or ENOMEM. */
int Home::make_record(const Block &block) noexcept
try {
	(void)record(block);
	return 0;
} catch (const std::bad_alloc &) {
	return ENOMEM;
}

bool Home::at_rest() const noexcept
{
	const auto is_quiet = [this](const auto &pair) {
		return !is_in_transit(entries_[pair.first]) && pair.second.waiting.empty();
	};
	return std::all_of(records_.begin(), records_.end(), is_quiet);
}

bool Home::is_forwarded(const Access &access) const noexcept
{
	return is_cached(access) && !through_home_;
}

/** Returns a message for the requester of @p access, or on its behalf. */
Message Home::about(const Block &block, const Access &access) const noexcept
{
	Message message;
	message.block = block.address;
	message.node = context_.self();
	if (is_remote(access)) {
		const auto &request = static_cast<const Request &>(access);
		message.node = request.from;
		message.request = request.number;
	}
	message.flags = access.tries ? tries : 0;
	message.counter = block.entry.term;
	return message;
}

/* Accesses ------------------------------------------------------------------------------------------------------- */

void Home::start(Access &access)
{
	const Address address = access.at.block();
	if (access.kind == AccessKind::write_back) {
		context_.end(access, 0);
		return;
	}
	const bool is_unlock = access.kind == AccessKind::unlock; /* a locked block may have been freed since */
	if (!is_mine(address) || (!is_unlock && !context_.host().is_allocated(address))) {
		context_.end(access, EFAULT);
		return;
	}
	const Block block = block_at(address);
	const Entry &entry = block.entry;
	if (entry.waits) {
		context_.end(access, EOWNERDEAD);
		return;
	}
	const bool is_here = entry.state == HomeState::shared && (!is_exclusive(access.kind) || !entry.sharers);
	if (is_here && !entry.has_record && access.kind <= AccessKind::atomic) {
		execute(access, block.bytes);
		context_.end(access, wrote(block, access));
		return;
	}
	if (const int error = make_record(block))
		return context_.end(access, error);
	if (const int error = record(block).lock.refusal(access))
		context_.end(access, error);
	else
		arrive(block, access);
	settle(block);
}

/** Queues @p access, for settle() to serve; refuses it if it is a try that would wait for others. */
void Home::arrive(const Block &block, Access &access)
{
	Record &record = this->record(block);
	const bool holds = !is_remote(access) && record.lock.holds(access.thread);
	const bool admitted =
		is_remote(access) ? record.lock.allows(is_exclusive(access.kind)) : record.lock.admits(access);
	if (holds)
		serve(block, record, access);
	else if (access.tries && (is_in_transit(block.entry) || !record.waiting.empty() || !admitted))
		refuse(block, access, EBUSY);
	else
		wait(record, access);
}

void Home::wait(Record &record, Access &access)
{
	record.waiting.push(access);
	if (is_remote(access))
		record.askers |= bit(as_request(access).from);
}

/** Puts an access whose block is here now before all others. */
void Home::wait_as_next(Record &record, Access &access)
{
	record.waiting.push_front(access);
	if (is_remote(access))
		record.askers |= bit(as_request(access).from);
}

Access &Home::stop_waiting(Record &record)
{
	Access &access = record.waiting.pop();
	if (is_remote(access))
		record.askers &= ~bit(as_request(access).from);
	return access;
}

/** Returns the nodes, a bit each, that have to drop their copies for @p access. */
std::uint64_t Home::targets(const Block &block, const Access &access) noexcept
{
	const std::uint64_t own = is_cached(access) ? bit(static_cast<const Request &>(access).from) : 0;
	return is_exclusive(access.kind) ? block.entry.sharers & ~own : 0;
}

/** Returns true if the nodes that serve() sends something to have room; else resume() goes on with the block. */
bool Home::has_room(const Block &block, Record &record, const Access &access)
{
	const bool is_dirty = block.entry.state == HomeState::dirty;
	std::uint64_t nodes = is_dirty ? bit(block.entry.owner) : targets(block, access);
	if (is_remote(access))
		nodes |= bit(static_cast<const Request &>(access).from);
	for (; nodes; nodes &= nodes - 1) {
		const auto node = static_cast<NodeId>(std::countr_zero(nodes));
		if (context_.has_room(node))
			continue;
		postponed_.add(node, block.address, record.turn);
		return false;
	}
	record.turn.unlink();
	return true;
}

void Home::resume()
{
	const auto has_room = [this](NodeId node) { return context_.has_room(node); };
	postponed_.resume(has_room, [this](Address address) { settle(block_at(address)); });
}

/** Serves @p access: the block is not in transit, no lock is in the way, and there is room. */
void Home::serve(const Block &block, Record &record, Access &access)
{
	record.again = false;
	record.left = false;
	record.refused = false;
	if (block.entry.state == HomeState::dirty) {
		serve_dirty(block, record, access);
		return;
	}
	if (const std::uint64_t others = targets(block, access))
		invalidate(block, record, access, others);
	else
		finish(block, access);
}

void Home::serve_dirty(const Block &block, Record &record, Access &access)
{
	if (!context_.rules().upgrade_of_dirty && is_remote(access) && as_request(access).upgrades) {
		give(block, as_request(access));
		return;
	}
	const bool alone = is_exclusive(access.kind);
	record.asking = &access;
	block.entry.state = alone ? HomeState::to_unshared : HomeState::to_shared;
	const Type type = is_forwarded(access) ? (alone ? Type::forward_write : Type::forward_read)
					       : (alone ? Type::fetch_invalidate : Type::fetch_shared);
	context_.send(block.entry.owner, type, about(block, access));
}

void Home::invalidate(const Block &block, Record &record, Access &access, std::uint64_t targets)
{
	record.asking = &access;
	record.awaited = targets;
	block.entry.state = HomeState::to_alone;
	for (NodeId to = 0; to < max_nodes; to++) {
		if (targets & bit(to))
			context_.send(to, Type::invalidate, about(block, access));
	}
	if (!context_.rules().await_acks) {
		record.awaited = 0;
		block.entry.sharers &= ~targets;
		all_acknowledged(block, record);
	}
}

/** Ends @p access: the memory has the value, and for a writer no other node has a copy. */
void Home::finish(const Block &block, Access &access)
{
	if (!is_remote(access)) {
		finish_local(block, access);
		return;
	}
	Request &request = as_request(access);
	if (request.uncached) {
		finish_uncached(block, request);
	} else if (is_exclusive(request.kind)) {
		give(block, request);
	} else {
		block.entry.sharers |= bit(request.from);
		log_before_it_leaves(block);
		Message message = about(block, request);
		message.data = {block.bytes, block_size};
		context_.send(request.from, Type::shared_data, message);
		requests_.give_back(request);
	}
}

void Home::finish_local(const Block &block, Access &access)
{
	execute(access, block.bytes);
	int error = 0;
	if (access.kind == AccessKind::unlock)
		record(block).lock.give_back(access.thread);
	else if (is_lock(access.kind))
		error = record(block).lock.take(access);
	context_.end(access, error ? error : wrote(block, access));
}

void Home::finish_uncached(const Block &block, Request &request)
{
	execute(request, block.bytes);
	int error = wrote(block, request);
	error = error ? error : log_before_it_leaves(block);
	if (error && context_.is_durable()) {
		refuse(block, request, error);
		return;
	}
	Message message = about(block, request);
	message.counter = request.old_value;
	if (request.kind == AccessKind::read)
		message.data = {block.bytes, block_size};
	context_.send(request.from, Type::answered, message);
	requests_.give_back(request);
}

void Home::give(const Block &block, Request &request)
{
	Entry &entry = block.entry;
	const bool has_copy = (entry.sharers & bit(request.from)) || !context_.rules().upgrade_without_copy ||
			      entry.state == HomeState::dirty;
	log_before_it_leaves(block);
	begin_term_of(block, request.from);
	Message message = about(block, request);
	if (!request.upgrades || !has_copy)
		message.data = {block.bytes, block_size};
	context_.send(request.from, message.data.empty() ? Type::permission : Type::grant, message);
	requests_.give_back(request);
}

void Home::refuse(const Block &block, Access &access, int error)
{
	if (!is_remote(access)) {
		context_.end(access, error);
		return;
	}
	Request &request = as_request(access);
	Message message = about(block, request);
	message.error = static_cast<std::uint8_t>(error);
	context_.send(request.from, error == EBUSY ? Type::busy : Type::failed, message);
	requests_.give_back(request);
}

/** Serves waiting accesses, then drops the record if it holds nothing. */
void Home::settle(const Block &block)
{
	Record *const record = find_record(block);
	if (!record)
		return;
	while (!is_in_transit(block.entry) && !record->waiting.empty()) {
		Access &next = record->waiting.front();
		if (const int error = is_remote(next) ? 0 : record->lock.refusal(next)) {
			context_.end(stop_waiting(*record), error);
			continue;
		}
		if (!(is_remote(next) ? record->lock.allows(is_exclusive(next.kind)) : record->lock.admits(next)))
			return;
		if (!has_room(block, *record, next))
			return;
		serve(block, *record, stop_waiting(*record));
	}
	if (!is_in_transit(block.entry) && record->waiting.empty() && !record->lock.is_held()) {
		records_.erase(block.index);
		block.entry.has_record = false;
	}
}

} // namespace prism::gam::directory
