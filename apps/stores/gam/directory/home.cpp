/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
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

bool is_remote(const Access &access) noexcept
{
	return access.progress == for_another;
}

Request &as_request(Access &access) noexcept
{
	return static_cast<Request &>(access);
}

/** Returns true for an access that brings a line to another node. */
bool is_cached(const Access &access) noexcept
{
	return is_remote(access) && !access.uncached;
}

bool is_write_back(const Message &message) noexcept
{
	return static_cast<AccessKind>(Operation::unpacked(message.counter).kind) == AccessKind::write_back &&
	       message.data.empty();
}

bool is_in_transit(const Entry &entry) noexcept
{
	return entry.state != HomeState::shared && entry.state != HomeState::dirty;
}

void move_to_memory(std::span<const std::byte> data, std::byte *bytes) noexcept
{
	std::copy(data.begin(), data.end(), bytes);
}

} // namespace

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
	block.entry.has_record = true;
	return records_[block.index];
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
	if (const int error = record(block).lock.refusal(access))
		context_.end(access, error);
	else
		arrive(block, access);
	settle(block);
}

/** Serves or queues @p access; refuses it if it is a try that would wait. */
void Home::arrive(const Block &block, Access &access)
{
	Record &record = this->record(block);
	const bool holds = !is_remote(access) && record.lock.holds(access.thread);
	const bool admitted =
		is_remote(access) ? record.lock.allows(is_exclusive(access.kind)) : record.lock.admits(access);
	if (holds || (!is_in_transit(block.entry) && record.waiting.empty() && admitted))
		serve(block, record, access);
	else if (access.tries)
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

Access &Home::stop_waiting(Record &record)
{
	Access &access = record.waiting.pop();
	if (is_remote(access))
		record.askers &= ~bit(as_request(access).from);
	return access;
}

/** Serves @p access: the block is not in transit, and no lock is in the way. */
void Home::serve(const Block &block, Record &record, Access &access)
{
	record.again = false;
	record.left = false;
	record.refused = false;
	if (block.entry.state == HomeState::dirty) {
		serve_dirty(block, record, access);
		return;
	}
	const std::uint64_t own = is_cached(access) ? bit(as_request(access).from) : 0;
	const std::uint64_t targets = is_exclusive(access.kind) ? block.entry.sharers & ~own : 0;
	if (targets)
		invalidate(block, record, access, targets);
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
	if (access.kind == AccessKind::unlock)
		record(block).lock.give_back(access.thread);
	else if (is_lock(access.kind))
		record(block).lock.take(access);
	context_.end(access, wrote(block, access));
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

/* Terms and the log ---------------------------------------------------------------------------------------------- */

/** Notes that @p access has written to the memory. Returns the error that it ends with. */
int Home::wrote(const Block &block, const Access &access)
{
	if (!context_.has_log() || !writes(access.kind))
		return 0;
	block.entry.is_unlogged = 1;
	return context_.is_durable() || access.is_logged ? log_before_it_leaves(block) : 0;
}

int Home::log_before_it_leaves(const Block &block)
{
	if (!block.entry.is_unlogged)
		return 0;
	block.entry.is_unlogged = 0;
	return context_.log_value(block.address, block.entry.term, block.bytes);
}

bool Home::restore(Address address, const Restored &restored)
{
	if (address.home() != context_.self() || !is_mine(address))
		return false;
	const Block block = block_at(address);
	Entry &entry = block.entry;
	if (entry.has_record)
		return false;
	entry.sharers = restored.sharers;
	entry.owner = restored.owner;
	entry.state = restored.owner == no_node ? HomeState::shared : HomeState::dirty;
	entry.waits = restored.waits;
	entry.term = restored.term;
	entry.is_unlogged = context_.has_log() && !restored.is_logged && !restored.data.empty();
	if (restored.data.size() == block_size)
		move_to_memory(restored.data, block.bytes);
	return true;
}

/** Begins a term of the home, which has the block again. */
void Home::begin_own_term(const Block &block, bool is_unlogged)
{
	block.entry.owner = no_node;
	block.entry.state = HomeState::shared;
	block.entry.term++;
	block.entry.is_unlogged = is_unlogged && context_.has_log();
}

/**
 * Begins a term of the home after @p owner, which has returned the block and logged it if it keeps a log. Otherwise
 * only this home can log it.
 */
void Home::begin_own_term_after(const Block &block, NodeId owner)
{
	begin_own_term(block, !context_.keeps_log(owner));
	(void)log_before_it_leaves(block);
}

void Home::log_all()
{
	for (std::size_t index = 0; index < entries_.size(); index++)
		(void)log_before_it_leaves(block_at({context_.self(), (index * shards_ + shard_) * block_size}));
}

/** Begins a term of @p owner: the previous term has ended, and its value is in a log. */
void Home::begin_term_of(const Block &block, NodeId owner)
{
	block.entry.sharers = 0;
	block.entry.owner = owner;
	block.entry.state = HomeState::dirty;
	block.entry.term++;
	context_.log_transfer(block.address, block.entry.term, owner);
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
		serve(block, *record, stop_waiting(*record));
	}
	if (!is_in_transit(block.entry) && record->waiting.empty() && !record->lock.is_held()) {
		records_.erase(block.index);
		block.entry.has_record = false;
	}
}

/* Messages ------------------------------------------------------------------------------------------------------- */

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
	Request *const request = requests_.take(from);
	if (!request) {
		answer.error = ENOBUFS;
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
	move_to_memory(message.data, block.bytes);
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
		serve(block, record, *asking);
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
	move_to_memory(message.data, block.bytes);
	const bool was_read = entry.state == HomeState::to_shared;
	entry.sharers = was_read && !record->left ? bit(from) : 0;
	begin_own_term_after(block, from);
	Access *const asking = std::exchange(record->asking, nullptr);
	const bool has_been_sent = was_read && !record->again && asking && is_forwarded(*asking);
	if (has_been_sent) {
		entry.sharers |= bit(as_request(*asking).from);
		requests_.give_back(as_request(*asking));
	} else if (asking) {
		finish(block, *asking);
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
		give(block, request);
		return true;
	}
	begin_term_of(block, request.from);
	Message message = about(block, request);
	message.node = from;
	context_.send(request.from, Type::done, message);
	requests_.give_back(request);
	return true;
}

/* Deaths --------------------------------------------------------------------------------------------------------- */

void Home::lost(NodeId node)
{
	for (std::size_t index = 0; index < entries_.size(); index++) {
		const Block block = block_at({context_.self(), (index * shards_ + shard_) * block_size});
		if (block.entry.has_record)
			lost_asker(block, node);
		if (block.entry.owner == node)
			lost_owner(block);
		lost_sharer(block, node);
		settle(block);
	}
}

void Home::lost_sharer(const Block &block, NodeId node)
{
	if (!context_.rules().drop_sharers_of_the_dead)
		return;
	block.entry.sharers &= ~bit(node);
	Record *const record = find_record(block);
	if (!record || !(record->awaited & bit(node)))
		return;
	record->awaited &= ~bit(node);
	if (!record->awaited)
		all_acknowledged(block, *record);
}

/** Handles the death of the owner: the value in memory is the one that is left. */
void Home::lost_owner(const Block &block)
{
	Entry &entry = block.entry;
	Record *const record = find_record(block);
	const bool was_in_transit = is_in_transit(entry);
	const bool has_value = was_in_transit && record->left;
	if (context_.is_durable() && context_.keeps_log(entry.owner) && !has_value) {
		wait_for_owner(block);
		return;
	}
	context_.stats().lost_values += !has_value;
	const bool may_return = context_.keeps_log(entry.owner);
	begin_own_term(block, true);
	if (!may_return)
		(void)log_before_it_leaves(block);
	if (!was_in_transit || !record->asking)
		return;
	Access &asking = *record->asking;
	if (is_forwarded(asking) && !is_exclusive(asking.kind)) {
		/* The requester may have received the lost value: it drops that, and is served from the memory. */
		asking.tries = false;
		entry.sharers |= bit(as_request(asking).from);
		invalidate(block, *record, asking, bit(as_request(asking).from));
		return;
	}
	record->asking = nullptr;
	if (is_remote(asking))
		as_request(asking).upgrades = false;
	serve(block, *record, asking);
}

/** Makes the block wait for its dead owner, whose log alone has the values that it has fenced. */
void Home::wait_for_owner(const Block &block)
{
	block.entry.waits = 1;
	block.entry.state = HomeState::dirty;
	Record *const record = find_record(block);
	if (!record)
		return;
	if (Access *const asking = std::exchange(record->asking, nullptr))
		refuse(block, *asking, EOWNERDEAD);
	while (!record->waiting.empty())
		refuse(block, stop_waiting(*record), EOWNERDEAD);
}

void Home::for_each_orphan(
	NodeId owner, const std::function<void(Address, std::uint64_t, std::span<const std::byte, block_size>)> &visit)
{
	for (std::size_t index = 0; index < entries_.size(); index++) {
		const Block block = block_at({context_.self(), (index * shards_ + shard_) * block_size});
		if (block.entry.waits && block.entry.owner == owner)
			visit(block.address, block.entry.term,
				std::span<const std::byte, block_size>(block.bytes, block_size));
	}
}

void Home::give_up(NodeId owner)
{
	for (std::size_t index = 0; index < entries_.size(); index++) {
		const Block block = block_at({context_.self(), (index * shards_ + shard_) * block_size});
		if (!block.entry.waits || block.entry.owner != owner)
			continue;
		context_.stats().lost_values++;
		block.entry.waits = 0;
		begin_own_term(block, true);
		(void)log_before_it_leaves(block);
	}
}

void Home::lost_asker(const Block &block, NodeId node)
{
	Record &record = this->record(block);
	const auto is_of_it = [node](const Access &access) {
		return is_remote(access) && static_cast<const Request &>(access).from == node;
	};
	record.askers &= ~bit(node);
	if (record.asking && is_of_it(*record.asking))
		requests_.give_back(as_request(*std::exchange(record.asking, nullptr)));
	record.waiting.remove_if([&](Access &access) {
		if (!is_of_it(access))
			return false;
		requests_.give_back(as_request(access));
		return true;
	});
}

} // namespace prism::gam::directory
