/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>

namespace kv_sim
{

/** What a negative control does wrong: the checks of a run must find each of them. */
enum class Flaw : std::uint8_t {
	none,
	double_report,  /**< clients report a freed buffer once more, some time later */
	no_grace,       /**< a buffer that has come back is handed out at once, whoever still reads it */
	no_tag,         /**< a CAS does not compare the tag */
	blind_insert,   /**< who claims a slot does not look at the others */
	hasty_settle,   /**< clients answer a scan while what it asked about is under way */
	unsure_flush,   /**< clients answer a scan without knowing that their full batches of reports have arrived */
	few_reports,    /**< a scan ends with reports in the receive queue */
	collect_anyway, /**< a scan takes buffers for lost that the device took back from a client which died meanwhile
			 */
	no_collect,     /**< lost buffers stay lost */
	claims_stay,    /**< claims of clients that are gone stay */
};

} // namespace kv_sim
