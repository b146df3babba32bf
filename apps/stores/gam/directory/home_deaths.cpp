/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Deaths of nodes, and the return of this one or of an owner. */
#include "gam/directory/home.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace prism::gam::directory
{

void Home::lost(NodeId node)
{
	for_each_block([&](const Block &block) {
		if (block.entry.has_record)
			lost_asker(block, node);
		if (block.entry.owner == node)
			lost_owner(block);
		lost_sharer(block, node);
		settle(block);
	});
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
	wait_as_next(*record, asking);
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
	for_each_block([&](const Block &block) {
		if (block.entry.waits && block.entry.owner == owner)
			visit(block.address, block.entry.term,
				std::span<const std::byte, block_size>(block.bytes, block_size));
	});
}

void Home::give_up(NodeId owner)
{
	for_each_block([&](const Block &block) {
		if (!block.entry.waits || block.entry.owner != owner)
			return;
		context_.stats().lost_values++;
		block.entry.waits = 0;
		begin_own_term(block, true);
		(void)log_before_it_leaves(block);
	});
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
		std::ranges::copy(restored.data, block.bytes);
	return true;
}

} // namespace prism::gam::directory
