/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/latency_report.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

namespace prism::bench
{

void print_line(std::FILE *out)
{
	fmt::print(out, "{:-<129}\n", "");
}

void print_latency_columns(std::FILE *out, std::string_view what)
{
	fmt::print(out, " {:<19}{:<13}{:<13}{:<17}{:<13}{:<11}{:<11}{:<13}{}\n", what, "#iterations", "t_min[usec]",
		"t_typical[usec]", "t_avg[usec]", "90%[usec]", "99%[usec]", "99.9%[usec]", "t_max[usec]");
}

void print_latency(std::FILE *out, std::string_view name, const LatencyHistogram &latency)
{
	fmt::print(out, " {:<19}{:<13}{:<13.2f}{:<17.2f}{:<13.2f}{:<11.2f}{:<11.2f}{:<13.2f}{:.2f}\n", name,
		latency.count(), latency.min(), latency.percentile(50), latency.mean(), latency.percentile(90),
		latency.percentile(99), latency.percentile(99.9), latency.max());
}

nlohmann::json latency_to_json(const LatencyHistogram &latency)
{
	return {
		{"n_iterations", latency.count()},
		{"t_min", latency.min()},
		{"t_typical", latency.percentile(50)},
		{"t_avg", latency.mean()},
		{"t_stdev", latency.deviation()},
		{"t_max", latency.max()},
		{"percentile_90", latency.percentile(90)},
		{"percentile_99", latency.percentile(99)},
		{"percentile_99.9", latency.percentile(99.9)},
	};
}

std::string name_of_error(int error)
{
	return error ? std::strerror(error) : "other errors";
}

Result<void> write_json(const std::string &file, const nlohmann::json &report)
{
	if (file.empty())
		return {};
	std::ofstream out(file, std::ios::trunc);
	out << report.dump(2) << '\n';
	out.close();
	if (!out)
		return make_error(errno ? errno : EIO, "writing " + file);
	return {};
}

} // namespace prism::bench
