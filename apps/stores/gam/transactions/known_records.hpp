/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gam/coherence/address.hpp"

namespace prism::gam
{

/**
 * Where the records of some short keys are: of those that share a place, the last one that was kept. A record stays
 * where it is, so what is known here stays right, and the index need not be read again. One thread at a time.
 */
class KnownRecords
{
public:
	/** Null: not known. @p hash of the key, any that is spread well. */
	[[nodiscard]] Address find(std::span<const std::byte> key, std::uint64_t hash) const noexcept;
	void keep(std::span<const std::byte> key, std::uint64_t hash, Address record) noexcept;

private:
	static constexpr std::size_t longest_key = 55;
	static constexpr std::size_t places = 4096;
	struct Place {
		Address record;
		std::array<std::byte, longest_key> key;
		std::uint8_t length = 0;
	};
	static_assert(sizeof(Place) == 64);

	std::unique_ptr<Place[]> places_ = std::make_unique<Place[]>(places);
};

} // namespace prism::gam
