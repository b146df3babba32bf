/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Finds the userspace device of an IP address, and the address that reaches a peer: what the kernel's rdma_cm asks its
 * routing tables and its list of devices. All of this may be called on any thread; each call looks anew.
 */
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mad.hpp"

namespace prism::cm
{

/** A userspace device that the program sees, found by one of its addresses. */
struct Device {
	std::string name;
	std::uint64_t guid = 0; /**< in network order */
	bool is_loopback = false;
	unsigned sgid_index = 0;
	unsigned interface = 0; /**< index */
	std::uint8_t mtu = 0;   /**< enum ibv_mtu, of an RDMA packet's payload */
};

/** Returns the device of a local address. Nothing if the address is not local, or its interface has no device. */
[[nodiscard]] std::optional<Device> find_device(const Address &local);

/** Updates the devices' GID tables with new addresses, and their MTUs with those of their interfaces. */
void renew_devices();

/** Returns all devices but the loopback interface's, by name, each with the index of its interface. */
[[nodiscard]] std::map<std::string, unsigned> network_devices();

/** Returns true if all of them are addresses of this host. */
[[nodiscard]] bool are_local(std::initializer_list<Address> addresses);
[[nodiscard]] inline bool is_local(const Address &address)
{
	return are_local({address});
}

/** Returns the addresses of all interfaces, of one family. */
[[nodiscard]] std::vector<Address> local_addresses(bool ipv4);

/** Returns true for 0.0.0.0 and ::. */
[[nodiscard]] bool is_any(const Address &address);

/** Returns true for 127.0.0.0/8 and ::1. */
[[nodiscard]] bool is_loopback(const Address &address);

/**
 * Returns the source address that the kernel's routes choose for @p destination.
 * @param scope interface index, for link-local addresses
 * @return nothing and errno (ENETUNREACH, ...) if there is no route
 */
[[nodiscard]] std::optional<Address> source_for(const Address &destination, unsigned scope);

/** Returns the GID by which a QP of ours is reached, if the device has the address @p local. */
[[nodiscard]] Address qp_gid(const Device &device, const Address &local, std::uint32_t qpn);

} // namespace prism::cm
