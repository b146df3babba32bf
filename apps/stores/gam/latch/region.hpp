/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gam/latch/layout.hpp"

namespace prism::gam::latch
{

/** A home's own view of the memory that it lends: what its processor may do beside the device. Any thread. */
class Region
{
public:
	/** @p memory: Layout::bytes() of @p layout, zeroed, aligned to block_size. It outlives this object. */
	Region(std::span<std::byte> memory, const Layout &layout) noexcept : memory_(memory), layout_(layout) {}

	[[nodiscard]] const Layout &layout() const noexcept { return layout_; }

	/**
	 * @p count blocks from @p first on may be asked for. Only blocks that never could: no CAS of any node holds on
	 * such an entry, so none is lost, and none stores (docs/semantics.md S.4.4). Others are lent, and all are
	 * withdrawn, by Latch.
	 */
	void lend(std::uint64_t first, std::uint64_t count) noexcept;
	/** The entry of @p block. Each of its words is whole; together they may be of two moments. */
	[[nodiscard]] Entry entry(std::uint64_t block) const noexcept;

private:
	[[nodiscard]] std::uint64_t *words(std::uint64_t block) const noexcept;

	std::span<std::byte> memory_;
	Layout layout_;
};

} // namespace prism::gam::latch
