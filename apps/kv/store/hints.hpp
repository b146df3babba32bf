/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "layout.hpp"

namespace prism::kv
{

/**
 * Where keys were when this client last met them: for each, which of its 32 slots. A key that is at home needs no hint,
 * so a quarter of the keys of a table that is half full have one. A hint may be wrong, as others move keys, and as it
 * holds 27 bits of the key's fingerprint alone; whoever follows it verifies what it finds.
 *
 * Memory is taken once and for all: four bytes a hint, in sets of eight. In a full set the hint goes that has not been
 * of use for longest. One thread at a time.
 */
class Hints
{
public:
	static constexpr std::size_t bytes_each = 4;

	/** @p capacity: rounded up to eight times a power of two; 0: no hints at all. */
	explicit Hints(std::size_t capacity);

	/** Of how many keys there is room for hints. */
	[[nodiscard]] std::size_t capacity() const noexcept { return sets_.size() * ways; }

	/** The position that was noted last for @p key: its bucket times Geometry::bucket_slots, and the slot in it. */
	[[nodiscard]] std::optional<std::uint32_t> find(const Fingerprint &key) noexcept;

	/** @p key is at @p position. */
	void note(const Fingerprint &key, std::uint32_t position) noexcept;

	/** The same of a key that nobody has asked for: noted only where that takes no other's place. */
	void suggest(const Fingerprint &key, std::uint32_t position) noexcept;

	/** What is known of @p key is wrong, or of no use. */
	void forget(const Fingerprint &key) noexcept;

	void clear() noexcept;

private:
	static constexpr std::size_t ways = 8;
	static constexpr unsigned position_bits = 5;
	static_assert(1U << position_bits == 2 * Geometry::bucket_slots);

	using Hint = std::uint32_t; /* tag and position; 0: none. A set begins with what was of use last. */
	using Set = std::array<Hint, ways>;

	[[nodiscard]] Set *set_of(const Fingerprint &key) noexcept;
	static Hint tag_of(const Fingerprint &key) noexcept;
	static Hint *look_up(Set &set, Hint tag) noexcept;

	std::vector<Set> sets_;
};

} // namespace prism::kv
