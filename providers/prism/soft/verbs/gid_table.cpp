/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gid_table.hpp"

#include <algorithm>

#include "../net/socket_address.hpp"

namespace prism::soft
{

Address gid_name(const InterfaceInfo &interface, const Address &address)
{
	if (interface.is_loopback && is_ipv4_loopback(address))
		return address_from_ipv4(in_addr{htonl(INADDR_LOOPBACK)});
	return address;
}

const std::vector<Address> &GidNumbers::add(const InterfaceInfo &interface)
{
	std::vector<Address> &known = seen_[{interface.name, interface.index}];
	for (const Address &address : interface.addresses) {
		const Address name = gid_name(interface, address);
		if (known.size() < max_gids && std::ranges::find(known, name) == known.end())
			known.push_back(name);
	}
	return known;
}

std::optional<GidTable::Gid> GidTable::find(std::size_t index) const
{
	if (index >= size() || !entries_[index].filled.load(std::memory_order_acquire))
		return {};
	return entries_[index].gid;
}

void GidTable::fill(std::size_t index, const Gid &gid)
{
	entries_[index].gid = gid;
	entries_[index].filled.store(true, std::memory_order_release);
}

} // namespace prism::soft
