/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Keys and values of tests are text. */
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace prism::test
{

inline std::span<const std::byte> bytes_of(const std::string &text)
{
	return std::as_bytes(std::span(text));
}

inline std::string text_of(std::span<const std::byte> bytes)
{
	return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace prism::test
