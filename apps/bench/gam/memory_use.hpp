/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>

#include "bench/gam/options.hpp"

namespace prism::gam::micro
{

/** Bytes that a protocol keeps beside the blocks. */
struct MemoryUse {
	std::size_t entry = 0; /**< for each block of a home */
	std::size_t line = 0;  /**< for each line of a cache */
};
[[nodiscard]] MemoryUse memory_use(Protocol protocol) noexcept;

} // namespace prism::gam::micro
