/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>

namespace kv_sim
{

/** Errors of negative controls: the checks of a run must find each of them. */
enum class Flaw : std::uint8_t {
	none,
	double_report,  /**< clients report a freed buffer a second time, some time later */
	no_grace,       /**< a buffer that has come back is handed out at once, even if a client still reads it */
	no_tag,         /**< a CAS does not compare the tag */
	blind_insert,   /**< a client that claims a slot does not look at the others */
	hasty_settle,   /**< clients answer a scan while the operations that it asked about are under way */
	unsure_flush,   /**< clients answer a scan without knowing that their full batches of reports have arrived */
	few_reports,    /**< a scan ends with reports in the receive queue */
	collect_anyway, /**< a scan counts buffers as lost that the device took back from a client that died */
	no_collect,     /**< lost buffers stay lost */
	claims_stay,    /**< claims of clients that are gone stay */
};

} // namespace kv_sim
