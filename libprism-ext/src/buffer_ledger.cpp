/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <prism/free_list.hpp>

#include <algorithm>

#include "base/assertion.hpp"

namespace prism
{

const char *to_string(Verdict verdict) noexcept
{
	switch (verdict) {
	case Verdict::released:
		return "released";
	case Verdict::outside:
		return "outside";
	case Verdict::misaligned:
		return "misaligned";
	case Verdict::not_allocated:
		return "not_allocated";
	case Verdict::undecided:
		return "undecided";
	}
	return "unknown";
}

BufferLedger::BufferLedger(std::uint64_t base, std::uint32_t buffer_size, std::uint32_t count)
	: base_address_(base), size_(buffer_size), entries_(count)
{
}

void BufferLedger::posted(std::uint32_t index) noexcept
{
	PRISM_ASSERT(index < entries_.size() && entries_[index].holder == Holder::owner);
	entries_[index].sequence = next_sequence_++;
	entries_[index].holder = Holder::listed;
}

void BufferLedger::observe(const prismdv_free_list_attr &counters) noexcept
{
	const std::uint64_t left = counters.popped + counters.rejected;
	reclaimed_ = std::max(reclaimed_, counters.reclaimed);
	/* If the list is empty, every buffer that was taken back has been handed out again. */
	const bool empty = counters.available == 0 && counters.allocatable == 0;
	if (empty)
		taken_back_ = std::max(taken_back_, counters.reclaimed);
	/* Each buffer taken back accounts for at most one pop of an entry that we had not posted. */
	const std::uint64_t unsure = counters.reclaimed - std::min(counters.reclaimed, taken_back_);
	const std::uint64_t most = std::min(left - std::min(left, taken_back_), next_sequence_);
	surely_consumed_ = std::max(surely_consumed_, most - std::min(most, unsure));
	perhaps_consumed_ = std::max(perhaps_consumed_, most);
	if (empty)
		surely_consumed_ = perhaps_consumed_;
	PRISM_ASSERT(surely_consumed_ <= perhaps_consumed_ && perhaps_consumed_ <= next_sequence_);
}

void BufferLedger::rejected(std::uint64_t address) noexcept
{
	std::uint32_t index = 0;
	if (locate(address, index) == Verdict::released)
		entries_[index].holder = Holder::rejected;
}

/* Returns released if the address is the start of buffer @index. */
Verdict BufferLedger::locate(std::uint64_t address, std::uint32_t &index) const noexcept
{
	if (address < base_address_ || (address - base_address_) / size_ >= entries_.size())
		return Verdict::outside;
	if ((address - base_address_) % size_ != 0)
		return Verdict::misaligned;
	index = static_cast<std::uint32_t>((address - base_address_) / size_);
	return Verdict::released;
}

Verdict BufferLedger::release(std::uint64_t address, std::uint32_t &index) noexcept
{
	const Verdict found = locate(address, index);
	if (found != Verdict::released)
		return found;
	Entry &entry = entries_[index];
	if (entry.holder != Holder::listed || entry.sequence >= perhaps_consumed_)
		return Verdict::not_allocated;
	if (entry.sequence >= surely_consumed_)
		return Verdict::undecided;
	entry.holder = Holder::owner;
	return Verdict::released;
}

bool BufferLedger::taken_by_owner(std::uint64_t address, std::uint32_t &index) noexcept
{
	if (locate(address, index) != Verdict::released || entries_[index].holder != Holder::listed)
		return false;
	entries_[index].holder = Holder::owner;
	return true;
}

void BufferLedger::mark()
{
	marked_ = surely_consumed_;
	for (Entry &entry : entries_)
		entry.live = 0;
}

bool BufferLedger::spare(std::uint64_t address) noexcept
{
	if (address < base_address_ || (address - base_address_) / size_ >= entries_.size())
		return false;
	entries_[(address - base_address_) / size_].live = 1;
	return true;
}

void BufferLedger::collect(std::vector<std::uint32_t> &leaked)
{
	for (std::uint32_t index = 0; index < entries_.size(); index++) {
		Entry &entry = entries_[index];
		if (entry.holder != Holder::listed || entry.sequence >= marked_ || entry.live)
			continue;
		entry.holder = Holder::owner;
		leaked.push_back(index);
	}
	marked_ = 0;
}

} // namespace prism
