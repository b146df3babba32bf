/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The command line of prism-ycsb: perftest's flags, as far as perftest has them. */
#pragma once

#include <string>
#include <variant>

#include "base/command_line.hpp"
#include "bench/ycsb/options.hpp"
#include "bench/ycsb/systems.hpp"

namespace prism::ycsb
{

struct Parameters {
	std::string system;
	SystemOptions connection;
	RunOptions run;
	std::string json_file; /**< empty: none */
	std::string metrics;   /**< address of the endpoint, for a run of one process; empty: none */
};

using cli::EarlyExit;

/** Reads the command line; one of @p systems must be named. An error of usage has code 2. */
[[nodiscard]] std::variant<Parameters, EarlyExit> parse_parameters(
	const Systems &systems, int argc, const char *const *argv);

} // namespace prism::ycsb
