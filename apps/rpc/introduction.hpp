/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a client of calls says of itself behind its Hello: 24 bytes in network order: way 4, worker 4, client 16. A
 * client that says nothing calls two-sided and takes any worker.
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

/** Names a client, and proves that a second connection is the same client's: nobody can guess it. */
using ClientId = std::array<std::byte, 16>;

/** A name that cannot be guessed. Errors: those of getrandom(2). */
Result<ClientId> new_client_id();
/** What proves in each datagram that it is this client's. */
std::uint64_t token_of(const ClientId &client) noexcept;

struct Introduction {
	static constexpr std::size_t size = 24;
	static constexpr std::uint32_t any_worker = ~std::uint32_t{0};

	Way way = Way::two_sided;
	std::uint32_t worker = any_worker; /**< which is to execute the calls; any_worker: the server chooses */
	ClientId client{};                 /**< zeros: it has no name */

	[[nodiscard]] std::array<std::byte, size> serialize() const noexcept;
	/** Reads what follows the Hello, from a client that is not trusted. Errors: EBADMSG. */
	static Result<Introduction> parse(std::span<const std::byte> bytes);
};

} // namespace prism::rpc
