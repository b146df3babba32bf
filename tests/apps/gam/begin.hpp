/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "gam/cache/execute.hpp"
#include "gam/coherence/coherence.hpp"

namespace prism::gam
{

/** Begins @p access as a Session does: reads pass the protocol if they can. True: it has ended. */
inline bool begin(Coherence &node, Access &access)
{
	const bool may_pass = access.kind == AccessKind::read && !access.uncached && is_well_formed(access);
	if (!may_pass || !node.read_beside(access.at, {access.bytes, access.length}))
		return node.start(access);
	access.error = 0;
	return true;
}

} // namespace prism::gam
