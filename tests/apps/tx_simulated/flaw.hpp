/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>

namespace tx_sim
{

/** Errors of negative controls: the checks of a run must find each of them. */
enum class Flaw : std::uint8_t {
	none,
	undecided_help,      /**< a client that ends another's transaction bumps its cells without deciding it */
	no_takeover,         /**< a client that gets a dead client's number does not clear its logs */
	hasty_lane,          /**< a lane goes on before its installs are acknowledged */
	sure_decision,       /**< a client believes that it has committed, whatever was decided */
	unvalidated_reads,   /**< reads are not validated */
	late_version,        /**< C of a cell is read later than its pointer */
	unchecked_reads,     /**< a reader of one cell believes that no other version is prepared */
	blind_install,       /**< installs compare nothing */
	repeated_timestamps, /**< timestamps are nothing but a coarse clock */
	unscanned_logs,      /**< the scan for lost buffers looks at cells only */
	unconditional,       /**< decisions and installs do not depend on earlier requests of their chain */
	parted_requests,     /**< a report may come between a request and another that depends on it */
	paper_crashes,       /**< clients die while using the paper's commits */
	no_collect,          /**< lost buffers stay lost */
};

} // namespace tx_sim
