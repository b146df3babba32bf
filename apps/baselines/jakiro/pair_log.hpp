/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Where a partition keeps its pairs: a circular log. A new pair is written behind the last one, and the oldest ones
 * make room for it, whatever their sizes are. So memory never runs out, is never cut into pieces that fit nothing, and
 * the work for one pair is bounded by its size.
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
	std::uint64_t hash = 0; /**< of the key */
	std::span<const std::byte> key;
	std::span<const std::byte> value;
};

/** One thread at a time. After construction it neither allocates nor throws. */
class PairLog
{
public:
	/** Where a pair is, in units of its memory. */
	using Place = std::uint32_t;
	static constexpr Place nowhere = ~Place{0};
	static constexpr std::size_t unit = 32; /**< bytes */

	/** Bytes that a pair takes. */
	static constexpr std::uint64_t size_of(std::uint64_t key_size, std::uint64_t value_size) noexcept
	{
		return apps::rounded_up(apps::sum_of(sizeof(Header), apps::sum_of(key_size, value_size)), unit);
	}

	/** Of @p memory bytes, at most 128 GiB. */
	explicit PairLog(std::size_t memory);

	/** The pair that append() has put there, as long as it was not dropped. */
	[[nodiscard]] Pair at(Place place) const noexcept;

	/** Gives the pair another value. False if that has no room at its place; then nothing was changed. */
	bool replace(Place place, std::span<const std::byte> value) noexcept;

	/** Whether append() may be called for a pair of these sizes: it is not longer than the log. */
	[[nodiscard]] bool holds(std::uint64_t key_size, std::uint64_t value_size) const noexcept
	{
		return size_of(key_size, value_size) / unit <= units_;
	}

	/**
	 * Writes a pair that is no part of this memory; its key is not empty. @p drop is called with (place, pair) for
	 * each one that is about to be overwritten.
	 */
	template <typename Drop>
	Place append(const Pair &pair, Drop drop) noexcept
	{
		const std::uint64_t wanted = size_of(pair.key.size(), pair.value.size()) / unit;
		const std::uint64_t until_end = units_ - head_ % units_;
		if (wanted > until_end) {
			/* A pair does not go over the end. */
			make_room(until_end, drop);
			write(Header{static_cast<std::uint32_t>(until_end), 0, 0, 0}, {});
		}
		make_room(wanted, drop);
		return write(Header{static_cast<std::uint32_t>(wanted), static_cast<std::uint32_t>(pair.value.size()),
				     pair.hash, static_cast<std::uint32_t>(pair.key.size())},
			pair);
	}

private:
	/* In front of each pair, and of what is left over at the end of the memory. */
	struct Header {
		std::uint32_t units = 0; /* with the header */
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
	std::uint64_t head_ = 0; /* where the next pair goes */
	std::uint64_t tail_ = 0; /* the oldest one */
};

} // namespace prism::kv::jakiro
