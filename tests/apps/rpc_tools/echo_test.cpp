/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Messages of the echo service: to bytes and back, and those that a client must not send. */
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/wire.hpp"
#include "bench/rpc/echo.hpp"

namespace
{

using namespace prism;
using namespace prism::echo;

constexpr std::uint32_t limit = 8192;

std::vector<std::byte> message_of(const Request &request, std::size_t payload)
{
	std::vector<std::byte> message(request_head + payload);
	request.serialize(message.data());
	fill_request(request.nonce, std::span(message).subspan(request_head));
	return message;
}

Request some_request()
{
	Request request;
	request.wanted = 100;
	request.time = 2500;
	request.nonce = 0x1234'5678'9abc'def0;
	return request;
}

std::string complaint(std::span<const std::byte> message)
{
	Request request;
	const char *const wrong = request.parse(message, limit);
	return wrong ? wrong : "";
}

TEST(EchoMessages, RequestsComeBackFromBytes)
{
	for (const std::size_t payload : {0, 1, 8, 9, 32, 8192}) {
		const Request sent = some_request();
		const std::vector<std::byte> message = message_of(sent, payload);
		Request read;
		ASSERT_EQ(read.parse(message, limit), nullptr) << payload;
		EXPECT_EQ(read.call, Call::echo);
		EXPECT_EQ(read.wanted, sent.wanted);
		EXPECT_EQ(read.time, sent.time);
		EXPECT_EQ(read.nonce, sent.nonce);
	}
}

TEST(EchoMessages, ForgedRequestsAreRefused)
{
	Request request = some_request();
	request.wanted = limit + 1;
	EXPECT_EQ(complaint(message_of(request, 0)), "a response longer than the server's limit");
	request = some_request();
	request.time = longest_time + 1;
	EXPECT_EQ(complaint(message_of(request, 0)), "a server's time of more than a second");
	request = some_request();
	request.call = static_cast<Call>(9);
	EXPECT_EQ(complaint(message_of(request, 0)), "a call of an unknown kind");
	request.call = Call::figures;
	EXPECT_EQ(complaint(message_of(request, 1)), "a question for figures with a payload");
	EXPECT_EQ(complaint(message_of(some_request(), limit + 1)), "a request of a length that is not possible");
	const std::vector<std::byte> whole = message_of(some_request(), 0);
	for (std::size_t size = 0; size < whole.size(); size++)
		EXPECT_NE(complaint(std::span(whole).first(size)), "") << size;
}

TEST(EchoMessages, EveryByteOfAPayloadCounts)
{
	const std::uint64_t nonce = 7;
	for (const std::size_t size : {1, 8, 100, 8192}) {
		std::vector<std::byte> request(size), response(size);
		fill_request(nonce, request);
		fill_response(nonce, response);
		EXPECT_FALSE(is_response(nonce, request));
		EXPECT_FALSE(is_request(nonce, response));
		for (std::size_t i = 0; i < size; i++) {
			ASSERT_TRUE(is_response(nonce, response));
			response[i] ^= std::byte{1};
			ASSERT_FALSE(is_response(nonce, response)) << i;
			response[i] ^= std::byte{1};
		}
	}
}

TEST(EchoMessages, APieceOfAnotherResponseIsSeen)
{
	constexpr std::size_t size = 4096, half = size / 2;
	std::vector<std::byte> one(size), other(size);
	fill_response(1000, one);
	for (std::uint64_t nonce = 1001; nonce < 1064; nonce++) {
		fill_response(nonce, other);
		EXPECT_FALSE(is_response(1000, other));
		std::copy(one.begin(), one.begin() + half, other.begin());
		EXPECT_FALSE(is_response(1000, other)) << nonce;
	}
}

TEST(EchoMessages, FiguresComeBackFromBytes)
{
	std::array<std::byte, Figures::size> bytes;
	for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t))
		apps::store(&bytes[i], std::uint64_t{i + 1} << 40);
	const Figures figures = Figures::parse(bytes.data());
	EXPECT_EQ(figures.calls, std::uint64_t{1} << 40);
	EXPECT_EQ(figures.traffic.rx_bytes, std::uint64_t{Figures::size - 7} << 40);
	std::array<std::byte, Figures::size> again;
	figures.serialize(again.data());
	EXPECT_EQ(again, bytes);
}

} // namespace
