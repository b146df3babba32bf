/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Bytes as the foreign libraries take them. */
#pragma once

#include <cstddef>
#include <span>

namespace prism::ycsb
{

[[nodiscard]] inline const char *chars(std::span<const std::byte> bytes)
{
	return reinterpret_cast<const char *>(bytes.data());
}

} // namespace prism::ycsb
