/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Allocations that fail when a test wants it to. */
#pragma once

namespace prism::test
{

/** Allocations of this thread that still succeed; negative: all. */
extern thread_local int allocations_left;
/** Called by this thread's last allocation, if there is one, instead of failing: allocations then succeed again. */
extern thread_local void (*at_the_last)();

} // namespace prism::test
