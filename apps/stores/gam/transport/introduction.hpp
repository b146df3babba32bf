/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The introduction of two nodes before they are connected: the kind's own part of apps::Hello. 56 bytes in network
 * order:
 *
 *     cluster u64 | from: number u16 | to: number u16 | protocol u16 | reserved u16 | from: incarnation u64 |
 *     to: incarnation u64 | block u32 | frame u32 | window u32 | reserved u32 | reserved u64
 */
#pragma once

#include <prism/result.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gam/membership/view.hpp"
#include "gam/transport/pair.hpp"
#include "service/hello.hpp"

namespace prism::gam
{

constexpr apps::StoreKind node_kind{apps::Application::gam, 1, "gam node", 1};

struct PeerIntroduction {
	static constexpr std::size_t size = 56;

	std::uint64_t cluster = 0;
	NodeLife from;
	NodeLife to;
	Protocol protocol = Protocol::latch;
	std::uint32_t block_bytes = block_size;
	std::uint32_t frame_bytes = 0;
	std::uint32_t window = 0;

	[[nodiscard]] std::array<std::byte, size> serialize() const noexcept;
	/** Parses an introduction from a peer that is not trusted. Errors: EBADMSG. */
	static Result<PeerIntroduction> parse(std::span<const std::byte> bytes);
	/**
	 * Checks if the sender may be the peer of @p mine, which names both nodes from the other side. Errors: ESTALE
	 * (of another cluster, or for another life of a node), EPROTONOSUPPORT (the rest).
	 */
	[[nodiscard]] Result<void> check(const PeerIntroduction &mine) const;
};

} // namespace prism::gam
