/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "interfaces.hpp"

#include <ifaddrs.h>
#include <linux/if_addr.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <memory>
#include <new>
#include <set>
#include <utility>

#include "file_descriptor.hpp"
#include "socket_address.hpp"

namespace prism::soft
{

namespace
{

/* Fills in what the kernel reports of the link. Returns 0, or the errno if the kernel cannot be asked. */
int describe(InterfaceInfo &info)
{
	const FileDescriptor any(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	const FileDescriptor fallback(any ? -1 : ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	const int fd = any ? any.get() : fallback.get();
	if (fd < 0)
		return errno;
	ifreq request{};
	info.name.copy(request.ifr_name, IFNAMSIZ - 1);
	if (::ioctl(fd, SIOCGIFMTU, &request) == 0)
		info.mtu = static_cast<unsigned>(request.ifr_mtu);
	if (::ioctl(fd, SIOCGIFHWADDR, &request) == 0 && request.ifr_hwaddr.sa_family == ARPHRD_ETHER)
		std::copy_n(request.ifr_hwaddr.sa_data, info.hardware.size(), info.hardware.begin());
	return 0;
}

/* IPv6 addresses that the kernel lists but does not let anybody bind, with the index of their interface. */
using Unready = std::set<std::pair<Address, unsigned>>;

bool is_ready(unsigned flags)
{
	if (flags & IFA_F_DADFAILED)
		return false;
	return !(flags & IFA_F_TENTATIVE) || (flags & IFA_F_OPTIMISTIC);
}

/* 32 digits, as proc(5) has them. */
bool parse_address(const std::string &digits, Address &address)
{
	if (digits.size() != 2 * address.gid.size())
		return false;
	for (std::size_t i = 0; i < address.gid.size(); i++) {
		const char *const first = digits.data() + 2 * i;
		if (std::from_chars(first, first + 2, address.gid[i], 16).ptr != first + 2)
			return false;
	}
	return true;
}

/* Reads /proc, as getifaddrs() does not report them. Empty where there is no IPv6. */
Unready read_unready()
{
	std::ifstream file("/proc/thread-self/net/if_inet6");
	Unready list;
	std::string digits, name;
	unsigned index, prefix, scope, flags;
	while (file >> digits >> std::hex >> index >> prefix >> scope >> flags >> name) {
		Address address;
		if (!is_ready(flags) && parse_address(digits, address))
			list.emplace(address, index);
	}
	return list;
}

using AddressList = std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)>;

/* Returns null if they cannot be read. */
AddressList read_addresses()
{
	ifaddrs *head = nullptr;
	return {::getifaddrs(&head) < 0 ? nullptr : head, ::freeifaddrs};
}

bool usable(const ifaddrs &entry, const Unready &unready)
{
	if (!entry.ifa_addr || !(entry.ifa_flags & IFF_UP))
		return false;
	if (entry.ifa_addr->sa_family == AF_INET6)
		return unready.empty() ||
		       !unready.contains({address_from(*entry.ifa_addr), ::if_nametoindex(entry.ifa_name)});
	return entry.ifa_addr->sa_family == AF_INET;
}

InterfaceInfo &find_or_add(std::vector<InterfaceInfo> &list, const ifaddrs &entry)
{
	/* An alias (eth0:1) is an address of eth0, not an interface. */
	std::string name(entry.ifa_name);
	name = name.substr(0, name.find(':'));
	const auto found = std::find_if(list.begin(), list.end(), [&](const auto &info) { return info.name == name; });
	if (found != list.end())
		return *found;
	InterfaceInfo info;
	info.name = name;
	info.index = ::if_nametoindex(name.c_str());
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

std::vector<InterfaceInfo> list_interfaces(int *why)
{
	std::vector<InterfaceInfo> list;
	const Unready unready = read_unready();
	const AddressList owner = read_addresses();
	int error = owner ? 0 : errno; /* every host has some address */
	for (const ifaddrs *entry = owner.get(); entry; entry = entry->ifa_next)
		if (usable(*entry, unready))
			find_or_add(list, *entry).addresses.push_back(address_from(*entry->ifa_addr));
	for (InterfaceInfo &info : list) {
		if (const int failure = describe(info))
			error = failure;
		std::stable_sort(info.addresses.begin(), info.addresses.end(),
			[](const Address &a, const Address &b) { return rank(a) < rank(b); });
	}
	if (why)
		*why = error;
	return list;
}

bool is_ipv4_loopback(const Address &address)
{
	return address.is_ipv4() && address.gid[12] == 127;
}

std::optional<std::vector<Address>> addresses_of_this_host()
try {
	const Unready unready = read_unready();
	const AddressList owner = read_addresses();
	if (!owner)
		return {};
	std::vector<Address> list;
	for (const ifaddrs *entry = owner.get(); entry; entry = entry->ifa_next)
		if (usable(*entry, unready))
			list.push_back(address_from(*entry->ifa_addr));
	return list;
} catch (const std::bad_alloc &) {
	return {};
}

bool is_on_this_host(const Address &address)
{
	if (is_ipv4_loopback(address))
		return true;
	const auto list = addresses_of_this_host();
	return list && std::ranges::find(*list, address) != list->end();
}

bool is_loopback_of_context(const Address &address)
{
	return is_ipv4_loopback(address) && address.gid[13] == 47;
}

Address loopback_address(unsigned slot)
{
	Address address{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 47, 0, 0}};
	address.gid[14] = static_cast<std::uint8_t>(slot >> 8);
	address.gid[15] = static_cast<std::uint8_t>(slot);
	return address;
}

} // namespace prism::soft
