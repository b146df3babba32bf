/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Return of buffers to the server. Buffers that the run has taken from the free list and no longer needs go back in
 * batches, outside of timed sections. A counted run for which the list holds enough returns nothing at all.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "common/endpoint.hpp"

namespace prism::perftest
{

class Reclaim
{
public:
	explicit Reclaim(Client &returning) : client_(returning) {}

	/** Begins with the @p count buffers that the server has posted. */
	void begin(std::uint32_t count)
	{
		available_ = count;
		low_water_ = count / 2;
		freed_.reserve(std::size_t{count} * 2);
	}

	/** Notes that a buffer was taken from the list. */
	void taken() { available_--; }

	/** Adds the buffer at @p address, which is neither in the list nor pointed to. */
	void add(std::uint64_t address) { freed_.push_back(address); }

	/** Sends buffers if the list is low; call it outside of timed sections. */
	void flush_if_low()
	{
		if (available_ < low_water_ && freed_.size() >= smallest_batch)
			flush();
	}

	/** Sends all buffers. */
	void flush()
	{
		for (std::size_t start = 0; start < freed_.size(); start += most_returned) {
			const std::size_t count = std::min(most_returned, freed_.size() - start);
			client_.return_buffers(std::span<const std::uint64_t>(freed_).subspan(start, count));
		}
		available_ += static_cast<std::int64_t>(freed_.size());
		freed_.clear();
	}

private:
	static constexpr std::size_t smallest_batch = 64;

	Client &client_;
	std::vector<std::uint64_t> freed_;
	std::int64_t available_ = 0;
	std::int64_t low_water_ = 0;
};

} // namespace prism::perftest
