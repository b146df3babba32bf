/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The frame before a message in memory that the other side writes or reads. Two words of 8 bytes, little-endian:
 *
 *  offset  bytes  request                              response
 *  0       4      seq                                  that of its request
 *  4       4      bytes of the message                 likewise
 *  8       2      0                                    time that the server takes, us, saturating
 *  10      2      mode: 0 fetch, 1 reply               0
 *  12      4      CRC-32C of bytes 0 to 11 and of the message, or 0 where the way needs none
 *
 * A slot's first seq is 2. 0 is none's, and 2 follows 2^32 - 1, which keeps the parity.
 */
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace prism::rpc
{

constexpr std::size_t frame_size = 16;

enum class Mode : std::uint16_t {
	fetch = 0, /**< the client READs the response */
	reply = 1, /**< the server WRITEs it */
};

struct Frame {
	std::uint32_t seq = 0;
	std::uint32_t size = 0; /**< bytes of the message */
	std::uint16_t time = 0; /**< of a response, us */
	std::uint16_t mode = 0; /**< of a request */
	std::uint32_t crc = 0;

	[[nodiscard]] std::uint64_t first_word() const noexcept { return std::uint64_t{size} << 32 | seq; }
	[[nodiscard]] std::uint64_t second_word() const noexcept
	{
		return std::uint64_t{crc} << 32 | std::uint64_t{mode} << 16 | time;
	}
	static Frame of(std::uint64_t first, std::uint64_t second) noexcept
	{
		return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first >> 32),
			static_cast<std::uint16_t>(second), static_cast<std::uint16_t>(second >> 16),
			static_cast<std::uint32_t>(second >> 32)};
	}

	/** Loads frame_size bytes. */
	static Frame load(const std::byte *from) noexcept;
	/** Stores frame_size bytes. */
	void store(std::byte *to) const noexcept;

	/** Returns the CRC-32C for the other fields and @p message. */
	[[nodiscard]] std::uint32_t checksum(std::span<const std::byte> message) const noexcept;
};

constexpr std::uint32_t first_seq = 2;
constexpr std::uint32_t next_seq(std::uint32_t seq) noexcept
{
	return seq == ~std::uint32_t{0} ? first_seq : seq + 1;
}
/** Returns the seq of the previous call: no call's, if @p seq is a slot's first. */
constexpr std::uint32_t seq_before(std::uint32_t seq) noexcept
{
	return seq == first_seq ? ~std::uint32_t{0} : seq - 1;
}

/** Returns the time as a response has it. */
std::uint16_t microseconds(std::chrono::nanoseconds time) noexcept;

} // namespace prism::rpc
