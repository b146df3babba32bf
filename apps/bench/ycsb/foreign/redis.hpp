/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A StoreClient of Redis, over hiredis. */
#pragma once

#include <memory>

#include <prism/result.hpp>

#include "bench/ycsb/systems.hpp"
#include "common/store_client.hpp"

namespace prism::ycsb
{

/**
 * Connects to a Redis server at options.host (a name, an address, or unix:PATH) within options.timeout.
 *
 * Operations are pipelined: start() queues a command, poll() sends what is queued and takes what has come, without
 * waiting. hiredis allocates for each command and each reply; that is part of what is measured. A connection that broke
 * fails everything under way, and whatever is started later, with the errno value of the break.
 */
[[nodiscard]] Result<std::unique_ptr<apps::StoreClient>> connect_redis(const SystemOptions &options);

} // namespace prism::ycsb
