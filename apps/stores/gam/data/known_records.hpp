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
 * A cache of the record addresses of some short keys; of keys that share a slot, it keeps the last. A record never
 * moves, so its address stays right while its node is not lost, and the index need not be read again. One thread at a
 * time.
 */
class KnownRecords
{
public:
	struct Known {
		Address record;           /**< null: unknown */
		std::uint32_t losses = 0; /**< Node::losses() before it was found */
	};

	/** Returns the record of @p key. @p hash: of the key, well spread. */
	[[nodiscard]] Known find(std::span<const std::byte> key, std::uint64_t hash) const noexcept;
	void keep(std::span<const std::byte> key, std::uint64_t hash, const Known &known) noexcept;

private:
	static constexpr std::size_t longest_key = 51;
	static constexpr std::size_t places = 4096;
	struct Place {
		Address record;
		std::uint32_t losses = 0;
		std::array<std::byte, longest_key> key;
		std::uint8_t length = 0;
	};
	static_assert(sizeof(Place) == 64);

	std::unique_ptr<Place[]> places_ = std::make_unique<Place[]>(places);
};

} // namespace prism::gam
