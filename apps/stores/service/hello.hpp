/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Introduction of stores and their clients: the beginning of ConnectionRecord::private_data. So a client that reaches
 * another kind of store gets an error at connect instead of failing at its first operation.
 *
 * 48 bytes in network order: magic "PRISMKV\0" 8, kind 2, version 2, longest key 4, longest value 4, operations under
 * way on one connection 4, errno 4, reserved 4 (sent 0, ignored), the kind's name 16 (zeros follow it). The rest
 * belongs to the kind. A client sends the same with the kind that it wants and zeros for the limits, except that the
 * last one is the depth that it will use. An errno other than 0, only from servers, means that the client is refused;
 * the reason follows as text.
 */
#pragma once

#include <prism/connection.hpp>

#include "service/application.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prism::apps
{

/** Default TCP port of a store. */
constexpr std::uint16_t default_store_port = 18620;

/**
 * Identity of a kind of store. Each store defines its own in the kind.hpp of its folder. The name is sent with the
 * number, so that a peer that does not know the store can name it.
 */
struct StoreKind {
	static constexpr std::size_t longest_name = 16; /**< bytes */

	/** Makes a kind that no store has. */
	constexpr StoreKind() noexcept = default;

	/**
	 * Makes the kind @p place of @p application, called @p called in messages. @p spoken is the version of the
	 * protocol of its clients and servers.
	 */
	constexpr StoreKind(
		Application application, std::uint8_t place, std::string_view called, std::uint16_t spoken) noexcept
		: number(static_cast<std::uint16_t>(static_cast<std::uint16_t>(application) + place)), version(spoken)
	{
		std::copy_n(called.begin(), std::min(called.size(), longest_name), name.begin());
	}

	/**
	 * Returns a text such as "pilaf store, version 1". The name may be a peer's: unprintable characters are
	 * replaced.
	 */
	[[nodiscard]] std::string text() const;

	friend bool operator==(const StoreKind &, const StoreKind &) noexcept = default;

	std::uint16_t number = 0;
	std::uint16_t version = 0;
	std::array<char, longest_name> name{}; /**< zeros follow it */
};

struct Hello {
	static constexpr std::size_t size = 48;

	StoreKind kind;
	std::uint32_t max_key_size = 0;   /**< bytes */
	std::uint32_t max_value_size = 0; /**< bytes */
	std::uint32_t max_depth = 0;      /**< operations under way on one connection */

	/** Returns the 48 bytes, then @p own, the kind's part. */
	[[nodiscard]] std::vector<std::byte> serialize(std::span<const std::byte> own = {}) const;

	/** Returns the record, in place of serialize(), for a client that is refused for @p why; why.code is not 0. */
	[[nodiscard]] std::vector<std::byte> refusal(const Error &why) const;

	/** Parses the beginning of @p bytes, from a peer that is not trusted. Errors: EBADMSG (no introduction). */
	static Result<Hello> parse(std::span<const std::byte> bytes);

	/** Returns the part of @p bytes after the introduction, which parse() has accepted. */
	static std::span<const std::byte> own_part(std::span<const std::byte> bytes) noexcept
	{
		return bytes.subspan(size);
	}

	/**
	 * Parses the introduction of @p peer and checks that its kind is this one's. @p who names the peer in messages.
	 * Errors: EBADMSG, EPROTONOSUPPORT (another kind, or version of it), or the peer's reason to refuse this side.
	 */
	[[nodiscard]] Result<Hello> expect(const ConnectionRecord &peer, const std::string &who) const;
};

} // namespace prism::apps
