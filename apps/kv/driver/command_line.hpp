/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the command lines of the drivers have in common. */
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "kv/driver/parameters.hpp"

namespace prism::kv
{

/** The text of an error of usage. */
[[nodiscard]] EarlyExit usage_error(std::string_view program, std::string_view text);

/** Adds help and version to @p app and reads the line. Something if the program is to end. */
[[nodiscard]] std::optional<EarlyExit> parse(
	CLI::App &app, std::string_view program, int argc, const char *const *argv);

/** --yield and --no-yield. */
struct YieldOption {
	bool yield = false;
	bool no_yield = false;

	void add_to(CLI::App &app);
	/** @param threads of the driver; the server needs one more. */
	[[nodiscard]] bool wanted(unsigned threads) const;
};

/** An option whose value is one of @p choices. */
template <typename Enum, typename Target>
void add_choice(CLI::App &app, const std::string &name, Target &target, const std::map<std::string, Enum> &choices,
	const std::string &help)
{
	std::vector<std::string> names;
	for (const auto &[choice, value] : choices)
		names.push_back(choice);
	app.add_option_function<std::string>(
		   name, [&target, choices](const std::string &choice) { target = choices.at(choice); }, help)
		->check(CLI::IsMember(names));
}

} // namespace prism::kv
