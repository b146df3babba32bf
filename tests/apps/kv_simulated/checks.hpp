/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Checks at the end of a run, when all clients have gone and scans have recovered the buffers that these lost. */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server.hpp"
#include "simulation/history.hpp"

namespace kv_sim
{

/** Remains of a run. */
struct Remains {
	Server &server;
	const std::vector<std::shared_ptr<simulation::History>> &histories; /* of all servers; the last is this one's */
	std::uint64_t keys = 0;
	std::uint32_t users = 0;
	std::function<void(const std::string &)> find; /* called with each error */
};

/** Checks all that must hold. Empties the server's lists. */
void check(const Remains &remains);

} // namespace kv_sim
