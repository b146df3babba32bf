/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The command line of prism-ycsb: perftest's flags where perftest has one for the purpose. */
#pragma once

#include <string>
#include <variant>

#include "kv/driver/options.hpp"
#include "kv/driver/systems.hpp"

namespace prism::kv
{

struct Parameters {
	std::string system;
	SystemOptions connection;
	RunOptions run;
	std::string json_file; /**< empty: none */
};

/** The program is to end before it ran: help, version or an error of usage. */
struct EarlyExit {
	int code; /**< 0, or 2 for an error of usage */
	std::string text;
};

/** Reads the command line; one of @p systems must be named. */
[[nodiscard]] std::variant<Parameters, EarlyExit> parse_parameters(
	const Systems &systems, int argc, const char *const *argv);

} // namespace prism::kv
