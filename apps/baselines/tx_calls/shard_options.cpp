/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "shard_options.hpp"

#include <cerrno>
#include <string>

#include <fmt/format.h>

namespace prism::tx
{

Result<void> check(const CalledShardOptions &options, std::uint32_t least_message_size, std::size_t overhead)
{
	const std::uint64_t longest = overhead + std::uint64_t{options.server.max_key_size} + options.value_size;
	if (options.message_size < least_message_size || options.message_size > rpc::max_message_size)
		return make_error(EINVAL, fmt::format("messages of {} bytes", options.message_size),
			fmt::format("they may have {} to {}", least_message_size, rpc::max_message_size));
	if (longest > options.message_size)
		return make_error(EINVAL,
			fmt::format("a value of {} bytes with its key (--value-size, --key-size)", options.value_size),
			fmt::format("it does not fit a message: raise its size, of at most {}, or lower the value's",
				rpc::max_message_size));
	if (options.shard >= options.shards)
		return make_error(EINVAL, fmt::format("shard {} of {}", options.shard, options.shards),
			"shards are counted from 0");
	return rpc::Server::check({}, server_options(options));
}

rpc::ServerOptions server_options(const CalledShardOptions &options)
{
	rpc::ServerOptions result = options.server;
	result.max_value_size = options.value_size;
	return result;
}

} // namespace prism::tx
