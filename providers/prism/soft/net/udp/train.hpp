/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Outgoing packets, gathered into trains: runs of packets to one destination that share one size, so that the kernel
 * takes them as one datagram and splits it (UDP_SEGMENT). One system call for each packet would cost ten times as much.
 */
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "../icrc.hpp"
#include "../socket_address.hpp"

namespace prism::soft
{

/** Limits of one datagram that the kernel takes (UDP_MAX_SEGMENTS of its older versions). */
inline constexpr unsigned max_train_packets = 64;
inline constexpr std::size_t max_train_bytes = 65000;

/** Size of the longest packet on the wire, from BTH to ICRC. */
inline constexpr std::size_t max_wire_size = max_packet_size + icrc_size;

/** Returns true if a train by loopback arrives as one: without tx-udp-segmentation the interface splits it. */
[[nodiscard]] bool loopback_keeps_trains_whole();

/** Key of the packets that may share a train. */
struct TrainKey {
	Address peer;
	unsigned socket = 0;    /**< the sending one; its address is the source */
	std::uint16_t slot = 0; /**< of the destination QPN: a shared address delivers a train to one process */

	bool operator==(const TrainKey &) const = default;
};

/** One datagram for sendmsg. Its last packet may be shorter than the others; then the train is full. */
struct Train {
	TrainKey key;
	std::uint32_t segment = 0; /* bytes of each packet, ICRC included */
	std::uint32_t packets = 0;
	std::uint32_t bytes = 0;
	unsigned pieces = 0;
	std::array<iovec, max_train_packets> piece;

	[[nodiscard]] bool takes(std::uint32_t wire_size, unsigned limit) const
	{
		return wire_size <= segment && packets < limit && bytes == packets * segment &&
		       bytes + wire_size <= max_train_bytes;
	}

	void append(std::uint8_t *packet, std::uint32_t wire_size);
};

/** Packets since the last flush. Not thread-safe. */
class TrainQueue
{
public:
	static constexpr unsigned max_trains = 64;

	TrainQueue();

	/** Returns room for @p size bytes and an ICRC, or null if everything must leave first. */
	std::uint8_t *reserve(std::size_t size);

	/**
	 * Adds the packet in the room last given to the newest train of @p key, or to a new one of at most @p limit
	 * packets.
	 * @return its position in the train.
	 */
	unsigned append(const TrainKey &key, std::size_t size, unsigned limit);

	[[nodiscard]] std::span<Train> pending() { return {trains_.get(), used_trains_}; }
	void clear();

private:
	static constexpr std::size_t arena_size = 256 * 1024;

	Train *newest(const TrainKey &key);

	std::unique_ptr<std::uint8_t[]> arena_;
	std::unique_ptr<Train[]> trains_;
	std::size_t used_bytes_ = 0;
	unsigned used_trains_ = 0;
};

} // namespace prism::soft
