/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>

namespace rs_sim
{

/**
 * What a negative control does wrong: the checks of a run must find each of them. What takes rarer coincidences
 * (replicas that go on serving clients of an old epoch, exclusive writers without generations) is left to
 * tests/models/rs.pml.
 */
enum class Flaw : std::uint8_t {
	none,
	no_write_back, /**< a GET returns what it has read, though not all of its quorum have it */
	deaf_get,      /**< a GET takes the block that has come, whatever tags the others have */
	small_quorum,  /**< f answers are enough */
	same_client,   /**< all clients have one number in their tags */
	reused_client, /**< a client that comes back has the number that it had before */
	missed_guess,  /**< a miss of an exclusive PUT counts as an acknowledgement */
	empty_serves,  /**< a replica that has lost its memory serves as if it had not */
	early_reads,   /**< a replica under repair answers reads */
	no_epoch,      /**< a repair raises no epoch: acknowledgements of a lost memory count on */
	no_turns,      /**< repairs of different replicas do not wait for each other */
	keeps_misses,  /**< the buffer of an install that missed is not given back */
	double_report, /**< clients report a freed buffer once more, some time later */
	no_grace,      /**< a buffer that has come back is handed out at once, whoever still reads it */
	hasty_settle,  /**< clients answer a scan while what it asked about is under way */
	no_collect,    /**< lost buffers stay lost */
};

} // namespace rs_sim
