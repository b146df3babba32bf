/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The measuring tools' TCP exchange and the layout that both ends derive from it: round trips and hostile input. */
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "common/exchange.hpp"
#include "common/layout.hpp"

namespace
{

using namespace prism;
using namespace prism::perftest;

constexpr Geometry small_plan{
	.largest_message = 64, .qps = 2, .depth = 8, .contestants = 3, .objects = 16, .ring = 64, .buffers = 100};

Side some_side(std::size_t qps)
{
	Side side;
	for (std::size_t i = 0; i < 16; i++) {
		side.capability[i] = static_cast<std::uint8_t>(i);
		side.gid[i] = static_cast<std::uint8_t>(0xf0 + i);
	}
	side.mtu = 1024;
	side.max_rd_atomic = 128;
	for (std::uint32_t i = 0; i < qps; i++)
		side.qps.push_back({0x1000 + i, 0xfffff0 + i});
	return side;
}

Hello some_hello()
{
	return {.tool = {Operation::chain, Metric::bandwidth},
		.chain = ChainKind::write_alloc_cas,
		.cas_mode = CasMode::less,
		.geometry = small_plan,
		.side = some_side(2)};
}

std::span<const std::uint8_t> body(const Bytes &frame)
{
	return std::span(frame).subspan(frame_header_size);
}

std::optional<FrameHeader> header(const Bytes &frame)
{
	return decode_header(std::span(frame).first<frame_header_size>());
}

TEST(PerfExchange, HelloRoundTrip)
{
	const Hello sent = some_hello();
	const Bytes frame = encode(sent);
	ASSERT_TRUE(header(frame));
	EXPECT_EQ(header(frame)->type, FrameType::hello);
	EXPECT_EQ(header(frame)->length, frame.size() - frame_header_size);
	const auto received = decode_hello(body(frame));
	ASSERT_TRUE(received);
	EXPECT_EQ(received->tool.operation, sent.tool.operation);
	EXPECT_EQ(received->tool.metric, sent.tool.metric);
	EXPECT_EQ(received->chain, sent.chain);
	EXPECT_EQ(received->cas_mode, sent.cas_mode);
	EXPECT_EQ(received->geometry, sent.geometry);
	EXPECT_EQ(received->side, sent.side);
}

TEST(PerfExchange, WelcomeRoundTrip)
{
	const Welcome sent{.base = 0x7f0123456789abcd,
		.rkey = 0x11223344,
		.scratch = 64,
		.scratch_rkey = 0x55667788,
		.free_list = 0xabcdef,
		.side = some_side(3)};
	const auto received = decode_welcome(body(encode(sent)));
	ASSERT_TRUE(received);
	EXPECT_EQ(received->base, sent.base);
	EXPECT_EQ(received->rkey, sent.rkey);
	EXPECT_EQ(received->scratch, sent.scratch);
	EXPECT_EQ(received->scratch_rkey, sent.scratch_rkey);
	EXPECT_EQ(received->free_list, sent.free_list);
	EXPECT_EQ(received->side, sent.side);
}

TEST(PerfExchange, NetworkByteOrder)
{
	const Bytes frame = encode_returned(std::vector<std::uint64_t>{0x0102030405060708});
	const Bytes expected{'P', 'R', 'P', 'T', 0, 1, 0, 4, 0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8};
	EXPECT_EQ(frame, expected);
}

TEST(PerfExchange, ReturnedBuffers)
{
	const std::vector<std::uint64_t> sent{1, 2, 0xffffffffffffffff};
	EXPECT_EQ(decode_returned(body(encode_returned(sent))), sent);
	EXPECT_FALSE(decode_returned(Bytes(7)));
	EXPECT_FALSE(decode_returned(Bytes((most_returned + 1) * 8)));
}

TEST(PerfExchange, ForeignHeaders)
{
	const Bytes good = encode_refusal("no");
	for (const std::size_t position : {0, 3, 4, 5, 6, 7, 8}) {
		Bytes bad = good;
		bad[position] ^= 0x40;
		EXPECT_FALSE(header(bad)) << position;
	}
}

TEST(PerfExchange, EveryTruncationAndExtensionIsRefused)
{
	const Bytes hello = encode(some_hello());
	const Bytes welcome = encode(Welcome{.side = some_side(2)});
	for (std::size_t length = 0; length < hello.size() - frame_header_size; length++)
		EXPECT_FALSE(decode_hello(body(hello).first(length)));
	for (std::size_t length = 0; length < welcome.size() - frame_header_size; length++)
		EXPECT_FALSE(decode_welcome(body(welcome).first(length)));
	Bytes longer = hello;
	longer.push_back(0);
	EXPECT_FALSE(decode_hello(body(longer)));
}

TEST(PerfExchange, FieldsOutOfRange)
{
	Hello hello = some_hello();
	hello.side.mtu = 1500;
	EXPECT_FALSE(decode_hello(body(encode(hello))));
	hello = some_hello();
	hello.side.qps[0].number = 1 << 24;
	EXPECT_FALSE(decode_hello(body(encode(hello))));
	hello = some_hello();
	hello.geometry.qps = 1; /* but two are named */
	EXPECT_FALSE(decode_hello(body(encode(hello))));
	hello = some_hello();
	hello.tool.operation = static_cast<Operation>(77);
	EXPECT_FALSE(decode_hello(body(encode(hello))));
}

TEST(PerfExchange, RandomBytesNeverPassForMore)
{
	std::mt19937 random(1);
	for (int round = 0; round < 20000; round++) {
		Bytes frame = encode(some_hello());
		for (int i = 0; i < 4; i++)
			frame[frame_header_size + random() % (frame.size() - frame_header_size)] =
				static_cast<std::uint8_t>(random());
		const auto hello = decode_hello(body(frame));
		if (!hello || !hello->geometry.problem().empty())
			continue;
		EXPECT_LE(Layout(hello->geometry).size(), std::uint64_t{4} << 30);
		EXPECT_LE(hello->side.qps.size(), 1024U);
	}
}

TEST(PerfExchange, TextFromThePeerIsHarmless)
{
	const std::string text = "a\x1b[2Jb\nc";
	const Bytes bytes(text.begin(), text.end());
	EXPECT_EQ(printable(bytes), "a?[2Jb?c");
	EXPECT_LE(printable(Bytes(100000, 'x')).size(), 500U);
}

TEST(PerfLayout, AreasDoNotOverlap)
{
	const Layout layout(small_plan);
	std::vector<std::pair<std::uint64_t, std::uint64_t>> areas{{layout.cursor(), 8}};
	for (std::uint32_t contestant = 0; contestant < small_plan.contestants; contestant++) {
		for (std::uint32_t job = 0; job < small_plan.jobs(); job++)
			areas.emplace_back(layout.cell(contestant, job), sizeof(Cell));
		for (std::uint32_t qp = 0; qp < small_plan.qps; qp++)
			areas.emplace_back(layout.scratch(contestant, qp), 32);
	}
	for (std::uint32_t i = 0; i < small_plan.objects; i++)
		areas.emplace_back(layout.object(i), small_plan.largest_message);
	for (std::uint32_t i = 0; i < small_plan.ring; i++)
		areas.emplace_back(layout.ring(i), small_plan.largest_message);
	for (std::uint32_t i = 0; i < small_plan.buffers; i++)
		areas.emplace_back(layout.buffer(i), small_plan.largest_message);
	std::sort(areas.begin(), areas.end());
	for (std::size_t i = 1; i < areas.size(); i++)
		EXPECT_LE(areas[i - 1].first + areas[i - 1].second, areas[i].first);
	EXPECT_LE(areas.back().first + areas.back().second, layout.size());
}

TEST(PerfLayout, OperandsAreAligned)
{
	const Layout layout(small_plan);
	for (std::uint32_t job = 0; job < small_plan.jobs(); job++) {
		EXPECT_EQ(layout.cell(1, job) % 16, 0U);
		EXPECT_EQ((layout.cell(1, job) + offsetof(Cell, operand)) % 32, 0U);
	}
	EXPECT_EQ(layout.scratch(2, 1) % 16, 0U);
}

TEST(PerfLayout, OnlyStartsOfBuffersAreBuffers)
{
	const Layout layout(small_plan);
	EXPECT_TRUE(layout.is_buffer(layout.buffer(0)));
	EXPECT_TRUE(layout.is_buffer(layout.buffer(99)));
	EXPECT_FALSE(layout.is_buffer(layout.buffer(100)));
	EXPECT_FALSE(layout.is_buffer(layout.buffer(1) + 8));
	EXPECT_FALSE(layout.is_buffer(layout.ring(0)));
	EXPECT_FALSE(layout.is_buffer(~std::uint64_t{0}));
}

TEST(PerfLayout, GeometryOutOfBounds)
{
	EXPECT_EQ(small_plan.problem(), "");
	const auto broken = [](auto change) {
		Geometry plan = small_plan;
		change(plan);
		return !plan.problem().empty();
	};
	EXPECT_TRUE(broken([](Geometry &plan) { plan.largest_message = 0; }));
	EXPECT_TRUE(broken([](Geometry &plan) { plan.largest_message = largest_size + 1; }));
	EXPECT_TRUE(broken([](Geometry &plan) { plan.qps = 0; }));
	EXPECT_TRUE(broken([](Geometry &plan) { plan.qps = plan.depth = 0xffffffff; }));
	EXPECT_TRUE(broken([](Geometry &plan) { plan.qps = 1024, plan.depth = 8192; }));
	EXPECT_TRUE(broken([](Geometry &plan) { plan.contestants = 100; }));
	EXPECT_TRUE(broken([](Geometry &plan) { plan.objects = 17; }));
	EXPECT_TRUE(broken([](Geometry &plan) { plan.buffers = 16; })); /* all installed, none to post */
	EXPECT_TRUE(broken([](Geometry &plan) { plan.buffers = 0xffffffff; }));
	EXPECT_TRUE(broken([](Geometry &plan) { plan.largest_message = largest_size, plan.buffers = 1 << 20; }));
}

TEST(PerfLayout, PlansAreServable)
{
	for (const Operation operation : {Operation::read, Operation::cas, Operation::allocate, Operation::chain})
		for (const std::uint32_t size : {1U, 64U, 4096U, 1U << 20})
			for (const std::uint32_t depth : {1U, 42U, 128U}) {
				Parameters parameters;
				parameters.tool = {operation, Metric::bandwidth};
				parameters.qps = 4;
				const Geometry plan = plan_geometry(parameters, size, depth, 3, 65536);
				EXPECT_EQ(plan.problem(), "");
				EXPECT_EQ(plan.buffers > 0, parameters.needs_free_list());
				EXPECT_LE(plan.posted_buffers(), 65536U);
			}
}

TEST(PerfLayout, StampsHaveNoZeroByte)
{
	for (std::uint32_t i = 0; i < 1000; i++)
		for (int byte = 0; byte < 8; byte++)
			EXPECT_NE(object_stamp(i) >> (8 * byte) & 0xff, 0U);
}

} // namespace
