/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * make-history: writes the history of a simulated atomic store, or one with a fault in it, as input for check-history.
 */
#include <filesystem>
#include <string>

#include <fmt/core.h>

#include "atomic_store.hpp"
#include "base/command_line.hpp"
#include "history.hpp"

namespace
{

using namespace prism::test;

/* Makes a get in the middle of the history return an old value. */
bool make_stale(std::vector<Operation> &history)
{
	const auto middle = static_cast<std::ptrdiff_t>(history.size() / 2);
	for (auto late = history.begin() + middle; late != history.end(); ++late) {
		if (late->kind != Kind::get || late->outcome != Outcome::ok)
			continue;
		for (auto early = history.begin(); early != late; ++early) {
			if (early->key != late->key || early->kind != Kind::put || early->outcome != Outcome::ok ||
				early->value == late->value)
				continue;
			late->value = early->value;
			return true;
		}
	}
	return false;
}

} // namespace

int main(int argc, char **argv)
{
	StoreOptions options;
	std::filesystem::path file;
	std::uint64_t seed = 1;
	bool stale = false;
	prism::cli::CommandLine app{"Writes the history of a simulated atomic store"};
	app.add_option("FILE", file).required();
	app.add_option("--operations", options.operations, "operations in all");
	app.add_option("--clients", options.clients, "clients, one operation at a time each")
		.check(prism::cli::PositiveNumber());
	app.add_option("--keys", options.keys, "keys").check(prism::cli::PositiveNumber());
	app.add_option("--gets", options.gets, "percent of operations");
	app.add_option("--clears", options.clears, "percent of operations by which the store loses a key");
	app.add_option("--unknown", options.unknown, "percent of operations whose outcome nobody learns");
	app.add_option("--seed", seed, "the same seed, the same history");
	app.add_flag("--stale", stale, "let one get answer an old value");
	if (const auto early = app.parse(argc, argv))
		return early->print();
	options.longest_late = options.longest;
	std::vector<Operation> history = simulate_store(options, seed);
	if (stale && !make_stale(history)) {
		fmt::print(stderr, "no get to make stale: try more operations\n");
		return 1;
	}
	if (const auto written = write_history(file, history); !written) {
		fmt::print(stderr, "{}\n", written.error().message);
		return 1;
	}
	return 0;
}
