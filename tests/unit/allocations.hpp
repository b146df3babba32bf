/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Allocations that fail when a test wants it. */
#pragma once

namespace prism::test
{

/** So many more of this thread's allocations succeed; negative: all. */
extern thread_local int allocations_left;

} // namespace prism::test
