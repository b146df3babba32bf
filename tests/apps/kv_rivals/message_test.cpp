/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "kv_calls/message.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace
{

using namespace prism::kv;
using namespace prism::rpc;
using prism::apps::OperationKind;
using prism::apps::Outcome;

constexpr std::size_t max_key = 10;
constexpr std::size_t max_value = 100;

std::span<const std::byte> bytes_of(const std::string &text)
{
	return std::as_bytes(std::span(text));
}

std::vector<std::byte> request(OperationKind kind, const std::string &key, const std::string &value)
{
	const Request made{kind, 0x123456789abcdef0, bytes_of(key), bytes_of(value)};
	std::vector<std::byte> bytes(made.size());
	made.serialize(bytes.data());
	return bytes;
}

std::vector<std::byte> response(OperationKind kind, Outcome outcome, std::size_t value_size)
{
	const Response made{kind, outcome, 77, static_cast<std::uint32_t>(value_size)};
	std::vector<std::byte> bytes(message_header_size + value_size);
	made.serialize_header(bytes.data());
	return bytes;
}

const char *judge_request(const std::vector<std::byte> &bytes)
{
	Request parsed;
	return parsed.parse(bytes, max_key, max_value);
}

const char *judge_response(const std::vector<std::byte> &bytes)
{
	Response parsed;
	return parsed.parse(bytes, max_value);
}

TEST(Request, ComesBackAsItWas)
{
	const std::string key("k\0y", 3), value("\xff\0v", 3);
	for (const OperationKind kind : {OperationKind::get, OperationKind::put, OperationKind::erase}) {
		const std::vector<std::byte> bytes = request(kind, key, kind == OperationKind::put ? value : "");
		Request parsed;
		ASSERT_EQ(parsed.parse(bytes, max_key, max_value), nullptr);
		EXPECT_EQ(parsed.kind, kind);
		EXPECT_EQ(parsed.id, 0x123456789abcdef0u);
		EXPECT_TRUE(std::ranges::equal(parsed.key, bytes_of(key)));
		EXPECT_EQ(parsed.value.size(), kind == OperationKind::put ? 3u : 0u);
	}
}

TEST(Request, SizesAtTheLimits)
{
	const auto put = OperationKind::put;
	EXPECT_EQ(judge_request(request(put, std::string(max_key, 'k'), std::string(max_value, 'v'))), nullptr);
	EXPECT_EQ(judge_request(request(put, "k", "")), nullptr);
	EXPECT_STREQ(judge_request(request(put, std::string(max_key + 1, 'k'), "")), "key of a forbidden size");
	EXPECT_STREQ(judge_request(request(put, "", "v")), "key of a forbidden size");
	EXPECT_STREQ(judge_request(request(put, "k", std::string(max_value + 1, 'v'))), "value of a forbidden size");
}

TEST(Request, ValuesBelongToPuts)
{
	EXPECT_STREQ(judge_request(request(OperationKind::get, "k", "v")), "a value where none belongs");
	EXPECT_STREQ(judge_request(request(OperationKind::erase, "k", "v")), "a value where none belongs");
}

TEST(Request, EveryOtherLengthIsRefused)
{
	std::vector<std::byte> bytes = request(OperationKind::put, "key", "value");
	for (std::size_t size = 0; size < bytes.size(); size++)
		EXPECT_NE(judge_request({bytes.begin(), bytes.begin() + static_cast<long>(size)}), nullptr) << size;
	bytes.push_back({});
	EXPECT_NE(judge_request(bytes), nullptr);
}

TEST(Request, EveryHeaderFieldButTheIdIsChecked)
{
	for (std::size_t at = 0; at < 16; at++) {
		std::vector<std::byte> bytes = request(OperationKind::put, "key", "value");
		bytes[at] ^= std::byte{0x40};
		EXPECT_NE(judge_request(bytes), nullptr) << at;
	}
}

TEST(Response, ComesBackAsItWas)
{
	const std::vector<std::byte> bytes = response(OperationKind::get, Outcome::ok, 50);
	Response parsed;
	ASSERT_EQ(parsed.parse(bytes, max_value), nullptr);
	EXPECT_EQ(parsed.id, 77u);
	EXPECT_EQ(parsed.value_size, 50u);
	EXPECT_EQ(judge_response(response(OperationKind::put, Outcome::full, 0)), nullptr);
}

TEST(Response, WhatDoesNotBelongIsRefused)
{
	EXPECT_STREQ(judge_response(response(OperationKind::put, Outcome::ok, 1)), "a value where none belongs");
	EXPECT_STREQ(judge_response(response(OperationKind::get, Outcome::not_found, 1)), "a value where none belongs");
	EXPECT_STREQ(judge_response(response(OperationKind::get, Outcome::failed, 0)), "unknown result");
	EXPECT_STREQ(
		judge_response(response(OperationKind::get, Outcome::ok, max_value + 1)), "value of a forbidden size");
	std::vector<std::byte> longer = response(OperationKind::get, Outcome::ok, 10);
	longer.push_back({});
	EXPECT_NE(judge_response(longer), nullptr);
}

/* A request is not taken for a response, nor a response for a request; random bytes are never read out of bounds. */
TEST(Messages, RandomBytesAreJudged)
{
	std::mt19937 random(3);
	EXPECT_STREQ(judge_response(request(OperationKind::get, "k", "")), "wrong magic");
	EXPECT_STREQ(judge_request(response(OperationKind::get, Outcome::ok, 5)), "wrong magic");
	for (int round = 0; round < 20000; round++) {
		std::vector<std::byte> bytes = request(OperationKind::put, "key", "value");
		bytes.resize(random() % 60);
		for (int i = 0; i < 3 && !bytes.empty(); i++)
			bytes[random() % bytes.size()] = static_cast<std::byte>(random());
		Request parsed;
		if (parsed.parse(bytes, max_key, max_value))
			continue;
		ASSERT_EQ(parsed.size(), bytes.size());
		ASSERT_GE(parsed.key.data(), bytes.data());
		ASSERT_LE(parsed.value.data() + parsed.value.size(), bytes.data() + bytes.size());
	}
}

} // namespace
