/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "memory.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>

namespace prism::soft
{

namespace
{
constexpr std::uint32_t max_entries = 1 << 20;
}

MemoryTable::MemoryTable()
{
	/* Index 0 stays empty, so that no key is 0. */
	entries_.emplace_back();
	generation_.push_back(0);
}

std::uint32_t MemoryTable::take_index()
{
	if (!free_.empty()) {
		const std::uint32_t index = free_.back();
		free_.pop_back();
		return index;
	}
	if (entries_.size() == max_entries)
		return 0;
	/* Without memory for one of them, the others are too long, which does no harm. */
	free_.reserve(std::bit_ceil(entries_.size() + 1));
	generation_.resize(entries_.size() + 1);
	entries_.emplace_back();
	return static_cast<std::uint32_t>(entries_.size() - 1);
}

std::uint32_t MemoryTable::insert(Region region)
{
	const std::uint32_t index = take_index();
	if (!index)
		return 0;
	region.key = index << 8 | ++generation_[index];
	entries_[index] = region;
	return region.key;
}

std::uint32_t MemoryTable::add_region(
	std::uint8_t *base, std::uint64_t va, std::uint64_t length, std::uint32_t access, std::uint32_t pd)
{
	Region region;
	region.base = base;
	region.va = va;
	region.length = length;
	region.access = access;
	region.pd = pd;
	region.valid = true;
	return insert(region);
}

std::uint32_t MemoryTable::add_window(std::uint32_t pd)
{
	Region window;
	window.pd = pd;
	window.window = true;
	return insert(window);
}

void MemoryTable::unbind(Region &window)
{
	if (window.parent)
		entries_[window.parent >> 8].windows--;
	window.parent = 0;
	window.valid = false;
}

bool MemoryTable::remove(std::uint32_t key)
{
	Region &entry = entries_[key >> 8];
	if (entry.windows)
		return false;
	if (entry.window)
		unbind(entry);
	entry = Region{};
	free_.push_back(key >> 8);
	return true;
}

void MemoryTable::replace(std::uint32_t key, const Region &contents)
{
	const std::uint32_t index = key >> 8;
	Region &entry = entries_[index];
	entry = contents;
	entry.key = key;
}

int MemoryTable::bind_window(std::uint32_t key, std::uint32_t new_key, std::uint32_t region_key, std::uint64_t va,
	std::uint64_t length, std::uint32_t access, std::uint32_t qpn)
{
	const std::uint32_t index = key >> 8;
	if (index >= entries_.size() || !entries_[index].window || entries_[index].key != key)
		return EINVAL;
	if (new_key >> 8 != index)
		return EINVAL;
	Region &window = entries_[index];
	if (!length) {
		unbind(window);
		window.key = new_key;
		return 0;
	}
	const Region *region = find(region_key);
	if (!region || region->window || region->pd != window.pd || !(region->access & access_mw_bind))
		return EINVAL;
	if ((access & (access_remote_write | access_remote_atomic)) && !(region->access & access_local_write))
		return EINVAL;
	std::uint8_t *base = resolve(region_key, va, length, 0, window.pd);
	if (!base)
		return EINVAL;
	unbind(window);
	window.base = base;
	window.va = access & access_zero_based ? 0 : va;
	window.length = length;
	window.access = access;
	window.qpn = qpn;
	window.parent = region_key;
	window.key = new_key;
	window.valid = true;
	entries_[region_key >> 8].windows++;
	return 0;
}

bool MemoryTable::invalidate(std::uint32_t key, std::uint32_t pd, std::uint32_t qpn)
{
	const Region *found = find(key);
	if (!found || !found->window || found->pd != pd || found->qpn != qpn)
		return false;
	unbind(entries_[key >> 8]);
	return true;
}

void BlockLocks::lock(const void *address, std::uint32_t length)
{
	const std::size_t a = index(address, 0), b = index(address, length - 1);
	/* In the order of their indices, so that two callers never wait for each other. */
	slots_[std::min(a, b)].lock.lock();
	if (a != b)
		slots_[std::max(a, b)].lock.lock();
}

void BlockLocks::unlock(const void *address, std::uint32_t length)
{
	const std::size_t a = index(address, 0), b = index(address, length - 1);
	if (a != b)
		slots_[std::max(a, b)].lock.unlock();
	slots_[std::min(a, b)].lock.unlock();
}

BlockLocks &BlockLocks::instance()
{
	static BlockLocks locks;
	return locks;
}

} // namespace prism::soft
