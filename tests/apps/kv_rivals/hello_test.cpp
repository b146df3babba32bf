/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "service/hello.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace
{

using namespace prism;
using namespace prism::apps;

constexpr StoreKind kind{Application::rs, 2, "pilaf", 3};

Hello sample()
{
	return {kind, 100, 5000, 64};
}

ConnectionRecord record_of(std::vector<std::byte> bytes)
{
	ConnectionRecord record;
	record.private_data = std::move(bytes);
	return record;
}

TEST(Hello, ComesBackAsItWas)
{
	const std::array own{std::byte{7}, std::byte{8}};
	const std::vector<std::byte> bytes = sample().serialize(own);
	ASSERT_EQ(bytes.size(), Hello::size + 2);
	const Result<Hello> back = Hello::parse(bytes);
	ASSERT_TRUE(back);
	EXPECT_EQ(back->kind, kind);
	EXPECT_EQ(back->max_key_size, 100u);
	EXPECT_EQ(back->max_value_size, 5000u);
	EXPECT_EQ(back->max_depth, 64u);
	EXPECT_EQ(Hello::own_part(bytes)[1], std::byte{8});
}

TEST(Hello, BytesAreInNetworkOrder)
{
	const std::vector<std::byte> bytes = sample().serialize();
	EXPECT_EQ(std::string(reinterpret_cast<const char *>(bytes.data()), 8), std::string("PRISMKV\0", 8));
	EXPECT_EQ(bytes[8], std::byte{2});
	EXPECT_EQ(bytes[9], std::byte{2});
	EXPECT_EQ(bytes[11], std::byte{3});
	EXPECT_EQ(bytes[15], std::byte{100});
	EXPECT_EQ(bytes[32], std::byte{'p'});
}

TEST(Hello, EveryShorterOneIsRefused)
{
	const std::vector<std::byte> bytes = sample().serialize();
	for (std::size_t size = 0; size < bytes.size(); size++) {
		const Result<Hello> parsed = Hello::parse(std::span(bytes).first(size));
		ASSERT_FALSE(parsed);
		EXPECT_EQ(parsed.error().code, EBADMSG);
	}
}

TEST(Hello, AnotherMagicIsRefused)
{
	for (std::size_t at = 0; at < 8; at++) {
		std::vector<std::byte> bytes = sample().serialize();
		bytes[at] ^= std::byte{1};
		EXPECT_FALSE(Hello::parse(bytes));
	}
}

TEST(Hello, AnotherKindIsNamed)
{
	Hello wanted = sample();
	wanted.kind = {Application::rs, 1, "rpc", 3};
	const Result<Hello> met = wanted.expect(record_of(sample().serialize()), "the server at there");
	ASSERT_FALSE(met);
	EXPECT_EQ(met.error().code, EPROTONOSUPPORT);
	for (const char *part : {"the server at there", "pilaf store, version 3", "rpc store, version 3"})
		EXPECT_NE(met.error().message.find(part), std::string::npos) << met.error().message;
}

TEST(Hello, AnotherVersionIsRefused)
{
	Hello wanted = sample();
	wanted.kind.version = 4;
	EXPECT_FALSE(wanted.expect(record_of(sample().serialize()), "it"));
	EXPECT_TRUE(sample().expect(record_of(sample().serialize()), "it"));
}

TEST(Hello, ARefusalSaysWhy)
{
	const Error why{ENOBUFS, "no\tplace"};
	const Result<Hello> met = sample().expect(record_of(sample().refusal(why)), "the server at there");
	ASSERT_FALSE(met);
	EXPECT_EQ(met.error().code, ENOBUFS);
	EXPECT_EQ(met.error().message, "the server at there refuses: no?place");
	const Error long_story{EINVAL, std::string(100'000, 'x')};
	const std::vector<std::byte> bytes = sample().refusal(long_story);
	EXPECT_LT(bytes.size(), 1000u);
	EXPECT_EQ(sample().expect(record_of(bytes), "it").error().code, EINVAL);
}

TEST(Hello, ARefusalThatCannotBe)
{
	std::vector<std::byte> bytes = sample().refusal(Error{1, "x"});
	bytes[24] = std::byte{0x80};
	EXPECT_EQ(sample().expect(record_of(bytes), "it").error().code, EBADMSG);
}

TEST(Hello, TheSameNumberOfAnotherNameIsRefused)
{
	Hello wanted = sample();
	wanted.kind = {Application::rs, 2, "rpc", 3};
	EXPECT_FALSE(wanted.expect(record_of(sample().serialize()), "it"));
}

/* The peer chooses the name: it may be of any bytes, or empty. */
TEST(Hello, WhatIsNotAName)
{
	Hello odd = sample();
	odd.kind.name.fill('\x1b');
	const Result<Hello> met = sample().expect(record_of(odd.serialize()), "it");
	ASSERT_FALSE(met);
	EXPECT_NE(met.error().message.find("a ???????????????? store"), std::string::npos) << met.error().message;
	odd.kind.name.fill('\0');
	EXPECT_EQ(odd.kind.text(), "nameless store, version 3");
	const StoreKind long_name{Application::tx, 255, "sixteen characters and more", 1};
	EXPECT_EQ(long_name.text(), "sixteen characte store, version 1");
	EXPECT_EQ(long_name.number, 0x3ff);
}

} // namespace
