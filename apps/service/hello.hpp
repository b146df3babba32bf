/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How stores and their clients introduce themselves: the beginning of ConnectionRecord::private_data. So a client that
 * reaches another kind of store gets an error at connect instead of failing at its first operation.
 *
 * 32 bytes in network order: magic "PRISMKV\0" 8, kind 2, version 2, longest key 4, longest value 4, operations under
 * way on one connection 4, errno 4, reserved 4 (sent 0, ignored). What follows is the kind's own. A client sends the
 * same with the kind that it wants and zeros for the limits, except that the last one is the depth that it will use. An
 * errno other than 0, of servers alone, says that the client is refused; the reason follows as text.
 */
#pragma once

#include <prism/connection.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prism::apps
{

/** Default TCP port of a store. */
constexpr std::uint16_t default_store_port = 18620;

enum class StoreKind : std::uint16_t {
	rpc = 1,     /**< every operation is a call */
	pilaf = 2,   /**< GET by READs, the rest by calls */
	prism = 3,   /**< every operation by PRISM requests */
	rs = 4,      /**< a replica of PRISM-RS */
	abdlock = 5, /**< a replica of the lock-based ABD */
	tx = 6,      /**< a shard of PRISM-TX */
	farm = 7,    /**< a shard of FaRM's protocol */
	locking = 8, /**< a shard of two-phase locking */
};

/** Such as "pilaf". Never empty. */
std::string_view to_string(StoreKind kind) noexcept;

struct Hello {
	static constexpr std::size_t size = 32;

	StoreKind kind = StoreKind::rpc;
	std::uint16_t version = 1;        /**< of the kind's protocol */
	std::uint32_t max_key_size = 0;   /**< bytes */
	std::uint32_t max_value_size = 0; /**< bytes */
	std::uint32_t max_depth = 0;      /**< operations under way on one connection */

	/** The 32 bytes, then @p own, which is the kind's. */
	[[nodiscard]] std::vector<std::byte> serialize(std::span<const std::byte> own = {}) const;

	/** What a client that is refused for @p why gets instead of serialize(); why.code is not 0. */
	[[nodiscard]] std::vector<std::byte> refusal(const Error &why) const;

	/** Reads the beginning of @p bytes, from a peer that is not trusted. Errors: EBADMSG (no introduction). */
	static Result<Hello> parse(std::span<const std::byte> bytes);

	/** What follows the introduction in @p bytes, which parse() has accepted. */
	static std::span<const std::byte> own_part(std::span<const std::byte> bytes) noexcept
	{
		return bytes.subspan(size);
	}

	/**
	 * Reads the introduction of @p peer and insists on the kind and version of this one. @p who names the peer in
	 * messages. Errors: EBADMSG, EPROTONOSUPPORT (another kind or version), what the peer refuses this side for.
	 */
	[[nodiscard]] Result<Hello> expect(const ConnectionRecord &peer, const std::string &who) const;
};

} // namespace prism::apps
