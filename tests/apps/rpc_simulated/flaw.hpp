/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>

namespace rpc_sim
{

/** Errors of negative controls: the checks of a run must find each of them. */
enum class Flaw : std::uint8_t {
	none,
	no_crc,        /**< fetch: both sides take a message with a new seq for a whole one */
	no_seq,        /**< fetch: any whole response is accepted, whatever call it answers */
	no_last_read,  /**< fetch: a client that has asked for a reply does not READ any more */
	one_half,      /**< slots: the responses of a slot share one half */
	ptr_first,     /**< slots: a pointer is published some time before its bound */
	early_fetched, /**< slots: "fetched" is posted with the READ, not after its completion */
	forgetful,     /**< the responses of a client that comes back are not kept */
	buffer_again,  /**< a request is overwritten as soon as its call has expired, even while it may be sent */
};

} // namespace rpc_sim
