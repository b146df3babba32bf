/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Sharing one address and port between processes of one user: SO_REUSEPORT, with a classic BPF program that picks the
 * socket by the slot in the destination QPN.
 *
 * The program returns an index into the kernel's array of the group's sockets. The array cannot be read, and an index
 * changes when a socket before it closes. So members send probes: a datagram of twelve bytes, too short for a packet,
 * carries an index; the program delivers it to that socket, whose owner tells the asker its slot. A probe with an index
 * after the last goes to some member, by the kernel's hash; its second answer tells where the group ends.
 *
 * Packets for a slot that is not in the table, and management datagrams, go to the member that made the table. That
 * member runs, as it has just made the table, and can hand them on; any other may be stopped for good. A member that
 * takes no management datagrams, or is about to leave, names one that takes them and has just answered.
 */
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "../packet.hpp"
#include "../slot.hpp"

namespace prism::soft
{

/** Map from slots to the sockets of a group, as far as this member knows. */
class SteeringTable
{
public:
	SteeringTable() { index_of_.fill(unknown); }

	/** Sets the index of a slot. Forgets another slot that was thought to have @p index.
	 * @return true if anything changed. */
	bool set(unsigned slot, unsigned index);
	/** Returns the index of @p slot, which is below slot_limit; one beyond all if it is unknown. */
	[[nodiscard]] unsigned index_of(unsigned slot) const { return index_of_[slot]; }

	/**
	 * Makes this table the program of a group. Packets for other slots go to the socket of slot @p otherwise.
	 * @param fd any member, or a socket about to be bound as the first.
	 */
	bool attach(int fd, unsigned otherwise) const;

private:
	static constexpr std::uint16_t unknown = 0xffff;

	std::array<std::uint16_t, slot_limit> index_of_;
};

/** Probe for the slot of one member. */
struct SteeringProbe {
	static constexpr std::size_t size = 12;

	std::uint16_t asker; /**< slot */
	std::uint32_t index;
	std::uint32_t nonce; /**< ending of the asker's name */

	[[nodiscard]] std::array<std::uint8_t, size> encode() const;
	static std::optional<SteeringProbe> decode(std::span<const std::uint8_t> datagram);
};

} // namespace prism::soft
