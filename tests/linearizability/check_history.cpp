/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* check-history: reads the histories that several processes have recorded and decides if they are linearizable. */
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/command_line.hpp"
#include "checker.hpp"
#include "history.hpp"

namespace
{

using namespace prism::test;

constexpr int exit_malformed = 2;

int run(const std::vector<std::filesystem::path> &files, const CheckOptions &options)
{
	auto history = read_histories(files);
	if (!history) {
		fmt::print(stderr, "{}\n", history.error().message);
		return exit_malformed;
	}
	const auto start = std::chrono::steady_clock::now();
	const CheckReport report = check(*std::move(history), options);
	const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
	for (const Finding &finding : report.findings)
		fmt::print("{}\n", describe(finding, "key"));
	fmt::print("{}: {} operations on {} keys, {} keys with a finding, at most {} operations at a time and {} "
		   "configurations, {:.2f} s\n",
		name_of(report.verdict), report.operations, report.keys, report.bad_keys, report.most_concurrent,
		report.most_configurations, seconds.count());
	if (report.verdict == Verdict::linearizable)
		return 0;
	return report.verdict == Verdict::violated ? 1 : exit_malformed;
}

} // namespace

int main(int argc, char **argv)
{
	std::vector<std::filesystem::path> files;
	CheckOptions options;
	prism::cli::CommandLine app{"Checks recorded histories of a key-value store for linearizability.\n"
				    "Ends with 0 if they are, 1 if they are not, 2 if that could not be decided."};
	app.add_option("FILE", files, "written by HistoryWriter, one or more")
		.required()
		.check(prism::cli::ExistingFile());
	app.add_option("--findings", options.findings, "report so many keys");
	app.add_option("--effort", options.effort, "configurations to look at for one response");
	if (const auto early = app.parse(argc, argv))
		return early->print();
	return run(files, options);
}
