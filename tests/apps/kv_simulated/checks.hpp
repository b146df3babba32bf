/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What must hold at the end of a run, when all clients have gone and scans have found what these lost. */
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

/** What a run has left. */
struct Remains {
	Server &server;
	const std::vector<std::shared_ptr<simulation::History>> &histories; /* of all servers; the last is this one's */
	std::uint64_t keys = 0;
	std::uint32_t users = 0;
	std::function<void(const std::string &)> find; /* is told what is wrong */
};

/** Empties the server's lists. */
void check(const Remains &remains);

} // namespace kv_sim
