/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "host.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string_view>

#include "../launcher/soft_device.h"
#include "net/file_descriptor.hpp"
#include "net/interfaces.hpp"
#include "net/slot.hpp"
#include "net/socket_address.hpp"
#include "prism_wire.h"

namespace prism::cm
{

namespace
{

using soft::InterfaceInfo;

struct FreeDeviceList {
	void operator()(ibv_device **list) const { ibv_free_device_list(list); }
};

/* As the device does it: IPv6, UDP, the largest header of a request and the ICRC stand beside the payload. */
std::uint8_t payload_mtu(unsigned interface_mtu)
{
	constexpr unsigned header_room = 40 + 8 + PRISM_MAX_REQUEST_HEADER + 4;
	ibv_mtu mtu = IBV_MTU_256;
	for (const ibv_mtu larger : {IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096})
		if ((128u << larger) + header_room <= interface_mtu)
			mtu = larger;
	return static_cast<std::uint8_t>(mtu);
}

std::string device_name(const InterfaceInfo &interface)
{
	std::array<char, sizeof(ibv_device::name)> name;
	std::snprintf(name.data(), name.size(), "prism_%.*s", int(name.size() - 7), interface.name.c_str());
	return name.data();
}

/** Fills in what the list of devices says; false if the device is not in it. */
bool look_up(Device &device)
{
	const std::unique_ptr<ibv_device *, FreeDeviceList> list(ibv_get_device_list(nullptr));
	for (ibv_device **entry = list.get(); entry && *entry; entry++) {
		if (device.name != (*entry)->name || !prismdv_is_soft_device(*entry))
			continue;
		device.guid = prismdv_soft_guid(*entry);
		return true;
	}
	return false;
}

bool is_ipv4_loopback(const Address &address)
{
	return address.is_ipv4() && address.gid[12] == 127;
}

/** Where it stands in the GID table, which the device makes in this order. */
std::optional<unsigned> index_in(const InterfaceInfo &interface, const Address &address)
{
	for (std::size_t i = 0; i < interface.addresses.size(); i++)
		if (interface.addresses[i] == address)
			return static_cast<unsigned>(i);
	/* All of 127/8 is local; a context has an address of its own from it, in the place of the first. */
	if (interface.is_loopback && is_ipv4_loopback(address) && !interface.addresses.empty() &&
		is_ipv4_loopback(interface.addresses.front()))
		return 0;
	return {};
}

} // namespace

std::optional<Device> find_device(const Address &local)
{
	for (const InterfaceInfo &interface : soft::list_interfaces()) {
		const std::optional<unsigned> index = index_in(interface, local);
		if (!index)
			continue;
		Device device{device_name(interface), 0, interface.is_loopback, *index, interface.index,
			payload_mtu(interface.mtu)};
		if (look_up(device))
			return device;
	}
	return {};
}

std::vector<std::string> network_devices()
{
	std::vector<std::string> names;
	for (const InterfaceInfo &interface : soft::list_interfaces())
		if (!interface.is_loopback)
			names.push_back(device_name(interface));
	return names;
}

bool is_local(const Address &address)
{
	for (const InterfaceInfo &interface : soft::list_interfaces())
		if (index_in(interface, address))
			return true;
	return false;
}

std::vector<Address> local_addresses(bool ipv4)
{
	std::vector<Address> all;
	for (const InterfaceInfo &interface : soft::list_interfaces())
		std::copy_if(interface.addresses.begin(), interface.addresses.end(), std::back_inserter(all),
			[ipv4](const Address &address) { return address.is_ipv4() == ipv4; });
	return all;
}

bool is_any(const Address &address)
{
	return address == Address{} || address == soft::address_from_ipv4(in_addr{INADDR_ANY});
}

bool is_loopback(const Address &address)
{
	Address ipv6{};
	ipv6.gid.back() = 1;
	return is_ipv4_loopback(address) || address == ipv6;
}

std::optional<Address> source_for(const Address &destination, unsigned scope)
{
	constexpr std::uint16_t any_port = 9; /* nothing is sent */
	const soft::SocketAddress to = soft::to_socket_address(destination, any_port, scope);
	const soft::FileDescriptor socket(::socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	soft::SocketAddress from{};
	socklen_t size = sizeof(from);
	if (!socket || ::connect(socket.get(), &to.any, to.size()) < 0 ||
		::getsockname(socket.get(), &from.any, &size) < 0)
		return {};
	return soft::address_from(from.any);
}

Address qp_gid(const Device &device, const Address &local, std::uint32_t qpn)
{
	if (!device.is_loopback || !is_ipv4_loopback(local) || qpn >> soft::qpn_index_bits == 0)
		return local;
	/* net/udp_port.hpp: 127.47.x.y, where x.y is the slot, the upper part of the QPN. */
	Address gid = local;
	const std::uint32_t slot = qpn >> soft::qpn_index_bits;
	gid.gid[13] = 47;
	gid.gid[14] = static_cast<std::uint8_t>(slot >> 8);
	gid.gid[15] = static_cast<std::uint8_t>(slot);
	return gid;
}

} // namespace prism::cm
