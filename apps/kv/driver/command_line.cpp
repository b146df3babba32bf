/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "kv/driver/command_line.hpp"

#include <thread>

#include <fmt/format.h>

#ifndef PRISM_VERSION
#define PRISM_VERSION "unknown"
#endif

namespace prism::kv
{

namespace
{

constexpr int usage = 2;

} // namespace

EarlyExit usage_error(std::string_view program, std::string_view text)
{
	return {usage, fmt::format("{0}: {1}\nTry '{0} --help'.\n", program, text)};
}

std::optional<EarlyExit> parse(CLI::App &app, std::string_view program, int argc, const char *const *argv)
{
	app.set_help_flag("-h,--help", "Print this help and exit");
	app.set_version_flag(
		"-V,--version", fmt::format("{} {}", program, PRISM_VERSION), "Print the version and exit");
	try {
		app.parse(argc, argv);
	} catch (const CLI::CallForHelp &) {
		return EarlyExit{0, app.help()};
	} catch (const CLI::CallForVersion &version) {
		return EarlyExit{0, fmt::format("{}\n", version.what())};
	} catch (const CLI::ParseError &error) {
		return usage_error(program, error.what());
	}
	return {};
}

void YieldOption::add_to(CLI::App &app)
{
	CLI::Option *option = app.add_flag("--yield", yield,
		"Give up the core when there is nothing to do (default: when there are fewer cores than threads, one "
		"for the server included)");
	app.add_flag("--no-yield", no_yield, "Never do that")->excludes(option);
}

bool YieldOption::wanted(unsigned threads) const
{
	return yield || (threads + 1 > std::thread::hardware_concurrency() && !no_yield);
}

} // namespace prism::kv
