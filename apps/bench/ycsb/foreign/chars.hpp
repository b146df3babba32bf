/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Bytes in the form that the foreign libraries take. */
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
