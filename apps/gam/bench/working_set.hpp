/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The blocks that a thread uses, and in which order. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/workload.hpp"
#include "gam/bench/options.hpp"
#include "gam/coherence/address.hpp"

namespace prism::gam::micro
{

/** A run of blocks behind each other. */
struct Blocks {
	Address first;
	std::size_t count = 0;

	[[nodiscard]] Address at(std::size_t place) const noexcept { return first + place * block_size; }
};

/** Where the blocks of a working set come from. */
enum class Origin : std::uint8_t {
	local,
	remote,
	shared,
};

/** Of each place of the working set of thread @p thread, of all nodes'. The shared places are the same for all. */
[[nodiscard]] std::vector<Origin> plan(const Workload &workload, std::uint64_t thread);

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
