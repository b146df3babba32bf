/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Checks that we understand all of a module's response. Reserved fields are 0: if a newer module gives one a meaning,
 * we must notice (prism_abi.h).
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
