/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Layout of calls and responses at the server, way slots. All clients of a worker share one region, under one
 * R_Key: an indirect READ reaches its pointer and what that points at under the same key. So they trust each other.
 *
 * In the region: slots of 64 bytes, those of a connection one behind the other; the buffers of the worker's free list,
 * for requests; the buffers for responses. A buffer begins with a frame (frame.hpp), without a checksum. A slot has
 * three bounded pointers, whose bytes are those of frame and message, and a word, which is 0 before the first call:
 *
 *  offset  bytes  what                                               stored by
 *  0       16     the request: buffer, bytes, seq                    the client's ALLOCATE
 *  16      8      the seq of the last response that was fetched      the client's WRITE
 *  32      16     the response to a call with an even seq, likewise  the server
 *  48      16     the same for an odd seq                            the server
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace prism::rpc::slots
{

/** Id of the region in the server's record: the slots of the connection. */
constexpr std::uint32_t slot_region = 0x52500003;

constexpr std::size_t slot_size = 64;
constexpr std::size_t request_offset = 0;
constexpr std::size_t fetched_offset = 16;
constexpr std::size_t response_offset(std::uint32_t seq) noexcept
{
	return seq % 2 ? 48 : 32;
}

} // namespace prism::rpc::slots
