/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* ib_prism_scale: the rate of threads that share a context, beside that of threads with a context each; and memory. */
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <unistd.h>

#include "base/clock.hpp"
#include "base/command_line.hpp"
#include "base/processors.hpp"
#include "common/error.hpp"
#include "common/report.hpp"
#include "loop.hpp"
#include "memory.hpp"

using namespace prism;
using namespace prism::perftest;

namespace
{

constexpr std::uint32_t most_threads = 64;

struct Options {
	std::string device;
	Carrier carrier = Carrier::unset;
	std::uint32_t size = 64;
	std::uint32_t depth = 16;
	std::uint32_t threads = std::min(usable_processors(), most_threads);
	std::uint32_t rounds = 3;
	double seconds = 1;
	std::uint32_t idle = 1000;
	JsonOutput json;
};

void declare(cli::CommandLine &app, Options &options)
{
	app.add_option("-d,--ib-dev", options.device, "device (default: that of the loopback)");
	app.add_choice<Carrier>("--path", options.carrier, {{"udp", Carrier::udp}, {"local", Carrier::local}},
		"carrier of the packets (default: the device's)");
	app.add_option("-s,--size", options.size, "bytes of each READ")
		.check(cli::Range(1U, 1U << 23))
		.capture_default_str();
	app.add_option("-t,--tx-depth", options.depth, "READs under way for each thread")
		.check(cli::Range(1U, 1024U))
		.capture_default_str();
	app.add_option("--threads", options.threads, "most threads (default: processors)")
		.check(cli::Range(1U, most_threads))
		.capture_default_str();
	app.add_option("-D,--duration", options.seconds, "seconds for each number of threads, in each round")
		.check(cli::Range(0.1, 3600.0))
		.capture_default_str();
	app.add_option("--rounds", options.rounds, "interleaved rounds, of which the median counts")
		.check(cli::Range(1U, 100U))
		.capture_default_str();
	app.add_option("--idle", options.idle, "pairs of idle queue pairs, whose memory is measured; 0: none")
		.check(cli::Range(0U, 8000U))
		.capture_default_str();
	app.add_flag("--out_json", options.json.enabled, "write the report as JSON as well");
	app.add_option("--out_json_file", options.json.file, "where (default: perftest_out.json)");
}

/** Stops threads when it goes: so an error in one of them ends all. */
struct StopAtEnd {
	~StopAtEnd() { flag = true; }
	std::atomic<bool> &flag;
};

/** Runs a thread for each of @p loops. Returns the READs in 10^6 a second, of all. Throws Error. */
double rate_of(std::vector<std::unique_ptr<Loop>> &loops, double seconds)
{
	std::atomic<bool> go{false}, stop{false};
	std::vector<std::future<std::uint64_t>> threads;
	const StopAtEnd at_end{stop};
	for (const std::unique_ptr<Loop> &loop : loops)
		threads.push_back(std::async(std::launch::async, [&go, &stop, &loop] {
			while (!go && !stop)
				std::this_thread::yield();
			loop->start();
			std::uint64_t count = 0;
			while (!stop)
				count += loop->advance();
			return count;
		}));
	const std::uint64_t begin = monotonic_ns();
	go = true;
	std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
	stop = true;
	const auto passed = static_cast<double>(monotonic_ns() - begin);
	double total = 0;
	for (std::future<std::uint64_t> &thread : threads)
		total += static_cast<double>(thread.get());
	return total * 1e3 / passed;
}

double measure(const Options &options, std::uint32_t threads, bool shared)
{
	std::vector<std::unique_ptr<Device>> devices;
	std::vector<std::unique_ptr<Loop>> loops;
	for (std::uint32_t i = 0; i < threads; i++) {
		if (!shared || devices.empty())
			devices.push_back(std::make_unique<Device>(options.device, options.carrier));
		loops.push_back(std::make_unique<Loop>(*devices.back(), options.size, options.depth));
	}
	return rate_of(loops, options.seconds);
}

double median(std::vector<double> samples)
{
	const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
	std::ranges::nth_element(samples, middle);
	return *middle;
}

/** One, two, four and so on, and the most. */
std::vector<std::uint32_t> numbers_of_threads(std::uint32_t most)
{
	std::vector<std::uint32_t> numbers;
	for (std::uint32_t n = 1; n < most; n *= 2)
		numbers.push_back(n);
	numbers.push_back(most);
	return numbers;
}

/** A number of threads, and its rates in all rounds. */
struct Row {
	std::uint32_t threads;
	std::vector<double> shared{}, separate{};
};

/** Shows what is being measured, on a terminal. */
void tell(std::uint32_t round, const Options &options, std::uint32_t threads)
{
	if (::isatty(STDERR_FILENO))
		std::fprintf(stderr, "\rround %u of %u: %u threads ", round, options.rounds, threads);
}

std::vector<Row> measure_rates(const Options &options)
{
	std::vector<Row> rows;
	for (const std::uint32_t threads : numbers_of_threads(options.threads))
		rows.push_back({threads});
	for (std::uint32_t round = 1; round <= options.rounds; round++)
		for (Row &row : rows) {
			tell(round, options, row.threads);
			row.shared.push_back(measure(options, row.threads, true));
			row.separate.push_back(measure(options, row.threads, false));
		}
	if (::isatty(STDERR_FILENO))
		std::fprintf(stderr, "\r%40s\r", "");
	return rows;
}

nlohmann::json print_rates(const Options &options, const std::vector<Row> &rows)
{
	print_line(stdout);
	std::printf(" READs of %u bytes, %u under way for each thread, in 10^6 a second: medians of %u rounds\n",
		options.size, options.depth, options.rounds);
	print_line(stdout);
	std::printf(" #threads    one context  of one thread's    a context each  of one thread's\n");
	nlohmann::json results = nlohmann::json::array();
	const double shared_by_one = median(rows.front().shared), separate_by_one = median(rows.front().separate);
	for (const Row &row : rows) {
		const double shared = median(row.shared), separate = median(row.separate);
		std::printf(" %-8u %14.2f %16.2f %17.2f %16.2f\n", row.threads, shared, shared / shared_by_one,
			separate, separate / separate_by_one);
		results.push_back(
			{{"threads", row.threads}, {"one_context", row.shared}, {"context_each", row.separate}});
	}
	return results;
}

nlohmann::json print_memory(const Options &options, const MemoryUse &use)
{
	std::printf(" A context takes %.0f KiB, an idle connected queue pair %.1f KiB (of %u)\n", use.context,
		use.queue_pair, 2 * options.idle);
	return {{"context_kib", use.context}, {"queue_pair_kib", use.queue_pair}, {"queue_pairs", 2 * options.idle}};
}

void run(const Options &options)
{
	nlohmann::json memory;
	std::optional<MemoryUse> use;
	if (options.idle) /* first, while the process has not used memory that it could use again */
		use = measure_memory(options.device, options.carrier, options.idle);
	const nlohmann::json rates = print_rates(options, measure_rates(options));
	if (use)
		memory = print_memory(options, *use);
	print_line(stdout);
	const nlohmann::json info{{"test", "Scale"}, {"size", options.size}, {"tx_depth", options.depth},
		{"duration", options.seconds}, {"memory", memory}};
	if (const std::string error = options.json.write(info, rates); !error.empty())
		throw Error(error);
}

} // namespace

int main(int argc, char **argv)
{
	cli::CommandLine app("The rate of threads that share a context, beside that of threads with a context each");
	Options options;
	declare(app, options);
	app.add_version("ib_prism_scale");
	if (const auto early = app.parse(argc, argv))
		return early->print();
	try {
		run(options);
	} catch (const Error &error) {
		std::fprintf(stderr, "ib_prism_scale: %s\n", error.what());
		return static_cast<int>(error.exit_code());
	} catch (const std::exception &error) {
		std::fprintf(stderr, "ib_prism_scale: %s\n", error.what());
		return static_cast<int>(ExitCode::failed);
	}
	return cli::finish_output();
}
