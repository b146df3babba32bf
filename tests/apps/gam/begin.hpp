/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "gam/coherence/coherence.hpp"
#include "gam/coherence/execute.hpp"

namespace prism::gam
{

inline bool passes(Coherence &node, const Access &access)
{
	if (access.uncached || !is_well_formed(access))
		return false;
	if (access.kind == AccessKind::read)
		return node.read_beside(access.at, {access.bytes, access.length});
	return access.kind == AccessKind::write && node.write_beside(access.at, {access.bytes, access.length});
}

/**
 * Begins @p access as a Session does: reads and writes bypass the protocol if they can. Returns true if it has ended.
 */
inline bool begin(Coherence &node, Access &access)
{
	if (!passes(node, access))
		return node.start(access);
	access.error = 0;
	return true;
}

} // namespace prism::gam
