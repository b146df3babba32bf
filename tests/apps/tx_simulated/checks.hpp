/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Checks at the end of a run, when all clients have gone and scans have recovered the buffers that these lost. */
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

/** Remains of a run. */
struct Remains {
	std::vector<Shard *> shards;                    /* null if crashed */
	const std::vector<prism::tx::KeyPlace> &places; /* of keys; empty if no client has asked for any */
	const UserOptions &user;
	std::uint64_t cells = 0;     /* of a shard */
	bool failing = false;        /* a shard has crashed, and decisions may be lost */
	bool accounts = true;        /* each buffer must be in exactly one place, if all shards are there */
	serializability::Draft last; /* start of a last transaction, which reads all keys */
	serializability::HistoryBuilder &history;
	std::function<void(serializability::Draft &)> record;
	std::function<void(const std::string &)> find; /* called with each error */
};

/** Checks all that must hold. Empties the shards' lists. */
void check(const Remains &remains);

} // namespace tx_sim
