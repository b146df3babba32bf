/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/memory/allocator.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>

namespace prism::gam
{

Allocator::Allocator(std::uint64_t bytes)
	: blocks_(bytes / block_size), objects_(std::make_unique<std::atomic<std::uint8_t>[]>(blocks_)),
	  available_(blocks_ ? (blocks_ - 1) * block_size : 0)
{
	if (blocks_ > 1)
		add_free(1, blocks_ - 1);
}

std::optional<Allocator::Piece> Allocator::allocate(std::uint64_t bytes, std::uint64_t alignment)
{
	if (bytes > blocks_ * block_size || alignment > max_alignment || !std::has_single_bit(alignment))
		return std::nullopt;
	const std::scoped_lock guard(lock_);
	const std::uint64_t small = std::bit_ceil(std::max({bytes, alignment, smallest}));
	if (small <= block_size) {
		const auto size_class = static_cast<std::size_t>(std::countr_zero(small) - std::countr_zero(smallest));
		const std::optional<std::uint64_t> offset = take_small(size_class);
		return offset ? std::optional(note(*offset, small)) : std::nullopt;
	}
	const std::uint64_t count = std::max<std::uint64_t>((bytes + block_size - 1) / block_size, 1);
	const std::optional<std::uint64_t> first =
		take_blocks(count, std::max<std::uint64_t>(alignment / block_size, 1));
	return first ? std::optional(note(*first * block_size, count * block_size)) : std::nullopt;
}

Allocator::Piece Allocator::note(std::uint64_t offset, std::uint64_t bytes)
{
	allocated_.emplace(offset, bytes);
	available_.fetch_sub(bytes, std::memory_order_relaxed);
	const std::uint64_t first = offset / block_size, end = (offset + bytes + block_size - 1) / block_size;
	/* Of a block that is cut, only the first piece counts as fresh. */
	const bool fresh = first >= first_fresh_;
	for (std::uint64_t block = first; block < end; block++)
		objects_[block].fetch_add(1, std::memory_order_relaxed);
	first_fresh_ = std::max(first_fresh_, end);
	return {offset, bytes, fresh};
}

int Allocator::free(std::uint64_t offset, std::uint64_t *taken_back)
{
	const std::scoped_lock guard(lock_);
	const auto found = allocated_.find(offset);
	if (found == allocated_.end())
		return EINVAL;
	const std::uint64_t bytes = found->second;
	allocated_.erase(found);
	if (taken_back)
		*taken_back = bytes;
	available_.fetch_add(bytes, std::memory_order_relaxed);
	for (std::uint64_t block = offset / block_size; block * block_size < offset + bytes; block++)
		objects_[block].fetch_sub(1, std::memory_order_relaxed);
	if (bytes < block_size)
		give_small(offset, static_cast<std::size_t>(std::countr_zero(bytes) - std::countr_zero(smallest)));
	else
		give_blocks(offset / block_size, bytes / block_size);
	return 0;
}

std::optional<std::uint64_t> Allocator::take_small(std::size_t size_class)
{
	const std::uint64_t bytes = smallest << size_class;
	const std::uint64_t pieces = block_size / bytes;
	if (pieces == 1) {
		const std::optional<std::uint64_t> block = take_blocks(1, 1);
		return block ? std::optional(*block * block_size) : std::nullopt;
	}
	auto &cut = cut_[size_class];
	if (cut.empty()) {
		const std::optional<std::uint64_t> block = take_blocks(1, 1);
		if (!block)
			return std::nullopt;
		cut.emplace(*block, static_cast<std::uint32_t>((std::uint64_t{1} << pieces) - 1));
	}
	const auto chosen = cut.begin();
	const auto piece = static_cast<unsigned>(std::countr_zero(chosen->second));
	const std::uint64_t offset = chosen->first * block_size + piece * bytes;
	chosen->second &= ~(std::uint32_t{1} << piece);
	if (!chosen->second)
		cut.erase(chosen);
	return offset;
}

void Allocator::give_small(std::uint64_t offset, std::size_t size_class)
{
	const std::uint64_t bytes = smallest << size_class;
	const std::uint64_t block = offset / block_size;
	const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << (block_size / bytes)) - 1);
	std::uint32_t &pieces = cut_[size_class][block];
	pieces |= std::uint32_t{1} << (offset % block_size / bytes);
	if (pieces == all) {
		cut_[size_class].erase(block);
		give_blocks(block, 1);
	}
}

/** The smallest range that fits: what is left of it stays free. */
std::optional<std::uint64_t> Allocator::take_blocks(std::uint64_t count, std::uint64_t alignment)
{
	for (auto fit = free_by_size_.lower_bound({count, 0}); fit != free_by_size_.end(); ++fit) {
		const auto [length, first] = *fit;
		const std::uint64_t aligned = (first + alignment - 1) / alignment * alignment;
		if (aligned - first > length - count)
			continue;
		remove_free(free_.find(first));
		if (aligned > first)
			add_free(first, aligned - first);
		if (first + length > aligned + count)
			add_free(aligned + count, first + length - aligned - count);
		return aligned;
	}
	return std::nullopt;
}

void Allocator::give_blocks(std::uint64_t first, std::uint64_t count)
{
	const auto behind = free_.find(first + count);
	if (behind != free_.end()) {
		count += behind->second;
		remove_free(behind);
	}
	auto before = free_.lower_bound(first);
	if (before != free_.begin() && (--before)->first + before->second == first) {
		first = before->first;
		count += before->second;
		remove_free(before);
	}
	add_free(first, count);
}

void Allocator::add_free(std::uint64_t first, std::uint64_t count)
{
	free_.emplace(first, count);
	free_by_size_.emplace(count, first);
}

void Allocator::remove_free(std::map<std::uint64_t, std::uint64_t>::iterator range)
{
	free_by_size_.erase({range->second, range->first});
	free_.erase(range);
}

} // namespace prism::gam
