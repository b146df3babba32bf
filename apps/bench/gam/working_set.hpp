/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The blocks that a thread uses, and their order. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/frame/workload.hpp"
#include "bench/gam/options.hpp"
#include "gam/coherence/address.hpp"

namespace prism::gam::micro
{

/** A run of adjacent blocks. */
struct Blocks {
	Address first;
	std::size_t count = 0;

	[[nodiscard]] Address at(std::size_t place) const noexcept { return first + place * block_size; }
};

/** The origin of a block of a working set. */
enum class Origin : std::uint8_t {
	local,
	remote,
	shared,
};

/**
 * Returns the origin of each place of the working set of thread @p thread, counted over all nodes. The shared places
 * are the same for all.
 */
[[nodiscard]] std::vector<Origin> plan(const Workload &workload, std::uint64_t thread);

/**
 * Returns the number of blocks at each of @p nodes for the places that are not shared, for a thread of node @p self.
 * Remote ones are spread over all other nodes in turn.
 */
[[nodiscard]] std::vector<std::size_t> own_blocks(const std::vector<Origin> &origins, NodeId self, std::size_t nodes);
/**
 * Returns the block of each place. @p own: first of the blocks of own_blocks(), at each node; @p shared: first of the
 * shared ones, likewise, or nothing.
 */
[[nodiscard]] std::vector<Address> place_blocks(const std::vector<Origin> &origins, NodeId self,
	const std::vector<Address> &own, const std::vector<Address> &shared);

/** Draws the items of one thread. */
class ItemChooser
{
public:
	/** @param blocks the working set, at least one */
	ItemChooser(const Workload &workload, std::vector<Address> blocks, std::uint64_t thread);

	struct Item {
		Address at;
		bool is_read = true;
	};
	[[nodiscard]] Item next() noexcept;

private:
	/* Four draws of 16 bits */
	using Share = std::uint32_t;

	void move(std::uint64_t draws) noexcept;

	std::vector<Address> blocks_;
	bench::Random random_;
	Share reads_;
	Share space_;
	Share time_;
	std::size_t block_ = 0;
	std::size_t item_ = 0;
};

} // namespace prism::gam::micro
