/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Connection records and reports: round trips, and hostile peers' records. */
#include <prism/connection.hpp>
#include <prism/reclaim.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <random>

namespace
{

using namespace prism;

ConnectionRecord sample_record()
{
	ConnectionRecord record;
	std::memcpy(record.endpoint.capability.bytes, "PRSM\1\1", 6);
	record.endpoint.gid.raw[10] = record.endpoint.gid.raw[11] = 0xff;
	record.endpoint.gid.raw[12] = 127;
	record.endpoint.gid.raw[15] = 1;
	record.endpoint.qp_num = 0x123456;
	record.endpoint.psn = 0xabcdef;
	record.endpoint.mtu = IBV_MTU_4096;
	record.endpoint.max_rd_atomic = 128;
	record.endpoint.max_dest_rd_atomic = 64;
	record.free_lists = {{7, 512, {0x7f0000000000, 512 * 100, 0x11}}, {8, 64, {0x1000, 6400, 0x12}}};
	record.regions = {{1, {0xfffffffffffff000, 0xfff, 0x21}}};
	record.private_data = {std::byte{1}, std::byte{2}, std::byte{3}};
	return record;
}

std::vector<std::byte> sample_bytes()
{
	return sample_record().serialize().value();
}

int parse_error(std::span<const std::byte> bytes)
{
	const Result<ConnectionRecord> parsed = ConnectionRecord::parse(bytes);
	return parsed ? 0 : parsed.error().code;
}

/* Decodes the sample with one byte replaced. */
int error_with(std::size_t offset, int value)
{
	std::vector<std::byte> bytes = sample_bytes();
	bytes.at(offset) = static_cast<std::byte>(value);
	return parse_error(bytes);
}

TEST(ConnectionRecord, RoundTrip)
{
	const ConnectionRecord sent = sample_record();
	const std::vector<std::byte> bytes = sample_bytes();
	EXPECT_EQ(bytes.size(), 72u + 2 * 32 + 24 + 3);
	EXPECT_EQ(ConnectionRecord::announced_size(bytes).value(), bytes.size());
	const ConnectionRecord got = ConnectionRecord::parse(bytes).value();
	EXPECT_EQ(std::memcmp(got.endpoint.capability.bytes, sent.endpoint.capability.bytes, 16), 0);
	EXPECT_EQ(std::memcmp(got.endpoint.gid.raw, sent.endpoint.gid.raw, 16), 0);
	EXPECT_EQ(got.endpoint.qp_num, sent.endpoint.qp_num);
	EXPECT_EQ(got.endpoint.psn, sent.endpoint.psn);
	EXPECT_EQ(got.endpoint.mtu, sent.endpoint.mtu);
	EXPECT_EQ(got.endpoint.max_rd_atomic, 128);
	EXPECT_EQ(got.endpoint.max_dest_rd_atomic, 64);
	ASSERT_EQ(got.free_lists.size(), 2u);
	EXPECT_EQ(got.free_lists[0].number, 7u);
	EXPECT_EQ(got.free_lists[0].buffers.address, 0x7f0000000000u);
	EXPECT_EQ(got.free_lists[1].buffer_size, 64u);
	ASSERT_NE(got.region(1), nullptr);
	EXPECT_EQ(got.region(1)->region.length, 0xfffu);
	EXPECT_EQ(got.region(2), nullptr);
	EXPECT_EQ(got.private_data, sent.private_data);
}

TEST(ConnectionRecord, FieldsAreWhereTheDocumentationSays)
{
	const std::vector<std::byte> bytes = sample_bytes();
	EXPECT_EQ(std::memcmp(bytes.data(), "PRXC\0\1\0\0\0\0\0\xa3", 12), 0);
	EXPECT_EQ(std::memcmp(bytes.data() + 44, "\0\x12\x34\x56\0\xab\xcd\xef\x05\x80\x40", 11), 0);
	EXPECT_EQ(std::memcmp(bytes.data() + 56, "\0\2\0\1\0\0\0\3", 8), 0);
}

TEST(ConnectionRecord, EveryTruncationIsRefused)
{
	const std::vector<std::byte> bytes = sample_bytes();
	for (std::size_t length = 0; length < bytes.size(); length++)
		EXPECT_EQ(parse_error(std::span(bytes).first(length)), EBADMSG) << length;
}

TEST(ConnectionRecord, TrailingBytesAreRefused)
{
	std::vector<std::byte> bytes = sample_bytes();
	bytes.push_back(std::byte{0});
	EXPECT_EQ(parse_error(bytes), EBADMSG);
}

TEST(ConnectionRecord, ImpossibleFieldsAreRefused)
{
	EXPECT_EQ(error_with(0, 'X'), EBADMSG);
	EXPECT_EQ(error_with(5, 2), EPROTONOSUPPORT);
	EXPECT_EQ(error_with(8, 0xff), EBADMSG) << "size";
	EXPECT_EQ(error_with(28, 0xff), EBADMSG) << "multicast GID";
	EXPECT_EQ(error_with(44, 1), EBADMSG) << "queue pair number";
	EXPECT_EQ(error_with(48, 1), EBADMSG) << "PSN";
	EXPECT_EQ(error_with(52, 0), EBADMSG) << "MTU";
	EXPECT_EQ(error_with(52, 6), EBADMSG) << "MTU";
	EXPECT_EQ(error_with(53, 0), EBADMSG) << "depth";
	EXPECT_EQ(error_with(54, 0), EBADMSG) << "depth";
	EXPECT_EQ(error_with(57, 65), EBADMSG) << "free lists";
	EXPECT_EQ(error_with(59, 2), EBADMSG) << "regions";
	EXPECT_EQ(error_with(60, 0xff), EBADMSG) << "private data";
	EXPECT_EQ(error_with(72, 1), EBADMSG) << "free list number";
	EXPECT_EQ(error_with(76, 0xff), EBADMSG) << "buffer size";
	EXPECT_EQ(error_with(72 + 64 + 16, 0xff), EBADMSG) << "region wraps";
}

TEST(ConnectionRecord, ReservedBytesAreIgnored)
{
	EXPECT_EQ(error_with(6, 0xff), 0);
	EXPECT_EQ(error_with(55, 0xff), 0);
	EXPECT_EQ(error_with(71, 0xff), 0);
}

TEST(ConnectionRecord, TooMuchToSerialize)
{
	ConnectionRecord record = sample_record();
	record.private_data.resize(ConnectionRecord::max_private_data + 1);
	EXPECT_EQ(record.serialize().error().code, E2BIG);
	record = sample_record();
	record.regions.resize(ConnectionRecord::max_regions + 1);
	EXPECT_EQ(record.serialize().error().code, E2BIG);
	record = sample_record();
	record.free_lists.resize(ConnectionRecord::max_free_lists + 1);
	EXPECT_EQ(record.serialize().error().code, E2BIG);
}

/* Random damage must at most lead to a refusal, and accepted records must be within the limits. */
TEST(ConnectionRecord, SurvivesRandomDamage)
{
	std::mt19937 random(1);
	for (int round = 0; round < 20000; round++) {
		std::vector<std::byte> bytes = sample_bytes();
		for (int i = 0; i < 4; i++)
			bytes[random() % bytes.size()] = static_cast<std::byte>(random());
		bytes.resize(random() % 4 ? bytes.size() : random() % (bytes.size() + 1));
		const Result<ConnectionRecord> parsed = ConnectionRecord::parse(bytes);
		if (!parsed)
			continue;
		EXPECT_LE(parsed->endpoint.qp_num, 0xffffffu);
		EXPECT_GE(parsed->endpoint.mtu, IBV_MTU_256);
		EXPECT_LE(parsed->private_data.size(), ConnectionRecord::max_private_data);
	}
}

FreeReport sample_report(std::uint32_t count)
{
	FreeReport report;
	report.free_list = 9;
	report.count = count;
	for (std::uint32_t i = 0; i < count; i++)
		report.addresses[i] = 0x1000 + i;
	return report;
}

TEST(FreeReport, RoundTrip)
{
	for (const std::uint32_t count : {0u, 1u, 126u}) {
		FreeReport::Bytes bytes;
		const std::size_t size = sample_report(count).serialize(bytes);
		EXPECT_EQ(size, 16 + 8u * count);
		FreeReport got;
		ASSERT_TRUE(got.parse(std::span(bytes).first(size)));
		EXPECT_EQ(got.free_list, 9u);
		ASSERT_EQ(got.count, count);
		for (std::uint32_t i = 0; i < count; i++)
			EXPECT_EQ(got.addresses[i], 0x1000 + i);
	}
}

TEST(FreeReport, MalformedOnesAreRefused)
{
	FreeReport::Bytes bytes;
	const std::size_t size = sample_report(3).serialize(bytes);
	FreeReport got;
	for (std::size_t length = 0; length < size; length++)
		EXPECT_FALSE(got.parse(std::span(bytes).first(length)));
	EXPECT_FALSE(got.parse(std::span(bytes).first(size + 1)));
	const auto refuses = [&](std::size_t offset, int value) {
		FreeReport::Bytes damaged = bytes;
		damaged[offset] = static_cast<std::byte>(value);
		return !got.parse(std::span(damaged).first(size));
	};
	EXPECT_TRUE(refuses(0, 0)) << "magic";
	EXPECT_TRUE(refuses(5, 9)) << "version";
	EXPECT_TRUE(refuses(6, 0xff)) << "count";
	EXPECT_TRUE(refuses(7, 4)) << "count";
}

TEST(Result, CarriesValueOrError)
{
	Result<int> good = 3;
	EXPECT_TRUE(good);
	EXPECT_EQ(*good, 3);
	const Result<int> bad = make_error(ENODEV, "no device", "plug one in");
	EXPECT_FALSE(bad);
	EXPECT_EQ(bad.error().code, ENODEV);
	EXPECT_EQ(bad.error().message, "no device: No such device; plug one in");
	EXPECT_TRUE(Result<void>());
	EXPECT_EQ(Result<void>(make_error(EIO, "x")).error().message, "x: Input/output error");
}

TEST(ResultDeathTest, ValueOfAnErrorAborts)
{
	const Result<int> bad = make_error(ENODEV, "no device");
	EXPECT_DEATH((void)bad.value(), "no device");
}

TEST(Completion, StatusOnlyWhereItHasAMeaning)
{
	ibv_wc wc{};
	wc.status = IBV_WC_SUCCESS;
	wc.opcode = IBV_WC_COMP_SWAP;
	wc.vendor_err = PRISMDV_STATUS_CAS_MISS;
	EXPECT_EQ(to_completion(wc).status, Status::cas_miss);
	EXPECT_FALSE(to_completion(wc).ok());
	EXPECT_FALSE(to_completion(wc).failed());
	wc.opcode = IBV_WC_RECV;
	EXPECT_TRUE(to_completion(wc).ok());
	EXPECT_TRUE(to_completion(wc).is_receive());
	wc.status = IBV_WC_REM_ACCESS_ERR;
	EXPECT_TRUE(to_completion(wc).failed());
	EXPECT_FALSE(to_completion(wc).is_receive());
}

} // namespace
