/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>

namespace tx_sim
{

/** What a negative control does wrong: the checks of a run must find each of them. */
enum class Flaw : std::uint8_t {
	none,
	undecided_help,      /**< who ends a transaction for others bumps its cells without deciding it */
	no_takeover,         /**< who gets a dead client's number does not clear its logs */
	hasty_lane,          /**< a lane goes on before its installs are acknowledged */
	sure_decision,       /**< a client believes that it has committed, whatever was decided */
	unvalidated_reads,   /**< reads are not validated */
	late_version,        /**< C of a cell is that of a later moment than its pointer */
	unchecked_reads,     /**< who reads one cell believes that nobody has prepared another version */
	blind_install,       /**< installs compare nothing */
	repeated_timestamps, /**< timestamps are a coarse clock, and nothing else */
	unscanned_logs,      /**< the scan for lost buffers looks at cells alone */
	unconditional,       /**< decisions and installs do not depend on what is before them in their chain */
	parted_requests,     /**< a report may come between requests of which one depends on the other */
	paper_crashes,       /**< clients die while commits are the paper's */
	no_collect,          /**< lost buffers stay lost */
};

} // namespace tx_sim
