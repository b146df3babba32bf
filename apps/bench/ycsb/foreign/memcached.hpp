/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A StoreClient of memcached, over libmemcached. */
#pragma once

#include <memory>

#include <prism/result.hpp>

#include "bench/ycsb/systems.hpp"
#include "common/store_client.hpp"

namespace prism::ycsb
{

/**
 * Connects to a memcached server at options.host (a name, an address, or unix:PATH) within options.timeout.
 *
 * libmemcached has no asynchronous interface, so poll() does what was started since the last call as one batch and
 * waits for it: clients that are to work at once need a thread each. With a depth of 1 that is a plain GET, SET or
 * DELETE. With more, the GETs of a batch are pipelined as one multi-GET; SETs and DELETEs take a round trip each, one
 * after another. Quiet SETs, which could be pipelined, are left out: libmemcached keeps their errors to itself, and in
 * trials memcached 1.6.18 now and then closed connections on which libmemcached 1.1.4 had buffered more of them than
 * its 8 KiB hold.
 */
[[nodiscard]] Result<std::unique_ptr<apps::StoreClient>> connect_memcached(const SystemOptions &options);

} // namespace prism::ycsb
