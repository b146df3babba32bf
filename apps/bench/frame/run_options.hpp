/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The options of a run that all drivers have. */
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <prism/result.hpp>

#include "base/command_line.hpp"
#include "bench/frame/clock.hpp"

namespace prism::bench
{

struct CommonOptions {
	std::uint64_t seed = 1;
	unsigned threads = 1; /**< of each process */

	double warm_up = 0;         /**< seconds */
	double duration = 0;        /**< seconds to measure; 0: requests */
	std::uint64_t requests = 0; /**< to measure, of all clients together */
	double drain = 10;          /**< seconds without any end after which requests are given up */
	bool yield = false;         /**< give up the core after a turn in which nothing ended */

	std::FILE *progress = nullptr;           /**< stream for a progress bar; not owned; may be null */
	const Clock *clock = &monotonic_clock(); /**< not owned */
};

/** Default of CommonOptions::duration, in a command line that has no length. */
constexpr double default_duration = 5;

/** Adds options for the length of a run. @param requests a word for them, such as "calls". */
void add_length_options(cli::CommandLine &app, CommonOptions &run, const std::string &requests);

/** Returns the error of an option that makes no sense. */
[[nodiscard]] inline Error refuse(std::string_view what, std::string_view next_step)
{
	return make_error(EINVAL, what, next_step);
}

/** Refuses a run of no certain length. @param requests a word for them, such as "calls". */
[[nodiscard]] Result<void> check_length(const CommonOptions &run, const std::string &requests);

} // namespace prism::bench
