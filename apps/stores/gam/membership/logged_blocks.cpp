/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/logged_blocks.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace prism::gam
{

namespace
{

void add_value(LoggedBlocks::Block &block, const Entry &entry)
{
	const DataCounter counter(entry.counter);
	if (block.has_value &&
		std::tie(counter.life, counter.term, entry.order) < std::tie(block.life, block.counter, block.order))
		return;
	block.has_value = true;
	block.life = counter.life;
	block.counter = counter.term;
	block.order = entry.order;
	std::copy(entry.data.begin(), entry.data.end(), block.value.begin());
}

void add_transfer(LoggedBlocks::Block &block, const Entry &entry)
{
	auto &[last, before] = block.transfers;
	const Transfer transfer{entry.counter, entry.order, entry.node, entry.owner_logs, entry.owner_life};
	const auto is_older = [](const Transfer &a, const Transfer &b) {
		return std::tie(a.counter, a.order) < std::tie(b.counter, b.order);
	};
	if (is_older(last, transfer)) {
		before = last;
		last = transfer;
	} else if (is_older(before, transfer) && is_older(transfer, last)) {
		before = transfer;
	}
}

} // namespace

void LoggedBlocks::add(const Entry &entry)
{
	if (entry.block.home() != home_)
		return;
	if (entry.kind == EntryKind::data) {
		const std::uint64_t life = DataCounter(entry.counter).life;
		if (life && life < since_)
			return;
		add_value(blocks_[entry.block.block_number()], entry);
	} else if (entry.kind == EntryKind::transfer) {
		add_transfer(blocks_[entry.block.block_number()], entry);
	} else if (Allocation &allocation = allocations_[entry.block]; entry.order >= allocation.order) {
		const bool is_whole = entry.kind == EntryKind::allocation;
		const std::uint32_t objects = is_whole ? entry.objects : !entry.frees();
		allocation = {entry.counter, entry.order, objects, is_whole};
	}
}

void LoggedBlocks::set_value(std::uint64_t number, std::uint64_t counter, std::span<const std::byte, block_size> value)
{
	Block &block = blocks_[number];
	block.has_value = true;
	block.counter = counter;
	std::copy(value.begin(), value.end(), block.value.begin());
}

void LoggedBlocks::miss(std::span<const Missing> missing)
{
	for (const Missing &gap : missing) {
		missing_from_ = std::max(missing_from_, gap.first);
		knows_allocations_ = knows_allocations_ && gap.failed;
	}
}

std::uint64_t LoggedBlocks::owners_with_logs() const noexcept
{
	std::uint64_t owners = 0;
	for (const auto &[number, block] : blocks_) {
		for (const Transfer &transfer : block.transfers) {
			if (!transfer.counter || (block.has_value && block.counter > transfer.counter))
				break;
			owners |= transfer.owner_logs ? bit(transfer.owner) : 0;
		}
	}
	return owners;
}

const LoggedBlocks::Block *LoggedBlocks::find(std::uint64_t block) const noexcept
{
	const auto found = blocks_.find(block);
	return found == blocks_.end() ? nullptr : &found->second;
}

bool LoggedBlocks::is_doubtful(const Block *block) const noexcept
{
	const std::uint64_t known = block ? std::max(block->order, block->transfers[0].order) : 0;
	return missing_from_ && known < missing_from_;
}

/* Calls @p visit with the address and the bytes of each object that is allocated. */
template <typename Visit>
void LoggedBlocks::for_each_object(const Visit &visit) const
{
	for (const auto &[address, allocation] : allocations_) {
		const auto block = allocations_.find(address.block());
		if (block != allocations_.end() && block->second.is_whole && block->second.order > allocation.order)
			continue;
		for (std::uint32_t left = allocation.objects; left; left &= left - 1)
			visit(address + static_cast<unsigned>(std::countr_zero(left)) * allocation.bytes,
				allocation.bytes);
	}
}

std::unordered_map<Address, std::uint64_t> LoggedBlocks::allocated() const
{
	std::unordered_map<Address, std::uint64_t> allocated;
	for_each_object([&](Address address, std::uint64_t bytes) { allocated.emplace(address, bytes); });
	return allocated;
}

std::vector<bool> LoggedBlocks::possibly_allocated(std::uint64_t blocks) const
{
	std::vector<bool> possible(blocks, !knows_allocations_);
	for_each_object([&](Address address, std::uint64_t bytes) {
		const std::uint64_t end = address.offset() + bytes;
		for (std::uint64_t number = address.block_number(); number * block_size < end && number < blocks;
			number++)
			possible[number] = true;
	});
	return possible;
}

} // namespace prism::gam
