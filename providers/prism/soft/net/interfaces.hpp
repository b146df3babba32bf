/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "packet.hpp"

namespace prism::soft
{

/** A network interface that can carry a device. */
struct InterfaceInfo {
	std::string name;
	unsigned index = 0;
	unsigned mtu = 0; /**< of the link, in bytes of IP packet */
	bool is_loopback = false;
	std::array<std::uint8_t, 6> hardware{}; /**< Ethernet address; zeros if it has none */
	std::vector<Address> addresses;         /**< IPv4 first, then global IPv6, then link-local */
};

/**
 * Returns the interfaces of the calling thread's network namespace that are up and have an IP address, in the kernel's
 * order. Empty if there is none or they cannot be read. An IPv6 address counts once duplicate address detection has
 * succeeded: before, and if another host has it, it cannot be bound. Thread-safe.
 * @param why if given: gets 0, or the errno if they cannot be read, for want of descriptors for example
 */
[[nodiscard]] std::vector<InterfaceInfo> list_interfaces(int *why = nullptr);

/** Returns true for addresses of 127/8, all of which is this host. */
[[nodiscard]] bool is_ipv4_loopback(const Address &address);

/** Returns the addresses of this network namespace's interfaces that are up; nothing if they cannot be read. */
[[nodiscard]] std::optional<std::vector<Address>> addresses_of_this_host();

/** Returns true for an address of an interface of this network namespace, or of 127/8. */
[[nodiscard]] bool is_on_this_host(const Address &address);

/** Returns the loopback address that belongs to the context in @p slot alone: 127.47.x.y, where x.y is the slot. */
[[nodiscard]] Address loopback_address(unsigned slot);
/** Returns true if a context on loopback has @p address, or had it, or might have it. */
[[nodiscard]] bool is_loopback_of_context(const Address &address);

} // namespace prism::soft
