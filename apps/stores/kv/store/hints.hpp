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
 * A cache of where this client last found each key: in which of the key's 32 slots. A key at home needs no hint, so in
 * a half-full table a quarter of the keys have one. A hint may be wrong, because other clients move keys, and because
 * it holds only 27 bits of the key's fingerprint. The caller must verify the slot.
 *
 * Memory is allocated once: four bytes for each hint, in sets of eight. A full set drops its least recently used hint.
 * One thread at a time.
 */
class Hints
{
public:
	static constexpr std::size_t bytes_each = 4;

	/** @p capacity: rounded up to eight times a power of two; 0: no hints at all. */
	explicit Hints(std::size_t capacity);

	/** Returns the number of hints that there is room for. */
	[[nodiscard]] std::size_t capacity() const noexcept { return sets_.size() * ways; }

	/** Returns the position noted last for @p key: its bucket times Geometry::bucket_slots, and the slot in it. */
	[[nodiscard]] std::optional<std::uint32_t> find(const Fingerprint &key) noexcept;

	/** Notes that @p key is at @p position. */
	void note(const Fingerprint &key, std::uint32_t position) noexcept;

	/** Notes likewise a key that no operation has asked for, only if this displaces no other hint. */
	void suggest(const Fingerprint &key, std::uint32_t position) noexcept;

	/** Drops the hint of @p key, which is wrong or useless. */
	void forget(const Fingerprint &key) noexcept;

	void clear() noexcept;

private:
	static constexpr std::size_t ways = 8;
	static constexpr unsigned position_bits = 5;
	static_assert(1U << position_bits == 2 * Geometry::bucket_slots);

	using Hint = std::uint32_t; /* tag and position; 0: none. The first one of a set was used last. */
	using Set = std::array<Hint, ways>;

	[[nodiscard]] Set *set_of(const Fingerprint &key) noexcept;
	static Hint tag_of(const Fingerprint &key) noexcept;
	static Hint *look_up(Set &set, Hint tag) noexcept;

	std::vector<Set> sets_;
};

} // namespace prism::kv
