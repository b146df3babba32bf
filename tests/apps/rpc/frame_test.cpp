/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/fetch/layout.hpp"
#include "rpc/protocol/frame.hpp"
#include "rpc/protocol/shared_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace
{

using namespace prism::rpc;

std::span<const std::byte> bytes_of(const char *text)
{
	return std::as_bytes(std::span(text, std::strlen(text)));
}

TEST(Frame, LaidOutAsDocumented)
{
	Frame frame;
	frame.seq = 0x01020304;
	frame.size = 0x05060708;
	frame.time = 0x090a;
	frame.mode = 0x0b0c;
	frame.crc = 0x0d0e0f10;
	std::array<std::byte, frame_size> bytes;
	frame.store(bytes.data());
	const std::array<std::uint8_t, frame_size> expected{
		4, 3, 2, 1, 8, 7, 6, 5, 0x0a, 9, 0x0c, 0x0b, 0x10, 0x0f, 0x0e, 0x0d};
	EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), frame_size), 0);
	const Frame again = Frame::load(bytes.data());
	EXPECT_EQ(again.seq, frame.seq);
	EXPECT_EQ(again.size, frame.size);
	EXPECT_EQ(again.time, frame.time);
	EXPECT_EQ(again.mode, frame.mode);
	EXPECT_EQ(again.crc, frame.crc);
}

/* The check value of CRC-32C is 0xe3069283, of "123456789": here 3 of its bytes follow a frame of 12. */
TEST(Frame, ChecksumIsCrc32cOfFrameAndMessage)
{
	Frame frame;
	std::array<std::byte, frame_size> bytes;
	std::memcpy(bytes.data(), "123456789abc", 12);
	frame = Frame::load(bytes.data());
	const std::uint32_t whole = frame.checksum(bytes_of("def"));
	Frame other = frame;
	other.crc = 12345; /* not covered by the checksum */
	EXPECT_EQ(other.checksum(bytes_of("def")), whole);
	other = frame;
	other.time++;
	EXPECT_NE(other.checksum(bytes_of("def")), whole);
	EXPECT_NE(frame.checksum(bytes_of("deg")), whole);
	EXPECT_NE(frame.checksum(bytes_of("de")), whole);
	/* Another implementation, bit by bit. */
	std::uint32_t crc = ~std::uint32_t{0};
	for (const char c : std::string_view("123456789abcdef")) {
		crc ^= static_cast<std::uint8_t>(c);
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0u);
	}
	EXPECT_EQ(whole, ~crc);
}

TEST(Frame, SequenceSkipsZeroAndKeepsParity)
{
	EXPECT_EQ(next_seq(first_seq), 3u);
	EXPECT_EQ(next_seq(~0u), first_seq);
	EXPECT_EQ(seq_before(first_seq), ~0u);
	EXPECT_EQ(seq_before(next_seq(7)), 7u);
	EXPECT_NE(next_seq(~0u) % 2, ~0u % 2);
}

TEST(Frame, MicrosecondsSaturate)
{
	using namespace std::chrono_literals;
	EXPECT_EQ(microseconds(999ns), 0u);
	EXPECT_EQ(microseconds(1us), 1u);
	EXPECT_EQ(microseconds(10s), 65535u);
	EXPECT_EQ(microseconds(-1us), 0u);
}

TEST(SharedMemory, CopiesAnyNumberOfBytes)
{
	alignas(8) std::array<std::byte, 64> shared;
	std::array<std::byte, 64> mine;
	for (std::size_t i = 0; i < mine.size(); i++)
		mine[i] = static_cast<std::byte>(i + 1);
	for (std::size_t size = 0; size <= 56; size++) {
		shared.fill(std::byte{0xee});
		store_shared(shared.data(), mine.data(), size);
		const std::size_t end = (size + 7) / 8 * 8;
		for (std::size_t i = 0; i < shared.size(); i++)
			EXPECT_EQ(shared[i], i < size ? mine[i] : i < end ? std::byte{0} : std::byte{0xee});
		std::array<std::byte, 64> back;
		back.fill(std::byte{0xdd});
		load_shared(back.data(), shared.data(), size);
		for (std::size_t i = 0; i < back.size(); i++)
			EXPECT_EQ(back[i], i < size ? mine[i] : std::byte{0xdd});
	}
}

TEST(FetchLayout, IsToldByTheSizesOfRegions)
{
	for (const std::uint32_t calls : {1u, 7u, 8u, 9u, 64u, 4096u}) {
		for (const std::size_t request : {std::size_t{24}, std::size_t{100}, std::size_t{8280}}) {
			const fetch::Layout server{calls, request, 100};
			const auto client = fetch::Layout::of(calls, server.requests_size(), server.responses_size());
			ASSERT_TRUE(client);
			EXPECT_GE(client->request, request);
			EXPECT_EQ(client->request_offset(calls - 1), server.request_offset(calls - 1));
			EXPECT_EQ(client->response_offset(calls - 1), server.response_offset(calls - 1));
			EXPECT_EQ(client->mode_offset(calls - 1), server.mode_offset(calls - 1));
		}
	}
	EXPECT_FALSE(fetch::Layout::of(0, 1000, 1000));
	EXPECT_FALSE(fetch::Layout::of(8, 64, 1000));
	EXPECT_FALSE(fetch::Layout::of(8, 64 + 64 + 8, 1024));
	EXPECT_FALSE(fetch::Layout::of(8, ~std::uint64_t{0}, 1024));
	EXPECT_FALSE(fetch::Layout::of(8, 128 + 8 * 128 + 1, 1024));
}

} // namespace
