/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gam/one_sided/layout.hpp"

namespace prism::gam::latch
{

/** A home's own access to the memory that it lends: what its processor may do beside the device. Any thread. */
class Region
{
public:
	/** @param memory Layout::bytes() of @p layout, zeroed, aligned to block_size; outlives this object */
	Region(std::span<std::byte> memory, const Layout &layout) noexcept : memory_(memory), layout_(layout) {}

	[[nodiscard]] const Layout &layout() const noexcept { return layout_; }

	/**
	 * Lends @p count blocks from @p first on. Only for blocks that were never lent: no node's CAS matches such an
	 * entry, so none is lost, and none stores (docs/semantics.md S.4.4). Latch lends other blocks, and withdraws
	 * all.
	 */
	void lend(std::uint64_t first, std::uint64_t count) noexcept;
	/** Returns the entry of @p block. Each word is consistent, but they may be of two moments. */
	[[nodiscard]] Entry entry(std::uint64_t block) const noexcept;

private:
	[[nodiscard]] std::uint64_t *words(std::uint64_t block) const noexcept;

	std::span<std::byte> memory_;
	Layout layout_;
};

} // namespace prism::gam::latch
