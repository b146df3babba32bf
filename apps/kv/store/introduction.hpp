/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/connection.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "protocol.hpp"
#include "service/hello.hpp"
#include "versions.hpp"

namespace prism::kv
{

/** Regions of a PRISM-KV server's connection record. */
constexpr std::uint32_t table_region = 1;
constexpr std::uint32_t scratch_region = 2;

/**
 * What a PRISM-KV server tells a client behind the Hello, 40 bytes in network order: secret 16, buckets 4, number of
 * the connection 4, first version of LeasedVersions::first_lease 8, reserved 8. The free lists of the record are its
 * size classes, its regions the table and the connection's scratch.
 */
struct Introduction {
	static constexpr std::size_t size = 40;

	HashKey secret{};
	std::uint32_t bucket_count = 0;
	std::uint32_t connection = 0;
	std::uint64_t first_version = 0;

	[[nodiscard]] std::vector<std::byte> serialize() const;
};

/** The Hello of clients and servers of this kind. */
apps::Hello prism_hello();

/**
 * The server that @p record, from a peer that is not trusted, describes. @p first_version: of the client's first lease.
 * Errors: EBADMSG, EPROTONOSUPPORT (another kind of store).
 */
Result<ServerView> view_of(const ConnectionRecord &record, const std::string &who, std::uint64_t &first_version);

} // namespace prism::kv
