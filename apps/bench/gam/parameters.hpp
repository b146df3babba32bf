/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/command_line.hpp"
#include "bench/gam/options.hpp"
#include "bench/gam/simulated/hardware.hpp"

namespace prism::gam::micro
{

struct Parameters {
	RunOptions run;
	simulated::Hardware hardware; /**< hardware of simulated nodes */
	std::string json_file;        /**< empty: none */
};

inline constexpr const char *program = "prism-gam-bench";

/** Return the words of the command line. */
[[nodiscard]] std::string_view name_of(Operation operation) noexcept;
[[nodiscard]] std::string_view name_of(Protocol protocol) noexcept;
[[nodiscard]] std::string_view name_of(Consistency consistency) noexcept;
[[nodiscard]] std::string_view name_of(Case single) noexcept;
[[nodiscard]] std::string_view name_of(HomeState home) noexcept;

/** Reads the command line. An error of usage has code 2. */
[[nodiscard]] std::variant<Parameters, cli::EarlyExit> parse_parameters(int argc, const char *const *argv);

} // namespace prism::gam::micro
