/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Allocations that fail when a test wants it to. */
#pragma once

namespace prism::test
{

/** Allocations of this thread that still succeed; negative: all. */
extern thread_local int allocations_left;

} // namespace prism::test
