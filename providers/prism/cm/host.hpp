/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Which userspace device an IP address belongs to, and which address reaches a peer: what the kernel's rdma_cm asks its
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

/** A userspace device that the program is shown, by one of its addresses. */
struct Device {
	std::string name;
	std::uint64_t guid = 0; /**< in network order */
	bool is_loopback = false;
	unsigned sgid_index = 0;
	unsigned interface = 0; /**< index */
	std::uint8_t mtu = 0;   /**< enum ibv_mtu, of an RDMA packet's payload */
};

/** The device of a local address. Nothing if it is not local, or of an interface without a device. */
[[nodiscard]] std::optional<Device> find_device(const Address &local);

/** The devices' GID tables take in what addresses have come, and the devices what MTU their interfaces have now. */
void renew_devices();

/** The devices that are not the loopback interface's, by name, and the index of the interface of each. */
[[nodiscard]] std::map<std::string, unsigned> network_devices();

/** Whether all of them are. */
[[nodiscard]] bool are_local(std::initializer_list<Address> addresses);
[[nodiscard]] inline bool is_local(const Address &address)
{
	return are_local({address});
}

/** Those of all interfaces, of one family. */
[[nodiscard]] std::vector<Address> local_addresses(bool ipv4);

/** 0.0.0.0 or :: */
[[nodiscard]] bool is_any(const Address &address);

/** 127.0.0.0/8 or ::1. */
[[nodiscard]] bool is_loopback(const Address &address);

/**
 * The source address that the kernel's routes choose for @p destination.
 * @param scope interface index, for link-local addresses
 * @return nothing and errno (ENETUNREACH, ...) without a route
 */
[[nodiscard]] std::optional<Address> source_for(const Address &destination, unsigned scope);

/** The GID by which a QP of ours is reached, if the device has the address @p local. */
[[nodiscard]] Address qp_gid(const Device &device, const Address &local, std::uint32_t qpn);

} // namespace prism::cm
