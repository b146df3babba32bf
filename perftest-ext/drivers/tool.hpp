/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "common/parameters.hpp"

namespace prism::perftest
{

/** Runs the whole program: reads the command line, is server or client, prints. @return the exit code. */
int run_tool(const Tool &tool, int argc, const char *const *argv);

} // namespace prism::perftest
