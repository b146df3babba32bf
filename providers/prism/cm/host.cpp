/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "host.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <string_view>

#include "../launcher/soft_device.h"
#include "net/file_descriptor.hpp"
#include "net/interfaces.hpp"
#include "net/slot.hpp"
#include "net/socket_address.hpp"
#include "verbs/device.hpp"

namespace prism::cm
{

namespace
{

using soft::InterfaceInfo;
using soft::is_ipv4_loopback;

struct FreeDeviceList {
	void operator()(ibv_device **list) const { ibv_free_device_list(list); }
};

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
		Device device{soft::device_name(interface.name), 0, interface.is_loopback, *index, interface.index,
			static_cast<std::uint8_t>(soft::active_mtu(interface.mtu))};
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
			names.push_back(soft::device_name(interface.name));
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
	return soft::loopback_address(qpn >> soft::qpn_index_bits);
}

} // namespace prism::cm
