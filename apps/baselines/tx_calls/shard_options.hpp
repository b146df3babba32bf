/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>

#include "rpc/server/server.hpp"

namespace prism::tx
{

/** Options of a shard that serves calls. */
struct CalledShardOptions {
	/** Its longest key is also that of the objects. */
	rpc::ServerOptions server;
	std::uint64_t objects = 1 << 20;    /**< places for objects, each as long as the longest one */
	std::uint32_t value_size = 512;     /**< bytes of the longest value; in place of server.max_value_size */
	std::uint32_t message_size = 32768; /**< bytes of the longest message, at most 65536 */
	std::uint32_t shard = 0;            /**< which one of the store this is */
	std::uint32_t shards = 1;           /**< how many it has */
};

/**
 * Returns EINVAL if the options contradict each other. Messages need at least @p least_message_size bytes, and room for
 * the longest key and value with @p overhead bytes.
 */
Result<void> check(const CalledShardOptions &options, std::uint32_t least_message_size, std::size_t overhead);

/** Returns the options of the shard's RPC server. */
rpc::ServerOptions server_options(const CalledShardOptions &options);

} // namespace prism::tx
