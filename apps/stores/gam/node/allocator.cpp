/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/node/allocator.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>

namespace prism::gam
{

namespace
{

/* Returns a bit for each piece of @p bytes, less than a block has. */
constexpr std::uint32_t all_pieces(std::uint64_t bytes) noexcept
{
	return static_cast<std::uint32_t>((std::uint64_t{1} << (block_size / bytes)) - 1);
}

} // namespace

std::size_t Allocator::size_class_of(std::uint64_t bytes) noexcept
{
	return static_cast<std::size_t>(std::countr_zero(bytes) - std::countr_zero(smallest));
}

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
		const std::optional<std::uint64_t> offset = take_small(size_class_of(small));
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
	/* In a block cut into pieces, only the first piece counts as fresh. */
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
		give_small(offset, size_class_of(bytes));
	else
		give_blocks(offset / block_size, bytes / block_size);
	return 0;
}

std::uint32_t Allocator::objects(std::uint64_t number, std::uint64_t bytes)
{
	const std::scoped_lock guard(lock_);
	if (!is_allocated(number))
		return 0;
	if (bytes >= block_size)
		return 1;
	const auto &cut = cut_[size_class_of(bytes)];
	const auto some = cut.find(number);
	return all_pieces(bytes) & ~(some == cut.end() ? 0 : some->second);
}

bool Allocator::restore(std::uint64_t offset, std::uint64_t bytes)
{
	if (!bytes || offset < block_size || offset >= blocks_ * block_size || bytes > blocks_ * block_size - offset)
		return false;
	const std::scoped_lock guard(lock_);
	const bool is_small = bytes < block_size;
	const std::uint64_t unit = is_small ? bytes : block_size;
	if (offset % unit || (is_small ? bytes < smallest || !std::has_single_bit(bytes) : bytes % block_size != 0))
		return false;
	const bool taken = is_small ? take_small_at(offset, size_class_of(bytes))
				    : take_blocks_at(offset / block_size, bytes / block_size);
	if (taken)
		(void)note(offset, bytes);
	return taken;
}

void Allocator::set_used_below(std::uint64_t number)
{
	const std::scoped_lock guard(lock_);
	first_fresh_ = std::max(first_fresh_, std::min(number, blocks_));
}

bool Allocator::take_blocks_at(std::uint64_t first, std::uint64_t count)
{
	auto range = free_.upper_bound(first);
	if (range == free_.begin())
		return false;
	const auto [begin, length] = *--range;
	if (first + count > begin + length)
		return false;
	remove_free(range);
	if (first > begin)
		add_free(begin, first - begin);
	if (begin + length > first + count)
		add_free(first + count, begin + length - first - count);
	return true;
}

bool Allocator::take_small_at(std::uint64_t offset, std::size_t size_class)
{
	const std::uint64_t bytes = smallest << size_class;
	const std::uint64_t block = offset / block_size;
	auto &cut = cut_[size_class];
	auto pieces = cut.find(block);
	if (pieces == cut.end()) {
		if (!take_blocks_at(block, 1))
			return false;
		pieces = cut.emplace(block, all_pieces(bytes)).first;
	}
	const std::uint32_t piece = std::uint32_t{1} << (offset % block_size / bytes);
	if (!(pieces->second & piece))
		return false;
	pieces->second &= ~piece;
	if (!pieces->second)
		cut.erase(pieces);
	return true;
}

std::optional<std::uint64_t> Allocator::take_small(std::size_t size_class)
{
	const std::uint64_t bytes = smallest << size_class;
	if (bytes == block_size) {
		const std::optional<std::uint64_t> block = take_blocks(1, 1);
		return block ? std::optional(*block * block_size) : std::nullopt;
	}
	auto &cut = cut_[size_class];
	if (cut.empty()) {
		const std::optional<std::uint64_t> block = take_blocks(1, 1);
		if (!block)
			return std::nullopt;
		cut.emplace(*block, all_pieces(bytes));
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
	std::uint32_t &pieces = cut_[size_class][block];
	pieces |= std::uint32_t{1} << (offset % block_size / bytes);
	if (pieces == all_pieces(bytes)) {
		cut_[size_class].erase(block);
		give_blocks(block, 1);
	}
}

/** Takes blocks from the smallest range that fits; the rest of it stays free. */
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
