/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/device.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "rs/volume/volume_client.hpp"

namespace prism::rs
{

struct RepairOptions {
	unsigned replica = 0;
	std::uint32_t depth = 16; /**< blocks that are copied at the same time */
	std::chrono::milliseconds timeout = std::chrono::seconds(5);
	std::stop_token stop; /**< ends the repair early: ECANCELED */
	/** Receives the number of blocks done so far; may be null. */
	std::function<void(std::uint64_t blocks)> progress;
};

/**
 * Repairs a replica that has lost its memory, while the volume's clients continue: begins a new epoch, so that nothing
 * counts any more that the replica has acknowledged before, and copies every block from a quorum of the others
 * (docs/prism-rs.md, "Replicas that come back"). If another replica is being repaired, it waits for that. Returns when
 * the replica serves. Errors: EALREADY (it has lost nothing), EBUSY (another repair of it is under way), EHOSTUNREACH
 * (it, or a quorum of others that serve, cannot be reached), ECONNRESET (its connection was lost), EAGAIN (other
 * repairs began meanwhile, again and again), EOVERFLOW (the volume has used all epochs), ECANCELED, those of
 * VolumeClient::open().
 */
Result<void> repair(const Context &context, const Configuration &volume, const RepairOptions &options);

} // namespace prism::rs
