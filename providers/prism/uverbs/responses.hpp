/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Whether we know all that a response of the module says. Reserved fields are 0; should a newer module give them a
 * meaning, it must not be missed (prism_abi.h).
 */
#pragma once

#include "prism_abi.h"

namespace prism::uverbs
{

inline bool understood(const prism_abi_mmap &where)
{
	return !where.reserved;
}

inline bool understood(const prism_abi_alloc_ucontext_resp &resp)
{
	return !resp.reserved[0] && !resp.reserved[1] && !resp.reserved_2;
}

inline bool understood(const prism_abi_create_ah_resp &resp)
{
	return !resp.reserved;
}

inline bool understood(const prism_abi_create_srq_resp &resp)
{
	return !resp.reserved;
}

} // namespace prism::uverbs
