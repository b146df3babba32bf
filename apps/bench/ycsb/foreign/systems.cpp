/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/ycsb/foreign/systems.hpp"

#include "bench/ycsb/foreign/memcached.hpp"
#include "bench/ycsb/foreign/redis.hpp"

namespace prism::ycsb
{

void add_foreign_systems(Systems &systems)
{
	systems.add({"redis", "Redis, pipelined, over TCP or a Unix socket", 6379,
		[](const SystemOptions &options) -> Result<ClientFactory> {
			return ClientFactory([options](unsigned) { return connect_redis(options); });
		}});
	systems.add({"memcached", "memcached, binary protocol, over TCP or a Unix socket", 11211,
		[](const SystemOptions &options) -> Result<ClientFactory> {
			return ClientFactory([options](unsigned) { return connect_memcached(options); });
		}});
}

} // namespace prism::ycsb
