/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "memory.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>

namespace prism::soft
{

namespace
{
constexpr std::uint32_t max_entries = 1 << 20; /* more than the verbs hand out */
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
	/* If one of them fails, the others are too long, which does no harm. */
	free_.reserve(std::bit_ceil(entries_.size() + 1));
	generation_.resize(entries_.size() + 1);
	entries_.emplace_back();
	return static_cast<std::uint32_t>(entries_.size() - 1);
}

std::uint32_t MemoryTable::insert(const Region &region)
{
	const std::uint32_t index = take_index();
	if (!index)
		return 0;
	entries_[index] = region;
	return entries_[index].key = index << 8 | ++generation_[index];
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
	if (window.parent) {
		entries_[window.parent >> 8].windows--;
		bound_to_qps_ -= window.qpn != 0;
	}
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
	/* Give the next key here a generation that no window has had: a peer may still know that key. */
	generation_[key >> 8] = static_cast<std::uint8_t>(entry.key);
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

bool MemoryTable::may_bind(const Region &window, const WindowBinding &bind, std::uint32_t pd) const
{
	if (!window.window || window.key != bind.key || window.pd != pd)
		return false;
	/* A window of type 2 is bound while it is free, and freed by invalidation alone. */
	const bool type_2 = bind.qpn;
	if (type_2 && (window.valid || !bind.length))
		return false;
	if (!bind.length)
		return true;
	const Region *region = find(bind.region_key);
	if (!region || region->window || !(region->access & access_mw_bind))
		return false;
	const bool changes = bind.access & (access_remote_write | access_remote_atomic);
	if (changes && !(region->access & access_local_write))
		return false;
	return resolve(bind.region_key, bind.va, bind.length, 0, pd);
}

int MemoryTable::bind_window(const WindowBinding &bind, std::uint32_t pd)
{
	const std::uint32_t index = bind.key >> 8;
	if (index >= entries_.size() || !may_bind(entries_[index], bind, pd))
		return EINVAL;
	Region &window = entries_[index];
	unbind(window);
	/* The consumer chooses the low byte; the index is ours (IBTA 10.6.7). */
	window.key = (bind.key & ~0xffu) | (bind.new_key & 0xff);
	if (!bind.length)
		return 0;
	constexpr std::uint32_t rights =
		access_remote_read | access_remote_write | access_remote_atomic | access_zero_based;
	window.base = resolve(bind.region_key, bind.va, bind.length, 0, pd);
	window.va = bind.access & access_zero_based ? 0 : bind.va;
	window.length = bind.length;
	window.access = bind.access & rights;
	window.qpn = bind.qpn;
	window.parent = bind.region_key;
	window.valid = true;
	entries_[bind.region_key >> 8].windows++;
	bound_to_qps_ += window.qpn != 0;
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

void MemoryTable::unbind_all(std::uint32_t qpn)
{
	for (std::size_t i = 0; bound_to_qps_ && i < entries_.size(); i++)
		if (entries_[i].window && entries_[i].valid && entries_[i].qpn == qpn)
			unbind(entries_[i]);
}

void BlockLocks::lock(const void *address, std::uint32_t length)
{
	const std::size_t a = index(address, 0), b = index(address, length - 1);
	/* Lock in the order of the indices, so that two callers never wait for each other. */
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
