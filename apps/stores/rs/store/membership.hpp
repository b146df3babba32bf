/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A replica's entry into its volume: it founds the volume with the others, or is repaired. */
#pragma once

#include <prism/device.hpp>

#include <functional>
#include <stop_token>
#include <string>

#include "rs/store/replica.hpp"
#include "rs/volume/founding_record.hpp"

namespace prism::rs
{

/**
 * Founds the volume of @p replica, which is Beginning::new_volume and serves on another thread: asks all others until
 * each of them has agreed, makes @p record, and lets the replica serve. Returns early if @p stop is requested. Errors:
 * EEXIST (the volume is not new, or @p record is there), EPROTONOSUPPORT (another volume), those of the record.
 */
Result<void> found_volume(
	const Context &context, Replica &replica, const FoundingRecord &record, const std::stop_token &stop);

/**
 * Repairs @p replica, which has lost its memory, as soon as a quorum of others serves, and tries again until it serves.
 * A repair begun by another process takes precedence. If it takes long, @p log gets each reason once. Returns when the
 * replica serves or @p stop is requested.
 */
void repair_until_it_serves(const Context &context, const Replica &replica, const std::stop_token &stop,
	const std::function<void(const std::string &)> &log);

} // namespace prism::rs
