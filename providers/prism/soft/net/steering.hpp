/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Sharing one address and port between processes of one user: SO_REUSEPORT, with a classic BPF program that picks the
 * socket by the slot in the destination QPN.
 *
 * The program answers with an index into the kernel's array of the group's sockets. That array is nowhere to be read,
 * and an index changes when a socket before it closes. So members ask: an eight-byte datagram, too short for a packet,
 * carries an index, the program delivers it to just that socket, and whoever gets it tells the asker its slot.
 */
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "packet.hpp"
#include "slot.hpp"

namespace prism::soft
{

/** Which socket of a group serves a slot, as far as this member knows. */
class SteeringTable
{
public:
	SteeringTable() { index_of.fill(unknown); }

	/** @return whether anything changed. Another slot that was thought to have @p index is forgotten. */
	bool set(unsigned slot, unsigned index);

	/**
	 * Makes this table the program of a group of @p members sockets. Slots that are not in it go to the first
	 * member that has none, which is right if one alone did not answer.
	 * @param fd any member, or a socket about to be bound as the first.
	 */
	bool attach(int fd, unsigned members) const;

private:
	[[nodiscard]] std::uint32_t first_unknown(unsigned members) const;

	static constexpr std::uint16_t unknown = 0xffff;

	std::array<std::uint16_t, slot_limit> index_of;
};

/** Asks for the slot of one member. */
struct SteeringProbe {
	static constexpr std::size_t size = 8;

	std::uint16_t asker; /**< slot */
	std::uint32_t index;

	[[nodiscard]] std::array<std::uint8_t, size> encode() const;
	static std::optional<SteeringProbe> decode(std::span<const std::uint8_t> datagram);
};

/**
 * How many sockets are bound to @p address and @p port (host order) in this network namespace.
 * @return 0 if /proc cannot tell.
 */
[[nodiscard]] unsigned bound_sockets(const Address &address, std::uint16_t port);

} // namespace prism::soft
