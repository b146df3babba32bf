/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* prism-stat: shows the counters of this host's PRISM devices, as vmstat does for the machine. */
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "stat/contexts.hpp"
#include "stat/kernel_devices.hpp"
#include "stat/rates.hpp"
#include "stat/report.hpp"
#include "stat/source.hpp"

namespace
{

using namespace prism::stat;
namespace cli = prism::cli;

constexpr int done = 0, failed = 1, usage = 2;
constexpr double shortest_interval = 0.05, longest_interval = 86400;
constexpr unsigned rows_a_title = 24;

struct Options {
	Filter filter;
	double interval = 1;
	std::uint64_t count = 0; /* of intervals; 0, which cannot be given: runs until interrupted */
	bool once = false;
	bool json = false;
	bool counters = false;
	bool zeros = false;
	std::string folder = "/sys/class/infiniband";
};

double now()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/** Reports each problem only once, however often it is seen. */
class Complaints
{
public:
	void about(const Snapshot &snapshot)
	{
		for (const std::string &text : snapshot.refused)
			say(text);
		if (snapshot.hidden && !hidden_said_) {
			say(fmt::format(
				"{} processes may not be looked at (ptrace(2)); root sees all", snapshot.hidden));
			hidden_said_ = true;
		}
	}

private:
	void say(const std::string &text)
	{
		if (said_.insert(text).second)
			cli::complain(text);
	}

	std::set<std::string> said_;
	bool hidden_said_ = false; /* once only, as their number varies */
};

/** Reads all sources. @return 0, or the errno value that /proc gives for the process that the filter names. */
int look(const Options &options, Snapshot &snapshot)
{
	snapshot.time = now();
	const int error = add_contexts(options.filter, snapshot);
	add_kernel_devices(options.folder, options.filter, snapshot);
	return error;
}

void print_once(const Options &options, const Snapshot &snapshot)
{
	if (options.json) {
		fmt::print("{}\n", json(snapshot, {}));
		return;
	}
	for (const Source &source : snapshot.sources)
		fmt::print("{}", totals(source, options.zeros));
	if (snapshot.sources.empty())
		cli::complain("no PRISM device is open");
}

std::vector<Interval> compare(const Snapshot &earlier, const Snapshot &snapshot)
{
	std::vector<Interval> all;
	for (const Source &source : snapshot.sources)
		all.emplace_back(source, find_again(earlier, source), snapshot.time - earlier.time);
	return all;
}

/** Prints the changes between two snapshots, as the options ask. */
class Printer
{
public:
	explicit Printer(const Options &options) : options_(options) {}

	void print(const Snapshot &earlier, const Snapshot &snapshot)
	{
		const std::vector<Interval> intervals = compare(earlier, snapshot);
		if (options_.json) {
			fmt::print("{}\n", json(snapshot, intervals));
		} else if (options_.counters) {
			for (const Interval &interval : intervals)
				fmt::print("{}", moving(interval));
			fmt::print("\n");
		} else {
			print_rows(intervals);
		}
		std::fflush(stdout);
	}

private:
	void print_rows(const std::vector<Interval> &intervals)
	{
		if (rows_ == 0 || rows_ + intervals.size() > rows_a_title) {
			fmt::print("{}\n", titles());
			rows_ = 1;
		}
		for (const Interval &interval : intervals)
			fmt::print("{}\n", row(interval));
		if (intervals.size() != 1) /* one alone reads better without blank lines */
			fmt::print("{}\n", intervals.empty() ? "no PRISM device is open" : "");
		rows_ += static_cast<unsigned>(intervals.size());
	}

	const Options &options_;
	unsigned rows_ = 0; /* since the titles, which are counted too */
};

int complain_of_process(const Options &options, int error)
{
	cli::complain(fmt::format(
		"process {}: {}", options.filter.pid, error == ENOENT ? "there is none" : std::strerror(error)));
	return failed;
}

int run(const Options &options)
{
	Complaints complaints;
	Snapshot earlier;
	if (const int error = look(options, earlier))
		return complain_of_process(options, error);
	complaints.about(earlier);
	if (options.once) {
		print_once(options, earlier);
		return done;
	}
	Printer printer(options);
	auto next = std::chrono::steady_clock::now();
	for (std::uint64_t i = 0; options.count == 0 || i < options.count; i++) {
		next += std::chrono::duration_cast<std::chrono::nanoseconds>(
			std::chrono::duration<double>(options.interval));
		std::this_thread::sleep_until(next);
		Snapshot snapshot;
		if (const int error = look(options, snapshot))
			return complain_of_process(options, error);
		complaints.about(snapshot);
		printer.print(earlier, snapshot);
		if (std::ferror(stdout))
			return failed; /* the reader is gone */
		earlier = std::move(snapshot);
	}
	return done;
}

/** Returns the reason why the folder cannot be looked at, or nothing. */
std::string check_folder(const std::string &folder)
{
	std::error_code error;
	(void)std::filesystem::directory_iterator(folder, error);
	return error ? folder + ": " + error.message() : "";
}

void add_options(cli::CommandLine &app, Options &options)
{
	app.add_version("prism-stat");
	app.add_option("interval", options.interval, "Seconds between two reports")
		.check(cli::Range(shortest_interval, longest_interval))
		.capture_default_str();
	app.add_option("count", options.count, "Number of reports, from 1 (default: until interrupted)")
		.check(cli::PositiveNumber());
	app.add_option("-d,--device", options.filter.device, "This device alone");
	app.add_option("-p,--pid", options.filter.pid, "The contexts of this process alone")
		.check(cli::PositiveNumber());
	app.add_flag("-1,--once", options.once, "Print what was counted since each context was opened, and exit");
	const cli::Option counters = app.add_flag(
		"-c,--counters", options.counters, "Report every counter that moves, not a line of the usual");
	app.add_flag("-z,--zeros", options.zeros, "With --once: counters that are 0, too");
	app.add_flag("-j,--json", options.json, "Print one JSON object a report").excludes(counters);
	app.add_option("--sysfs", options.folder, "Where the kernel shows its RDMA devices")
		.check(check_folder)
		.capture_default_str();
}

} // namespace

int main(int argc, char **argv)
{
	cli::CommandLine app{"Show what the PRISM devices of this host count."};
	Options options;
	add_options(app, options);
	if (const auto early = app.parse(argc, argv)) {
		const int code = early->print();
		return early->code ? usage : code;
	}
	return cli::run_program([&] { return run(options); });
}
