/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>

#include "bench/gam/options.hpp"

namespace prism::gam::micro
{

/** Bytes that a protocol keeps beside the blocks. */
struct MemoryUse {
	std::size_t entry = 0; /**< of a home, for each of its blocks */
	std::size_t line = 0;  /**< of a cache, for each line */
};
[[nodiscard]] MemoryUse memory_use(Protocol protocol) noexcept;

} // namespace prism::gam::micro
