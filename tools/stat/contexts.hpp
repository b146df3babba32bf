/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "stat/source.hpp"

namespace prism::stat
{

/**
 * Adds the contexts of userspace devices that @p filter selects, by process, and those that could not be read.
 * @return 0, or the errno value that /proc gives for the one process that the filter names: EACCES, ENOENT.
 */
int add_contexts(const Filter &filter, Snapshot &snapshot);

} // namespace prism::stat
