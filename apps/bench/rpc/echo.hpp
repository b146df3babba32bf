/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The calls of the echo service, whose server does only what a measurement needs. A request has, after the header of
 * every message, 16 bytes in network order: time that the server is to be busy, ns 4, reserved 4 (sent 0, ignored),
 * nonce 8; the payload follows, bytes that depend on the nonce. The header's size is the number of bytes that the
 * response is to have after its header: others that depend on the nonce. So each side can check that all of a message
 * belongs to its call.
 *
 * The call "figures" has no payload. Its response has the numbers of Figures, 8 bytes each.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "bench/frame/traffic.hpp"
#include "rpc/protocol/header.hpp"
#include "service/hello.hpp"

namespace prism::echo
{

constexpr apps::StoreKind kind{apps::Application::rpc, 0, "rpc echo", 1};

enum class Call : std::uint8_t {
	echo = 1,
	figures = 2,
};

/** Bytes of a request before its payload. */
constexpr std::size_t request_head = rpc::message_header_size + 16;
/** Most bytes of a request's payload, and of a response's. */
constexpr std::uint32_t longest_payload = rpc::max_message_size - request_head;
/** Longest time, in ns, that a call may keep its server busy. */
constexpr std::uint32_t longest_time = 1'000'000'000;

/** Fills @p to with the payload of a request of @p nonce. */
void fill_request(std::uint64_t nonce, std::span<std::byte> to) noexcept;
[[nodiscard]] bool is_request(std::uint64_t nonce, std::span<const std::byte> payload) noexcept;
/** The same for its response, which begins with the nonce. */
void fill_response(std::uint64_t nonce, std::span<std::byte> to) noexcept;
[[nodiscard]] bool is_response(std::uint64_t nonce, std::span<const std::byte> payload) noexcept;

struct Request {
	Call call = Call::echo;
	std::uint32_t wanted = 0; /**< bytes of the response's payload */
	std::uint32_t time = 0;   /**< ns */
	std::uint64_t nonce = 0;
	std::uint64_t id = 0; /**< set by parse(); for requests the link sets it */

	/** Writes the part before the payload. */
	void serialize(std::byte *to) const noexcept;
	/**
	 * Parses a request from a client that is not trusted. Returns null, or what is wrong. @p limit: most bytes of a
	 * payload.
	 */
	const char *parse(std::span<const std::byte> message, std::uint32_t limit) noexcept;
};

/** Figures of a server, since it began. */
struct Figures {
	static const std::array<std::pair<const char *, std::uint64_t Figures::*>, 8> numbers;
	static constexpr std::size_t size = 8 * (8 + 6); /**< bytes: the numbers, and those of the traffic */

	std::uint64_t calls = 0;     /**< number of executed calls */
	std::uint64_t user = 0;      /**< ns of processor time */
	std::uint64_t system = 0;    /**< likewise */
	std::uint64_t resident = 0;  /**< bytes of memory; see bench::ProcessUsage */
	std::uint64_t peak = 0;      /**< likewise */
	std::uint64_t allocated = 0; /**< likewise */
	std::uint64_t touched = 0;   /**< likewise */
	std::uint64_t planned = 0;   /**< planned bytes for messages, with the most clients that it may have */
	bench::Traffic traffic;      /**< of its device */

	void serialize(std::byte *to) const noexcept;
	/** Parses @p from, Figures::size bytes. */
	static Figures parse(const std::byte *from) noexcept;
	[[nodiscard]] nlohmann::json to_json() const;
};

} // namespace prism::echo
