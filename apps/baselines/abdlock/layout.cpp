/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "layout.hpp"

#include <array>
#include <cstring>

#include <isa-l/crc.h>

namespace prism::rs
{

namespace
{

constexpr std::uint64_t written_mark = std::uint64_t{1} << 32;

} // namespace

std::uint64_t Version::compute(std::span<const std::byte> block) const noexcept
{
	/* The library takes no const bytes, but does not change them. */
	std::array<unsigned char, sizeof(tag)> front;
	std::memcpy(front.data(), &tag, sizeof(tag));
	const unsigned int crc = crc32_iscsi(front.data(), static_cast<int>(front.size()), ~0U);
	auto *const bytes = reinterpret_cast<unsigned char *>(const_cast<std::byte *>(block.data()));
	return written_mark | crc32_iscsi(bytes, static_cast<int>(block.size()), crc);
}

} // namespace prism::rs
