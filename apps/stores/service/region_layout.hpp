/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/saturating.hpp"

namespace prism::apps
{

/** Buffers of equal size. */
struct BufferClass {
	std::uint32_t buffer_size = 0; /**< bytes, a multiple of 64 */
	std::uint32_t count = 0;

	[[nodiscard]] std::uint64_t bytes() const noexcept { return std::uint64_t{buffer_size} * count; }
};

/**
 * Layout of a store's region. It is a single one: an indirect operation needs its pointer and the target under one
 * rkey. The slots, then the scratches of connections, then the buffers of each free list. Offsets in bytes from its
 * beginning; each is a multiple of 64.
 */
class RegionLayout
{
public:
	/** Bytes of a scratch: a cache line; a client has the first half. */
	static constexpr std::uint64_t scratch_bytes = 64;

	RegionLayout(std::uint64_t slot_bytes, std::uint32_t connections, std::vector<BufferClass> lists)
		: slot_bytes_(rounded_up(slot_bytes, scratch_bytes)), connections_(connections),
		  lists_(std::move(lists))
	{
	}

	[[nodiscard]] std::uint64_t slot_bytes() const noexcept { return slot_bytes_; }
	[[nodiscard]] std::uint32_t connections() const noexcept { return connections_; }
	[[nodiscard]] const std::vector<BufferClass> &lists() const noexcept { return lists_; }

	[[nodiscard]] std::uint64_t scratch(std::uint32_t index) const noexcept
	{
		return slot_bytes_ + scratch_bytes * index;
	}
	/** Returns the first buffer of list @p number; the end of the region if there is no such list. Saturates. */
	[[nodiscard]] std::uint64_t buffers(std::size_t number) const noexcept
	{
		std::uint64_t offset = sum_of(slot_bytes_, scratch_bytes * connections_);
		for (std::size_t list = 0; list < number && list < lists_.size(); list++)
			offset = sum_of(offset, lists_[list].bytes());
		return offset;
	}
	/** Returns the bytes of the region: `saturated` if they do not fit in 64 bits. */
	[[nodiscard]] std::uint64_t bytes() const noexcept { return buffers(lists_.size()); }

private:
	std::uint64_t slot_bytes_;
	std::uint32_t connections_;
	std::vector<BufferClass> lists_;
};

} // namespace prism::apps
