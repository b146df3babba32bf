/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>

namespace rs_sim
{

/**
 * Errors of negative controls: the checks of a run must find each of them. tests/models/rs.pml covers those that need
 * rarer coincidences (replicas that go on serving clients of an old epoch, exclusive writers without generations).
 */
enum class Flaw : std::uint8_t {
	none,
	no_write_back, /**< a GET returns the value read, though not all of its quorum have it */
	deaf_get,      /**< a GET takes the first block that arrives, whatever tags the others have */
	small_quorum,  /**< f answers are enough */
	same_client,   /**< all clients use one number in their tags */
	reused_client, /**< a client that comes back uses its old number */
	missed_guess,  /**< a miss of an exclusive PUT counts as an acknowledgement */
	empty_serves,  /**< a replica that has lost its memory serves as if it had it */
	early_reads,   /**< a replica under repair answers reads */
	no_epoch,      /**< a repair does not raise the epoch: acknowledgements of a lost memory still count */
	no_turns,      /**< repairs of different replicas do not wait for each other */
	keeps_misses,  /**< the buffer of a missed install is not given back */
	double_report, /**< clients report a freed buffer a second time, some time later */
	no_grace,      /**< a buffer that has come back is handed out at once, even if a client still reads it */
	hasty_settle,  /**< clients answer a scan while the requests that it asked about are under way */
	no_collect,    /**< lost buffers stay lost */
};

} // namespace rs_sim
