/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/run_options.hpp"

namespace prism::bench
{

void add_length_options(cli::CommandLine &app, CommonOptions &run, const std::string &requests)
{
	const cli::Option duration =
		app.add_option("-D,--duration", run.duration, "Seconds to measure (default 5)").check(cli::Seconds());
	app.add_option("-n,--iters", run.requests, "Number of " + requests + " to measure instead").excludes(duration);
	app.add_option("--warm-up", run.warm_up, "Seconds before that, not measured")
		.check(cli::Seconds())
		.capture_default_str();
	app.add_option("--drain", run.drain, "Seconds without any end after which " + requests + " are given up")
		.check(cli::Seconds())
		.capture_default_str();
}

Result<void> check_length(const CommonOptions &run, const std::string &requests)
{
	if ((run.duration > 0) == (run.requests > 0))
		return refuse("how much to measure", "give either a duration or a number of " + requests);
	if (!(run.duration >= 0 && run.warm_up >= 0 && run.drain > 0))
		return refuse("a time below 0", "choose another");
	return {};
}

} // namespace prism::bench
