/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>

namespace rpc_sim
{

/** What a negative control does wrong: the checks of a run must find each of them. */
enum class Flaw : std::uint8_t {
	none,
	no_crc,        /**< fetch: whose seq is new is taken to be whole, by both sides */
	no_seq,        /**< fetch: a response that is whole is taken, whatever call it answers */
	no_last_read,  /**< fetch: a client that asks for a reply does not READ behind that, nor later */
	one_half,      /**< slots: the responses of a slot share one half */
	ptr_first,     /**< slots: a pointer is published, and its bound some time later */
	early_fetched, /**< slots: "fetched" is posted with the READ, not behind its completion */
	forgetful,     /**< the responses of a client that comes back are not kept */
	buffer_again,  /**< a request is written over as soon as its call has expired, while it may be sent */
};

} // namespace rpc_sim
