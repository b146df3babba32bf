/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Conversions between addresses and verbs' GIDs. */
#pragma once

#include <algorithm>
#include <iterator>

#include <infiniband/verbs.h>

#include "../net/packet.hpp"

namespace prism::soft
{

[[nodiscard]] inline ibv_gid to_gid(const Address &address)
{
	ibv_gid gid;
	std::ranges::copy(address.gid, gid.raw);
	return gid;
}

[[nodiscard]] inline Address from_gid(const ibv_gid &gid)
{
	Address address;
	std::ranges::copy(gid.raw, address.gid.begin());
	return address;
}

} // namespace prism::soft
