/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/one_sided/region.hpp"

#include <array>
#include <bit>

namespace prism::gam::latch
{

std::uint64_t *Region::words(std::uint64_t block) const noexcept
{
	return reinterpret_cast<std::uint64_t *>(memory_.data() + layout_.entry(block));
}

void Region::lend(std::uint64_t first, std::uint64_t count) noexcept
{
	using FirstWords = std::array<std::uint64_t, entry_size / sizeof(std::uint64_t)>;
	Entry lent;
	lent.flags = entry_lent;
	for (std::uint64_t block = first; block < first + count; block++)
		__atomic_store_n(words(block), std::bit_cast<FirstWords>(lent)[0], __ATOMIC_RELEASE);
}

Entry Region::entry(std::uint64_t block) const noexcept
{
	std::array<std::uint64_t, entry_size / sizeof(std::uint64_t)> loaded;
	for (std::size_t i = 0; i < loaded.size(); i++)
		loaded[i] = __atomic_load_n(words(block) + i, __ATOMIC_ACQUIRE);
	return std::bit_cast<Entry>(loaded);
}

} // namespace prism::gam::latch
