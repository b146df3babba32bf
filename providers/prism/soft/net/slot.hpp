/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Several processes share one host and, on a real interface, one address. What tells their packets apart is the
 * destination QPN: its upper ten bits are the slot of the context that owns the QP.
 *
 * A slot is claimed by binding abstract AF_UNIX sockets of that name. The kernel makes the claim exclusive in the
 * network namespace and releases it when the last descriptor is gone, however the process ends. (A child made by fork()
 * without exec holds descriptors of its own, so it holds the slot too.) A datagram socket takes in the packets that the
 * kernel delivered to the wrong process. One that listens is there for its credentials: who hands packets on asks the
 * kernel whose they will be, as anybody can take a name.
 *
 * With the slot comes a UDP port, from which its owner sends. On one host a source address proves nothing, as any
 * user may send from any local address (IP_PKTINFO). The source port does: a socket that is bound to it on all
 * addresses keeps other users off it.
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

/** Slot 0 belongs to nobody: QPNs 0 and 1 have a meaning of their own. */
inline constexpr unsigned first_slot = 1;

/**
 * From which the owner of @p slot sends. In the range that RoCEv2 recommends for source ports (0xc000 to 0xffff), and
 * above those that Linux gives to programs that do not choose (net.ipv4.ip_local_port_range).
 */
[[nodiscard]] constexpr std::uint16_t source_port_of(unsigned slot)
{
	return static_cast<std::uint16_t>(0xf000 + slot);
}

/** A UDP socket that only sends: what comes to it is thrown away by the kernel. */
void refuse_datagrams(int fd);

class Slot
{
public:
	/**
	 * Claims slot @p number, first_slot to slot_limit - 1.
	 * @return nothing and errno: EADDRINUSE if another context has it, or another program its port.
	 */
	static std::optional<Slot> claim(unsigned number);

	[[nodiscard]] unsigned number() const { return claimed; }
	[[nodiscard]] int fd() const { return socket.get(); }

	/**
	 * A socket connected to that of slot @p to, if its owner is of our own user; none otherwise. It never leads to
	 * anybody else: once the owner is gone, sending fails with ECONNREFUSED.
	 */
	[[nodiscard]] static FileDescriptor open_channel(unsigned to);

	/** Hands @p parts, as one datagram, on through a channel. False and errno if its owner is gone or does not keep
	 * up. */
	static bool send_through(int channel, std::span<iovec> parts);

	/** To whoever has slot @p to: nothing that is not everybody's to know. */
	void tell(unsigned to, std::span<iovec> parts) const;

	/** Closes what others opened to learn our credentials, so that there is room for the next. */
	void dismiss_visitors() const;

	/**
	 * One datagram that a process of the same user sent.
	 * @return its size in @p buffer; nothing if none was waiting; 0 if one was thrown away.
	 */
	std::optional<std::size_t> receive(std::span<std::uint8_t> buffer) const;

private:
	Slot(unsigned number, FileDescriptor bound, FileDescriptor listening, FileDescriptor reserved)
		: claimed(number), socket(std::move(bound)), listener(std::move(listening)),
		  port_guard(std::move(reserved))
	{
	}

	unsigned claimed;
	FileDescriptor socket;
	FileDescriptor listener;
	FileDescriptor port_guard; /* keeps the source port; receives nothing */
};

} // namespace prism::soft
