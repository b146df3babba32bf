/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <memory>

#include "file_descriptor.hpp"
#include "socket_address.hpp"

namespace prism::soft
{

namespace
{

unsigned mtu_of(const std::string &name)
{
	const FileDescriptor any(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	const FileDescriptor fallback(any ? -1 : ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	ifreq request{};
	name.copy(request.ifr_name, IFNAMSIZ - 1);
	if (::ioctl(any ? any.get() : fallback.get(), SIOCGIFMTU, &request) < 0)
		return 0;
	return static_cast<unsigned>(request.ifr_mtu);
}

using AddressList = std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)>;

/* Null if they cannot be read. */
AddressList read_addresses()
{
	ifaddrs *head = nullptr;
	return {::getifaddrs(&head) < 0 ? nullptr : head, ::freeifaddrs};
}

bool usable(const ifaddrs &entry)
{
	if (!entry.ifa_addr || !(entry.ifa_flags & IFF_UP))
		return false;
	return entry.ifa_addr->sa_family == AF_INET || entry.ifa_addr->sa_family == AF_INET6;
}

InterfaceInfo &find_or_add(std::vector<InterfaceInfo> &list, const ifaddrs &entry)
{
	/* An alias (eth0:1) is an address of eth0, not an interface. */
	std::string name(entry.ifa_name);
	name = name.substr(0, name.find(':'));
	const auto found = std::find_if(list.begin(), list.end(), [&](const auto &info) { return info.name == name; });
	if (found != list.end())
		return *found;
	InterfaceInfo info{name, ::if_nametoindex(name.c_str()), mtu_of(name), false, {}};
	info.is_loopback = entry.ifa_flags & IFF_LOOPBACK;
	return list.emplace_back(std::move(info));
}

int rank(const Address &address)
{
	if (address.is_ipv4())
		return 0;
	return is_link_local(address) ? 2 : 1;
}

} // namespace

std::vector<InterfaceInfo> list_interfaces()
{
	std::vector<InterfaceInfo> list;
	const AddressList owner = read_addresses();
	for (const ifaddrs *entry = owner.get(); entry; entry = entry->ifa_next)
		if (usable(*entry))
			find_or_add(list, *entry).addresses.push_back(address_from(*entry->ifa_addr));
	for (InterfaceInfo &info : list)
		std::stable_sort(info.addresses.begin(), info.addresses.end(),
			[](const Address &a, const Address &b) { return rank(a) < rank(b); });
	return list;
}

bool is_ipv4_loopback(const Address &address)
{
	return address.is_ipv4() && address.gid[12] == 127;
}

bool is_on_this_host(const Address &address)
{
	if (is_ipv4_loopback(address))
		return true;
	const AddressList list = read_addresses();
	for (const ifaddrs *entry = list.get(); entry; entry = entry->ifa_next)
		if (usable(*entry) && address_from(*entry->ifa_addr) == address)
			return true;
	return false;
}

Address loopback_address(unsigned slot)
{
	Address address{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 47, 0, 0}};
	address.gid[14] = static_cast<std::uint8_t>(slot >> 8);
	address.gid[15] = static_cast<std::uint8_t>(slot);
	return address;
}

} // namespace prism::soft
