/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "table.hpp"

#include <atomic>

namespace prism::kv
{

namespace
{

std::uint64_t load(std::uint64_t &word)
{
	return std::atomic_ref(word).load(std::memory_order_acquire);
}

} // namespace

/* Copies word by word, as the device stores them: a slot that changes meanwhile is mixed, but no word is torn. */
Slot Table::at(std::uint64_t index) const noexcept
{
	std::uint64_t words[sizeof(Slot) / sizeof(std::uint64_t)];
	auto *const from = reinterpret_cast<std::uint64_t *>(&slots_[index]);
	for (std::size_t i = 0; i < std::size(words); i++)
		words[i] = load(from[i]);
	Slot slot;
	std::memcpy(static_cast<void *>(&slot), words, sizeof(slot));
	return slot;
}

TableCount Table::count() const noexcept
{
	TableCount count;
	for (std::uint64_t index = 0; index < slots_.size(); index++) {
		const Slot slot = at(index);
		if (slot.empty())
			continue;
		count.claims += slot.is_claim();
		if (!slot.is_member())
			continue;
		const auto buckets = geometry_.buckets_of(slot.key);
		const std::uint64_t bucket = index / Geometry::bucket_slots;
		count.members++;
		count.at_home += geometry_.home_of(slot.key) == index;
		count.stray += bucket != buckets[0] && bucket != buckets[1];
	}
	return count;
}

} // namespace prism::kv
