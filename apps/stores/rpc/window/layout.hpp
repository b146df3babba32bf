/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Responses of the way window. Each connection has a region of its own: two bounded pointers of 16 bytes, and a ring.
 * The responses of a connection are one stream of bytes, of which the ring holds the last part: byte n of the stream is
 * byte n modulo its size. The ring is mapped twice, one behind the other, so that it has no end where a READ would
 * break off. A response is a frame (frame.hpp) without a checksum, whose seq counts responses from first_seq on, and
 * the message, filled up to a multiple of 8.
 *
 * Epoch e begins at a byte of the stream, its base. In epoch e, pointer e modulo 2 points at the base, and its bound
 * grows with the stream; the other one is null. A request says what the client knows:
 *
 *  offset  bytes  what
 *  0       4      its epoch, little-endian
 *  4       4      0
 *  8       8      the base of this epoch
 *
 * The message follows. A client begins the next epoch with a request, behind what it has consumed. When the server
 * hears of it, it makes the old pointer null, then opens the other one. Bytes before the base are free: a READ that may
 * still be running finds there only what the client knows. A null pointer means that the server has not heard of the
 * epoch, so there is nothing new. A client ends an epoch only when it has found its pointer, or it would take the last
 * epoch's pointer, which may be there still, for that of the next. tests/models/rpc.pml has all this (EAGER).
 */
#pragma once

#include "base/saturating.hpp"
#include "rpc/protocol/frame.hpp"

#include <cstddef>
#include <cstdint>

namespace prism::rpc::window
{

/** Id of the region in the server's record, which has the address of the pointers and the size of the ring. */
constexpr std::uint32_t window_region = 0x52500004;

constexpr std::size_t pointer_size = 16;
constexpr std::size_t prefix_size = 16;

/** Returns the bytes of the stream that a message takes. */
constexpr std::uint64_t record_size(std::uint64_t message) noexcept
{
	return frame_size + apps::rounded_up(message, 8);
}

/**
 * Returns a size that suffices for a client that has read nothing for as long as it may. The ring holds the responses
 * that it consumed before it found its epoch, those consumed since, and those that come meanwhile: each at most the
 * responses to all its calls.
 */
constexpr std::uint64_t ring_size(std::uint32_t calls, std::size_t response, std::size_t page) noexcept
{
	return apps::rounded_up((4 * std::uint64_t{calls} + 1) * record_size(response), page);
}

} // namespace prism::rpc::window
