/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <infiniband/verbs.h>

#include "../net/interfaces.hpp"

namespace prism::soft
{

/** A device for @p interface with one reference, which the caller owns. */
ibv_device *make_device(const InterfaceInfo &interface);
bool is_soft(const ibv_device *device);

/** False for an entry outside the table. */
bool query_gid(ibv_context *context, std::uint32_t port, std::uint32_t index, ibv_gid &gid);
bool query_gid_entry(ibv_context *context, std::uint32_t port, std::uint32_t index, ibv_gid_entry &entry);

} // namespace prism::soft
