/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The introduction of a client of calls, behind its Hello: 36 bytes in network order: way 4, worker 4, stay 4, token 8,
 * client 16. A client without an introduction calls two-sided and takes any worker.
 */
#pragma once

#include "rpc/way.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <prism/result.hpp>

namespace prism::rpc
{

/** Name of a client, and proof that a second connection is the same client's: nobody can guess it. */
using ClientId = std::array<std::byte, 16>;

/** Fate of a client whose connection is lost. */
enum class Stay : std::uint32_t {
	once = 0,  /**< nothing is kept of it */
	kept = 1,  /**< its last responses are kept for a while, so that it can come back */
	again = 2, /**< this is one that comes back */
};

struct Introduction {
	static constexpr std::size_t size = 36;
	static constexpr std::uint32_t any_worker = ~std::uint32_t{0};

	Way way = Way::two_sided;
	std::uint32_t worker = any_worker; /**< worker that is to execute the calls; any_worker: the server chooses */
	Stay stay = Stay::once;
	std::uint64_t token = 0; /**< of this connection: authenticates its datagrams */
	ClientId client{};       /**< zeros: it has no name */

	/** Makes that of a new client. Errors: those of getrandom(2). */
	static Result<Introduction> create();
	[[nodiscard]] std::array<std::byte, size> serialize() const noexcept;
	/** Parses the bytes after the Hello, from a client that is not trusted. Errors: EBADMSG. */
	static Result<Introduction> parse(std::span<const std::byte> bytes);
};

} // namespace prism::rpc
