/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/protocol/frame.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <isa-l/crc.h>

namespace prism::rpc
{

Frame Frame::load(const std::byte *from) noexcept
{
	std::array<std::uint64_t, 2> words;
	std::memcpy(words.data(), from, sizeof(words));
	return of(words[0], words[1]);
}

void Frame::store(std::byte *to) const noexcept
{
	const std::array<std::uint64_t, 2> words{first_word(), second_word()};
	std::memcpy(to, words.data(), sizeof(words));
}

std::uint32_t Frame::checksum(std::span<const std::byte> message) const noexcept
{
	std::array<std::byte, frame_size> bytes;
	store(bytes.data());
	/* ISA-L's interface wants its input writable, and does not write. */
	const auto crc_of = [](const std::byte *from, std::size_t length, std::uint32_t before) {
		return crc32_iscsi(reinterpret_cast<unsigned char *>(const_cast<std::byte *>(from)),
			static_cast<int>(length), before);
	};
	const std::uint32_t seed = crc_of(bytes.data(), 12, ~std::uint32_t{0});
	return ~crc_of(message.data(), message.size(), seed);
}

std::uint16_t microseconds(std::chrono::nanoseconds time) noexcept
{
	return static_cast<std::uint16_t>(std::clamp<std::int64_t>(time.count() / 1000, 0, 65535));
}

} // namespace prism::rpc
