/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Buffers that the run has taken from the free list and no longer needs go back to the server in batches, outside of
 * timed sections. A counted run for which the list holds enough returns nothing at all.
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
	explicit Reclaim(Client &returning) : client(returning) {}

	/** The server has posted @p count buffers. */
	void begin(std::uint32_t count)
	{
		available = count;
		low_water = count / 2;
		freed.reserve(std::size_t{count} * 2);
	}

	/** A buffer was taken from the list. */
	void taken() { available--; }

	/** A buffer at @p address is free: not in the list, and nothing points to it. */
	void add(std::uint64_t address) { freed.push_back(address); }

	/** Sends what is due; call it outside of timed sections. */
	void flush_if_low()
	{
		if (available < low_water && freed.size() >= smallest_batch)
			flush();
	}

	/** Sends all. */
	void flush()
	{
		for (std::size_t start = 0; start < freed.size(); start += most_returned) {
			const std::size_t count = std::min(most_returned, freed.size() - start);
			client.return_buffers(std::span<const std::uint64_t>(freed).subspan(start, count));
		}
		available += static_cast<std::int64_t>(freed.size());
		freed.clear();
	}

private:
	static constexpr std::size_t smallest_batch = 64;

	Client &client;
	std::vector<std::uint64_t> freed;
	std::int64_t available = 0;
	std::int64_t low_water = 0;
};

} // namespace prism::perftest
