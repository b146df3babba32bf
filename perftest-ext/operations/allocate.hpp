/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "operations/contestant.hpp"

namespace prism::perftest
{

/** ALLOCATE against a FETCH_AND_ADD of a ring's cursor and a WRITE into the buffer that it names. */
void add_allocate_contestants(Client &client, Reclaim &reclaim, Contestants &list);

} // namespace prism::perftest
