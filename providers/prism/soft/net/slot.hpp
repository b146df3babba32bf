/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Several processes share one host and, on a real interface, one address. The destination QPN tells their packets
 * apart: its upper ten bits are the slot of the context that owns the QP.
 *
 * A slot is claimed by binding its UDP port on all addresses. The kernel makes the claim exclusive in the network
 * namespace and releases it when the last descriptor is gone, however the process ends. (A child made by fork() without
 * exec holds descriptors of its own, so it holds the slot too.) The owner sends from this port. On one host a source
 * address proves nothing, as any user may send from any local address (IP_PKTINFO). The source port does: a socket that
 * is bound to it on all addresses keeps other users off it.
 *
 * Packets that the kernel delivered to the wrong process are handed on to a datagram socket with the slot's name in the
 * abstract namespace of AF_UNIX. A listening socket of that name is there for its credentials: as anybody can take a
 * name, the sender asks the kernel for the receiver's user. If somebody has taken the slot's name, the slot gets
 * another that nobody can guess, which the members of a group tell each other (udp/steering.hpp). So taking names keeps
 * no slot out.
 *
 * Taking ports does: a program that binds all ports of slots, or 4791 of all addresses, leaves none for others. That
 * needs no privilege, and nothing here can prevent it, as with every service on an unprivileged port.
 */
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <span>

#include "file_descriptor.hpp"

namespace prism::soft
{

inline constexpr unsigned qpn_index_bits = 14;
inline constexpr unsigned slot_limit = 1U << (24 - qpn_index_bits);

/** Slot 0 is not used: QPNs 0 and 1 have meanings of their own. */
inline constexpr unsigned first_slot = 1;

/**
 * Returns the source port of the owner of @p slot. It is in the range that RoCEv2 recommends for source ports (0xc000
 * to 0xffff), and above those that Linux gives to programs that do not choose (net.ipv4.ip_local_port_range).
 */
[[nodiscard]] constexpr std::uint16_t source_port_of(unsigned slot)
{
	return static_cast<std::uint16_t>(0xf000 + slot);
}

/** Makes a UDP socket send only: the kernel drops the datagrams that come to it. */
void refuse_datagrams(int fd);

class Slot
{
public:
	/**
	 * Claims slot @p number, first_slot to slot_limit - 1.
	 * @return nothing and errno: EADDRINUSE if another context, or another program, has its port.
	 */
	static std::optional<Slot> claim(unsigned number);

	[[nodiscard]] unsigned number() const { return claimed_; }
	/** Ending of the slot's name; 0: it is the slot's own name. */
	[[nodiscard]] std::uint32_t nonce() const { return ending_; }
	[[nodiscard]] int fd() const { return socket_.get(); }

	/**
	 * Returns a socket connected to that of slot @p to, whose name ends in @p nonce, if its owner is of our own
	 * user; none otherwise. It never leads to anybody else: once the owner is gone, sending fails with
	 * ECONNREFUSED.
	 */
	[[nodiscard]] static FileDescriptor open_channel(unsigned to, std::uint32_t nonce);

	/** Hands @p parts on through a channel, as one datagram. False and errno if its owner is gone or does not
	 * keep up. */
	static bool send_through(int channel, std::span<iovec> parts);

	/** Sends to the owner of slot @p to's name, whoever it is: send only what everybody may know. */
	void tell(unsigned to, std::uint32_t nonce, std::span<iovec> parts) const;

	/** Closes the connections that others opened to learn our credentials, which makes room for the next. */
	void dismiss_visitors() const;

	/**
	 * Receives one datagram of a process of the same user.
	 * @return its size in @p buffer; nothing if none was waiting; 0 if one was dropped.
	 */
	std::optional<std::size_t> receive(std::span<std::uint8_t> buffer) const;

private:
	Slot(unsigned number, FileDescriptor reserved) : claimed_(number), port_guard_(std::move(reserved)) {}
	bool take_name(std::uint32_t nonce);

	unsigned claimed_;
	std::uint32_t ending_ = 0;
	FileDescriptor socket_;
	FileDescriptor listener_;
	FileDescriptor port_guard_; /* keeps the source port; receives nothing */
};

} // namespace prism::soft
