/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "host.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <new>
#include <string_view>

#include "../soft/verbs/device.hpp"
#include "../soft/verbs/gid.hpp"
#include "../soft/verbs/soft_device.h"
#include "net/file_descriptor.hpp"
#include "net/interfaces.hpp"
#include "net/slot.hpp"
#include "net/socket_address.hpp"

namespace prism::cm
{

namespace
{

using soft::InterfaceInfo;
using soft::is_ipv4_loopback;
using soft::to_gid;

struct FreeDeviceList {
	void operator()(ibv_device **list) const { ibv_free_device_list(list); }
};

using DeviceList = std::unique_ptr<ibv_device *, FreeDeviceList>;

/** Returns null if the program is not shown the device. */
ibv_device *find_in(const DeviceList &list, const std::string &name)
{
	for (ibv_device **entry = list.get(); entry && *entry; entry++)
		if (name == (*entry)->name && prismdv_is_soft_device(*entry))
			return *entry;
	return nullptr;
}

bool has(const InterfaceInfo &interface, const Address &address)
{
	if (std::ranges::find(interface.addresses, address) != interface.addresses.end())
		return true;
	/* All of 127/8 is local; a context has an address of its own from it, which takes the place of the first. */
	return interface.is_loopback && is_ipv4_loopback(address) &&
	       std::ranges::any_of(interface.addresses, is_ipv4_loopback);
}

/** Asks the device for the index: a table keeps its order while addresses come and go. This also makes the device
 * learn of new addresses and of the MTU. */
std::optional<unsigned> gid_index(const ibv_device *device, const InterfaceInfo &interface, const ibv_gid *wanted)
{
	std::vector<ibv_gid> gids;
	std::ranges::transform(interface.addresses, std::back_inserter(gids), to_gid);
	const ssize_t index = prismdv_soft_gid_index(device, interface.mtu, gids.data(), gids.size(), wanted);
	if (index == -ENOMEM)
		throw std::bad_alloc();
	if (index < 0)
		return {};
	return static_cast<unsigned>(index);
}

/** Throws std::bad_alloc if they cannot be read, also for want of descriptors: that does not mean that there are
 * none. */
std::vector<InterfaceInfo> interfaces()
{
	int why = 0;
	std::vector<InterfaceInfo> list = soft::list_interfaces(&why);
	if (why)
		throw std::bad_alloc();
	return list;
}

} // namespace

std::optional<Device> find_device(const Address &local)
{
	const DeviceList list(ibv_get_device_list(nullptr));
	if (!list)
		throw std::bad_alloc();
	const ibv_gid wanted = to_gid(local);
	for (const InterfaceInfo &interface : interfaces()) {
		const std::string name = soft::device_name(interface.name);
		const ibv_device *const device = has(interface, local) ? find_in(list, name) : nullptr;
		if (!device)
			continue;
		if (const std::optional<unsigned> index = gid_index(device, interface, &wanted))
			return Device{name, prismdv_soft_guid(device), interface.is_loopback, *index, interface.index,
				static_cast<std::uint8_t>(soft::active_mtu(interface.mtu))};
	}
	return {};
}

void renew_devices()
{
	const DeviceList list(ibv_get_device_list(nullptr));
	for (const InterfaceInfo &interface : interfaces())
		if (const ibv_device *const device = find_in(list, soft::device_name(interface.name)))
			static_cast<void>(gid_index(device, interface, nullptr));
}

std::map<std::string, unsigned> network_devices()
{
	std::map<std::string, unsigned> devices;
	for (const InterfaceInfo &interface : soft::list_interfaces())
		if (!interface.is_loopback)
			devices.emplace(soft::device_name(interface.name), interface.index);
	return devices;
}

bool are_local(std::initializer_list<Address> addresses)
{
	const std::vector<InterfaceInfo> list = interfaces();
	return std::ranges::all_of(addresses, [&](const Address &address) {
		return std::ranges::any_of(list, [&](const InterfaceInfo &each) { return has(each, address); });
	});
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
