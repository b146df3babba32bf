/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "operations/contestant.hpp"

namespace prism::perftest
{

/** READ through a pointer (or of the object itself) against one standard READ and against a chase by two. */
void add_read_contestants(Client &client, Contestants &list);

/** WRITE through a pointer (or to the object itself) against READ of the pointer and WRITE. */
void add_write_contestants(Client &client, Contestants &list);

} // namespace prism::perftest
