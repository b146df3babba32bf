/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <mutex>
#include <string>

#include "../net/interfaces.hpp"

extern "C" {
#include "prism_wire.h"
}

namespace prism
{
class DirectVerbs;
}

namespace prism::soft
{

const DirectVerbs &direct_verbs();

/** Returns the name of the device on an interface. */
inline std::string device_name(const std::string &interface)
{
	return "prism_" + interface;
}

inline std::uint32_t mtu_bytes(ibv_mtu mtu)
{
	return 128u << mtu;
}

/** Returns the largest MTU that fits the interface: IPv6, UDP, the largest request header and the ICRC come on top
 * of the payload. */
inline ibv_mtu active_mtu(unsigned interface_mtu)
{
	constexpr unsigned header_room = 40 + 8 + PRISM_MAX_REQUEST_HEADER + 4;
	ibv_mtu mtu = IBV_MTU_256;
	for (const ibv_mtu larger : {IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096})
		if (mtu_bytes(larger) + header_room <= interface_mtu)
			mtu = larger;
	return mtu;
}

/**
 * Returns the lock for listing and opening devices, libibverbs's too. It is held over a fork: else a child would find
 * the lock of libibverbs's list, and those of one-time initialisations, held for ever by a thread that it does not
 * have.
 */
std::mutex &setup_lock();
/**
 * Returns the device on @p interface with one more reference, which the caller owns. It is the same one as long as the
 * interface is the same: librdmacm takes a device that it does not find in the next list for a removed one. Null if the
 * host has thousands of interfaces.
 */
ibv_device *get_device(const InterfaceInfo &interface);
/** Add and drop a reference; libibverbs drops one, too, for each entry of a list that it frees. */
void hold_device(ibv_device *device);
void put_device(ibv_device *device);
bool is_soft(const ibv_device *device);

/** Returns the length of the GID table: somewhat more than the addresses, as on every other device. */
std::uint32_t gid_table_size(ibv_context *context);
/** Returns false for an entry that holds no GID, or is outside the table. */
bool query_gid(ibv_context *context, std::uint32_t port, std::uint32_t index, ibv_gid &gid);
bool query_gid_entry(ibv_context *context, std::uint32_t port, std::uint32_t index, ibv_gid_entry &entry);

} // namespace prism::soft
