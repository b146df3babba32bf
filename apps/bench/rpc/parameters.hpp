/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The command line of prism-rpc-bench as a client: perftest's flags where perftest has one for the purpose. */
#pragma once

#include <string>
#include <variant>

#include "base/command_line.hpp"
#include "bench/rpc/options.hpp"

namespace prism::echo
{

struct Parameters {
	ServerPlace server;
	RunOptions run;
	std::string json_file; /**< empty: none */
};

inline constexpr const char *program = "prism-rpc-bench";

/** Adds --way, for both sides. */
void add_way(cli::CommandLine &app, rpc::Way &way);

/** Reads the command line. An error of usage has code 2. */
[[nodiscard]] std::variant<Parameters, cli::EarlyExit> parse_parameters(int argc, const char *const *argv);

} // namespace prism::echo
