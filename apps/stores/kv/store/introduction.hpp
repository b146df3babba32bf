/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/connection.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "protocol.hpp"
#include "service/control.hpp"
#include "service/hello.hpp"
#include "versions.hpp"

namespace prism::kv
{

/* On control channels, beside those of apps::ControlKind */

/** Client: value is the number of versions that it wants; server: the first of as many. */
constexpr apps::ControlKind lease_message = message_of(apps::Application::kv, 0);

/** Regions of a PRISM-KV server's connection record. */
constexpr std::uint32_t table_region = 1;
constexpr std::uint32_t scratch_region = 2;

/**
 * The introduction that a PRISM-KV server and its client exchange after the Hello, 72 bytes in network order: secret
 * 16, buckets 4, number of the connection 4, first version of LeasedVersions::first_lease 8, shard 2, shards 2,
 * reserved 4, the store's name 32 (padded with zeros). A client sends the shard that it wants, and the number of
 * shards. The free lists of the server's record are its size classes, its regions the table and the connection's
 * scratch.
 */
struct Introduction {
	static constexpr std::size_t size = 72;

	HashKey secret{};
	std::uint32_t bucket_count = 0;
	std::uint32_t connection = 0;
	std::uint64_t first_version = 0;
	ShardName shard;

	[[nodiscard]] std::vector<std::byte> serialize() const;

	/**
	 * Parses the part of @p record after the Hello, which has been parsed. @p who names its sender, who is not
	 * trusted. Errors: EBADMSG.
	 */
	static Result<Introduction> parse(const ConnectionRecord &record, const std::string &who);
};

/**
 * Returns the server that @p record, from a peer that is not trusted, describes. Errors: EBADMSG, EPROTONOSUPPORT
 * (another kind of store).
 */
Result<ServerView> view_of(const ConnectionRecord &record, const std::string &who);

} // namespace prism::kv
