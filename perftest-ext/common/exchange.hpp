/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages of client and server over TCP, besides the queue pairs.
 *
 *   client -> server  Hello: the subject of the measurement, the geometry, the client's queue pairs
 *   server -> client  Welcome: addresses, keys and queue pairs of the server; or the reason of a refusal
 *   client -> server  any number of Returned: addresses of buffers that the server may post again
 *   client -> server  Finished: the results, so that the server prints them as well; the run is over
 *
 * Each message is a frame: magic, version, type, length, then that many bytes, all in network order. Lengths and counts
 * are bounded before anything is allocated, and every field is checked: the peer may be anyone.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/layout.hpp"
#include "common/parameters.hpp"

namespace prism::perftest
{

inline constexpr std::uint16_t exchange_version = 1;

enum class FrameType : std::uint16_t {
	hello = 1,
	welcome,
	refusal,
	returned,
	finished,
};

inline constexpr std::size_t frame_header_size = 12;
inline constexpr std::size_t largest_frame = 1 << 20;
inline constexpr std::size_t most_returned = 4096; /* addresses in a frame */

struct FrameHeader {
	FrameType type;
	std::uint32_t length; /**< bytes that follow */
};

using Bytes = std::vector<std::uint8_t>;
using CapabilityBytes = std::array<std::uint8_t, 16>;
using Gid = std::array<std::uint8_t, 16>;

/** One queue pair, as described to its peer. */
struct QueuePairAddress {
	std::uint32_t number = 0;
	std::uint32_t psn = 0;

	bool operator==(const QueuePairAddress &) const = default;
};

/** Description of one side. */
struct Side {
	CapabilityBytes capability{};
	Gid gid{};
	std::uint16_t mtu = 0;          /**< bytes */
	std::uint8_t max_rd_atomic = 0; /**< requests that this side answers at a time, for each QP */
	std::vector<QueuePairAddress> qps;

	bool operator==(const Side &) const = default;
};

struct Hello {
	Tool tool{};
	ChainKind chain = ChainKind::alloc_cas;
	CasMode cas_mode = CasMode::equal;
	Geometry geometry;
	Side side;
};

struct Welcome {
	std::uint64_t base = 0; /**< address of the region that Layout divides */
	std::uint32_t rkey = 0;
	std::uint64_t scratch = 0;
	std::uint32_t scratch_rkey = 0;
	std::uint32_t free_list = 0;
	Side side;
};

/* Each of these returns a whole frame. */
[[nodiscard]] Bytes encode(const Hello &hello);
[[nodiscard]] Bytes encode(const Welcome &welcome);
[[nodiscard]] Bytes encode_refusal(const std::string &reason);
[[nodiscard]] Bytes encode_returned(std::span<const std::uint64_t> addresses);
[[nodiscard]] Bytes encode_finished(const std::string &results);

/* Each of these returns nothing if the bytes are invalid. */
[[nodiscard]] std::optional<FrameHeader> decode_header(std::span<const std::uint8_t, frame_header_size> bytes);
[[nodiscard]] std::optional<Hello> decode_hello(std::span<const std::uint8_t> body);
[[nodiscard]] std::optional<Welcome> decode_welcome(std::span<const std::uint8_t> body);
[[nodiscard]] std::optional<std::vector<std::uint64_t>> decode_returned(std::span<const std::uint8_t> body);

/** Returns text from the peer, with anything that could confuse a terminal replaced. */
[[nodiscard]] std::string printable(std::span<const std::uint8_t> text);

} // namespace prism::perftest
