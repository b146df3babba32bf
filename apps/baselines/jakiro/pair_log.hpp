/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The memory of a partition's pairs: a circular log. A new pair is written behind the last one, and the oldest ones
 * make room for it, whatever their sizes are. So memory never runs out, is never fragmented, and the work for one pair
 * is bounded by its size.
 */
#pragma once

#include "base/saturating.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace prism::kv::jakiro
{

struct Pair {
	std::uint64_t hash = 0; /**< hash of the key */
	std::span<const std::byte> key;
	std::span<const std::byte> value;
};

/** A log of pairs. One thread at a time. After construction it neither allocates nor throws. */
class PairLog
{
public:
	/** The place of a pair, in units of its memory. */
	using Place = std::uint32_t;
	static constexpr Place nowhere = ~Place{0};
	static constexpr std::size_t unit = 32; /**< bytes */

	/** Returns the bytes that a pair takes. */
	static constexpr std::uint64_t size_of(std::uint64_t key_size, std::uint64_t value_size) noexcept
	{
		return apps::rounded_up(apps::sum_of(sizeof(Header), apps::sum_of(key_size, value_size)), unit);
	}

	/** Makes a log of @p memory bytes, at most 128 GiB. */
	explicit PairLog(std::size_t memory);

	/** Returns the pair that append() has put there, if it was not dropped. */
	[[nodiscard]] Pair at(Place place) const noexcept;

	/** Replaces the value of the pair. Returns false if it has no room at its place; then nothing was changed. */
	bool replace(Place place, std::span<const std::byte> value) noexcept;

	/** Returns true if append() may be called for a pair of these sizes: it is not longer than the log. */
	[[nodiscard]] bool holds(std::uint64_t key_size, std::uint64_t value_size) const noexcept
	{
		return size_of(key_size, value_size) / unit <= units_;
	}

	/**
	 * Writes a pair that is not in this memory; its key is not empty. Calls @p drop with (place, pair) for each
	 * pair that is about to be overwritten.
	 */
	template <typename Drop>
	Place append(const Pair &pair, Drop drop) noexcept
	{
		const std::uint64_t wanted = size_of(pair.key.size(), pair.value.size()) / unit;
		const std::uint64_t until_end = units_ - head_ % units_;
		if (wanted > until_end) {
			/* No pair wraps around the end. */
			make_room(until_end, drop);
			write(Header{static_cast<std::uint32_t>(until_end), 0, 0, 0}, {});
		}
		make_room(wanted, drop);
		return write(Header{static_cast<std::uint32_t>(wanted), static_cast<std::uint32_t>(pair.value.size()),
				     pair.hash, static_cast<std::uint32_t>(pair.key.size())},
			pair);
	}

private:
	/* The header of each pair, and of the rest at the end of the memory. */
	struct Header {
		std::uint32_t units = 0; /* including the header */
		std::uint32_t value_size = 0;
		std::uint64_t hash = 0;
		std::uint32_t key_size = 0; /* 0: no pair */
	};
	static_assert(sizeof(Header) <= unit);

	[[nodiscard]] Header header(Place place) const noexcept;
	[[nodiscard]] std::byte *memory_at(Place place) const noexcept { return &memory_[std::size_t{place} * unit]; }
	[[nodiscard]] Place place_of(std::uint64_t position) const noexcept
	{
		return static_cast<Place>(position % units_);
	}
	Place write(const Header &header, const Pair &pair) noexcept;

	template <typename Drop>
	void make_room(std::uint64_t wanted, Drop &drop) noexcept
	{
		while (head_ - tail_ + wanted > units_) {
			const Place oldest = place_of(tail_);
			const Header at_tail = header(oldest);
			if (at_tail.key_size)
				drop(oldest, at(oldest));
			tail_ += at_tail.units;
		}
	}

	std::uint64_t units_;
	std::unique_ptr<std::byte[]> memory_;
	/* Positions never go back; modulo units_ they are places. */
	std::uint64_t head_ = 0; /* position of the next pair */
	std::uint64_t tail_ = 0; /* position of the oldest pair */
};

} // namespace prism::kv::jakiro
