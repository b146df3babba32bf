/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Layout of a connection's requests and responses at the server, for the ways fetch and reply. Two regions of its own:
 *
 * requests, which the client WRITEs: its registration, 64 bytes; for each call under way a mode word of 8 bytes, padded
 * to 64 together; for each call a frame and the longest request, padded to 64. responses, which the client READs: for
 * each call a frame and the longest response, padded to 64.
 *
 * The registration has the address to which the server WRITEs responses: address 8, R_Key 4, CRC-32C of these 4,
 * little-endian. The place of call i is i times the stride of responses further on. A mode word holds the seq of the
 * call that the client wants a reply to, after it had asked to fetch.
 */
#pragma once

#include "base/saturating.hpp"
#include "rpc/protocol/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace prism::rpc::fetch
{

/** Ids of the regions in the server's record. */
constexpr std::uint32_t request_region = 0x52500001;
constexpr std::uint32_t response_region = 0x52500002;

constexpr std::size_t registration_size = 64;

struct Layout {
	std::uint32_t calls = 0;  /**< under way on the connection */
	std::size_t request = 0;  /**< bytes of the longest message */
	std::size_t response = 0; /**< likewise */

	[[nodiscard]] std::size_t request_stride() const noexcept { return apps::rounded_up(frame_size + request, 64); }
	[[nodiscard]] std::size_t response_stride() const noexcept
	{
		return apps::rounded_up(frame_size + response, 64);
	}
	[[nodiscard]] std::size_t mode_offset(std::uint32_t call) const noexcept
	{
		return registration_size + std::size_t{call} * 8;
	}
	[[nodiscard]] std::size_t request_offset(std::uint32_t call) const noexcept
	{
		return apps::rounded_up(mode_offset(calls), 64) + call * request_stride();
	}
	[[nodiscard]] std::size_t response_offset(std::uint32_t call) const noexcept
	{
		return call * response_stride();
	}
	/** Returns the layout of a server whose regions have these sizes, or null if the sizes are impossible. */
	static std::optional<Layout> of(std::uint32_t calls, std::uint64_t requests_size, std::uint64_t responses_size);

	[[nodiscard]] std::size_t requests_size() const noexcept { return request_offset(calls); }
	[[nodiscard]] std::size_t responses_size() const noexcept { return response_offset(calls); }
};

struct Registration {
	std::uint64_t address = 0;
	std::uint32_t rkey = 0;
	std::uint32_t crc = 0;

	/** Returns the checksum of the other fields. */
	[[nodiscard]] std::uint32_t checksum() const noexcept;
};
static_assert(sizeof(Registration) == 16);

} // namespace prism::rpc::fetch
