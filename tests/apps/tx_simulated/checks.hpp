/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What must hold at the end of a run, when all clients have gone and scans have found what these lost. */
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../../serializability/findings.hpp"
#include "shard.hpp"
#include "user.hpp"

namespace tx_sim
{

/** What a run has left. */
struct Remains {
	std::vector<Shard *> shards;                    /* null: it has crashed */
	const std::vector<prism::tx::KeyPlace> &places; /* of keys; empty: nobody has asked for any */
	const UserOptions &user;
	std::uint64_t cells = 0;     /* of a shard */
	bool failing = false;        /* a shard has crashed, and decisions may be gone */
	bool accounts = true;        /* each buffer is to be at one place, if all shards are there */
	serializability::Draft last; /* what a last transaction begins as: it reads all */
	serializability::HistoryBuilder &history;
	std::function<void(serializability::Draft &)> record;
	std::function<void(const std::string &)> find; /* is told what is wrong */
};

/** Empties the shards' lists. */
void check(const Remains &remains);

} // namespace tx_sim
