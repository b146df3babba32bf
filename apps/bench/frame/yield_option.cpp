/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/yield_option.hpp"

#include <thread>

namespace prism::bench
{

void YieldOption::add_to(cli::CommandLine &app)
{
	const cli::Option option = app.add_flag("--yield", yield,
		"Give up the core when there is nothing to do (default: when there are fewer cores than threads, one "
		"for the server included)");
	app.add_flag("--no-yield", no_yield, "Never do that").excludes(option);
}

bool YieldOption::wanted(unsigned threads) const
{
	return yield || (threads + 1 > std::thread::hardware_concurrency() && !no_yield);
}

} // namespace prism::bench
