/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Sharing one address and port between processes of one user: SO_REUSEPORT, with a classic BPF program that picks the
 * socket by the slot in the destination QPN.
 *
 * The program answers with an index into the kernel's array of the group's sockets. That array is nowhere to be read,
 * and an index changes when a socket before it closes. So members ask: a datagram of twelve bytes, too short for a
 * packet, carries an index, the program delivers it to just that socket, and whoever gets it tells the asker its slot.
 * An index behind the last one goes to some member, by the kernel's hash, which so answers a second time: that is the
 * end.
 *
 * What is for a slot that is not in the table goes to the member that made the table. It runs, as it has just done so,
 * and can hand on what is not its own; any other may be stopped for good.
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

/** Which socket of a group serves a slot, as far as this member knows. */
class SteeringTable
{
public:
	SteeringTable() { index_of_.fill(unknown); }

	/** @return whether anything changed. Another slot that was thought to have @p index is forgotten. */
	bool set(unsigned slot, unsigned index);

	/**
	 * Makes this table the program of a group. Slots that are not in it go to that of slot @p otherwise.
	 * @param fd any member, or a socket about to be bound as the first.
	 */
	bool attach(int fd, unsigned otherwise) const;

private:
	static constexpr std::uint16_t unknown = 0xffff;

	std::array<std::uint16_t, slot_limit> index_of_;
};

/** Asks for the slot of one member. */
struct SteeringProbe {
	static constexpr std::size_t size = 12;

	std::uint16_t asker; /**< slot */
	std::uint32_t index;
	std::uint32_t nonce; /**< in which the asker's name ends */

	[[nodiscard]] std::array<std::uint8_t, size> encode() const;
	static std::optional<SteeringProbe> decode(std::span<const std::uint8_t> datagram);
};

} // namespace prism::soft
