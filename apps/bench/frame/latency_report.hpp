/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Latencies as the drivers print and write them: the columns of perftest, with some more percentiles. */
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>
#include <prism/result.hpp>

#include "base/command_line.hpp"
#include "bench/frame/measure.hpp"

namespace prism::bench
{

void print_line(std::FILE *out);

/** Prints the header of the columns. @param what the subject of the lines, such as "#request". */
void print_latency_columns(std::FILE *out, std::string_view what);
void print_latency(std::FILE *out, std::string_view name, const LatencyHistogram &latency);

/** Returns the latencies in usec. */
[[nodiscard]] nlohmann::json latency_to_json(const LatencyHistogram &latency);

/** @param error an errno, or 0 for those without room of their own. */
[[nodiscard]] std::string name_of_error(int error);

/** Writes @p report to @p file, unless its name is empty. */
[[nodiscard]] Result<void> write_json(const std::string &file, const nlohmann::json &report);

/**
 * Ends a driver: prints @p result and writes it to Parameters::json_file, or tells why there is none. Returns the exit
 * code. @param clean all is as it should be
 */
template <typename Parameters, typename RunResult>
[[nodiscard]] int report(const Parameters &parameters, const Result<RunResult> &result, bool clean)
{
	Result<void> reported;
	if (result) {
		print_report(stdout, parameters, *result);
		reported = write_json(parameters.json_file, make_report(parameters, *result));
	} else {
		reported = result.error();
	}
	if (!reported)
		cli::complain(reported.error().message);
	return reported && clean ? 0 : 1;
}

} // namespace prism::bench
