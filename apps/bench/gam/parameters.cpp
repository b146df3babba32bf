/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/parameters.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gam/membership/master_location.hpp"

namespace prism::gam::micro
{

namespace
{

template <typename Enum>
using Word = std::pair<Enum, std::string_view>;

constexpr std::array<Word<Operation>, 4> operations{{
	{Operation::read_write, "rw"},
	{Operation::lock, "lock"},
	{Operation::lock_access, "lock-access"},
	{Operation::try_lock, "try"},
}};
constexpr std::array<Word<Protocol>, 2> protocols{{
	{Protocol::directory, "directory"},
	{Protocol::latch, "latch"},
}};
constexpr std::array<Word<Consistency>, 3> consistencies{{
	{Consistency::pso, "pso"},
	{Consistency::tso, "tso"},
	{Consistency::sc, "sc"},
}};
constexpr std::array<Word<Case>, 8> cases{{
	{Case::read_hit, "read-hit"},
	{Case::write_hit, "write-hit"},
	{Case::clean_miss, "clean-miss"},
	{Case::write_miss, "write-miss"},
	{Case::write_shared, "write-shared"},
	{Case::dirty_miss, "dirty-miss"},
	{Case::evict_shared, "evict-shared"},
	{Case::evict_dirty, "evict-dirty"},
}};
constexpr std::array<Word<HomeState>, 3> home_states{{
	{HomeState::waits, "waits"},
	{HomeState::sleeps, "sleeps"},
	{HomeState::computes, "computes"},
}};

template <typename Enum>
std::vector<cli::Choice<Enum>> choices_of(std::span<const Word<Enum>> words)
{
	std::vector<cli::Choice<Enum>> choices;
	for (const auto &[value, word] : words)
		choices.push_back({std::string(word), value});
	return choices;
}

template <typename Enum>
std::string_view word_of(std::span<const Word<Enum>> words, Enum value) noexcept
{
	const auto found =
		std::find_if(words.begin(), words.end(), [&](const auto &word) { return word.first == value; });
	return found == words.end() ? "workload" : found->second;
}

constexpr double default_duration = 3;
constexpr double default_virtual_duration = 0.05;
constexpr std::uint64_t default_misses = 2000;
constexpr std::uint64_t default_hits = 1'000'000;

constexpr double percent = 100;

struct HardwareOption {
	std::string_view name;
	double simulated::Hardware::*member;
	std::string_view help;
};
constexpr std::array<HardwareOption, 9> hardware_options{{
	{"--hop", &simulated::Hardware::hop, "usec from a NIC to another one"},
	{"--loopback", &simulated::Hardware::loopback, "usec from a node to its own NIC, and back"},
	{"--gigabits", &simulated::Hardware::gigabits, "A second, of the link of a node, for what it sends"},
	{"--packet-cost", &simulated::Hardware::packet, "usec of a NIC for each message or answer that comes"},
	{"--request-cost", &simulated::Hardware::request, "usec of a NIC for each request that it executes"},
	{"--message-cost", &simulated::Hardware::message, "usec of a processor for each message that comes"},
	{"--completion-cost", &simulated::Hardware::completion, "usec of a processor for the completion of a chain"},
	{"--post-cost", &simulated::Hardware::post, "usec of a processor for each message or chain that it posts"},
	{"--hit-cost", &simulated::Hardware::hit, "usec of a thread for each access, whatever comes of it"},
}};
constexpr double smallest_cost = 0.001, largest_cost = 1e6;

/* Values in percent, as in the paper. */
struct Given {
	double reads = 50;
	double remote = 100;
	double shared = 0;
	double space = 0;
	double time = 0;
	double cache = 15;
};

void add_cluster_options(cli::CommandLine &app, ClusterOptions &cluster, Given &given)
{
	app.add_option("--nodes,--of", cluster.nodes, "Nodes of the cluster").capture_default_str();
	app.add_flag("--pin", cluster.pins, "Each node's process keeps to a processor of its own, if there are enough");
	const cli::Option in_process =
		app.add_flag("--in-process", cluster.in_process, "All nodes are in this process, without a device");
	app.add_option("--master", cluster.master,
		   "HOST:PORT of prism-gam-master: be one node of its cluster (default: start all nodes and a master)")
		.check(check_master)
		.excludes(in_process);
	app.add_option("--address", cluster.address, "Where the other nodes reach this one, with --master")
		.capture_default_str();
	app.add_option("-d,--ib-dev", cluster.device, "RDMA device (default: the first userspace device)");
	app.add_choice<Protocol>("--protocol", cluster.protocol, choices_of<Protocol>(protocols),
		"How caches agree (default: directory)");
	app.add_choice<Consistency>("--consistency", cluster.consistency, choices_of<Consistency>(consistencies),
		"Which accesses pass each other (default: pso)");
	app.add_flag("!--uncached", cluster.cached, "No node has copies of others' blocks");
	app.add_option("--cache", given.cache, "Lines of a node's cache, in percent of its threads' blocks")
		.capture_default_str();
	app.add_option("--timeout", cluster.timeout, "Seconds that nodes wait for each other")
		.check(cli::PositiveNumber())
		.check(cli::Seconds())
		.capture_default_str();
}

void add_workload_options(cli::CommandLine &app, Workload &workload, Given &given)
{
	const auto add_ratio = [&app](const char *name, double &target, const char *help) {
		app.add_option(name, target, help).check(cli::Range(0.0, percent)).capture_default_str();
	};
	app.add_choice<Operation>("--operation", workload.operation, choices_of<Operation>(operations),
		"What is done with an item: read or write it, lock it, lock and access it, try to lock it (default: "
		"rw)");
	add_ratio("--read-ratio", given.reads, "Percent of the operations that read, or lock for reading");
	add_ratio("--remote-ratio", given.remote, "Percent of a thread's own blocks that are at other nodes");
	add_ratio("--sharing-ratio", given.shared, "Percent of the working set that all threads have");
	add_ratio("--space-locality", given.space, "Percent of the operations that go to the next item");
	add_ratio("--time-locality", given.time, "Percent of the operations that go to the same item");
	app.add_option("--blocks", workload.blocks, "Blocks of 512 bytes of a thread's working set")
		.capture_default_str();
	app.add_option("--seed", workload.seed, "The same seed, the same operations").capture_default_str();
}

void add_case_options(cli::CommandLine &app, RunOptions &run)
{
	app.add_choice<Case>("--case", run.single, choices_of<Case>(cases),
		"A single case in place of the workload: node 0 is the home, node 1 does the operations");
	app.add_choice<HomeState>("--home", run.home, choices_of<HomeState>(home_states),
		"What the home's thread does in a case (default: waits)");
	app.add_option("--piece", run.piece, "usec that a home computes between two polls").capture_default_str();
}

void add_simulation_options(cli::CommandLine &app, ClusterOptions &cluster, simulated::Hardware &hardware)
{
	app.add_flag("--simulated", cluster.simulated,
		"All nodes are in this process, in virtual time, on hardware that these say:");
	app.add_flag("--forwards", cluster.forwards,
		"Who owns a block sends it to who asks, as the paper has it, in place of by the home");
	for (const auto &[name, member, help] : hardware_options) {
		app.add_option(std::string(name), hardware.*member, std::string(help))
			.check(cli::Range(smallest_cost, largest_cost))
			.capture_default_str();
	}
}

void add_amount_options(cli::CommandLine &app, RunOptions &run)
{
	app.add_option("--threads", run.threads, "Threads of each node").capture_default_str();
	const cli::Option duration =
		app.add_option("-D,--duration", run.duration, "Seconds to measure (default 3; simulated: 0.05)")
			.check(cli::Seconds());
	app.add_option("-n,--operations", run.operations,
		   "Operations of each thread instead (default, of cases: 2000; of hits: 1,000,000)")
		.excludes(duration);
	app.add_option("--warm-up", run.warm_up, "Seconds before that, not measured")
		.check(cli::Seconds())
		.capture_default_str();
	app.add_option("--timed", run.timed, "Of so many operations one is timed").capture_default_str();
}

bool says_hardware(cli::CommandLine &app)
{
	return std::any_of(hardware_options.begin(), hardware_options.end(),
		[&app](const HardwareOption &option) { return app.count(std::string(option.name)) > 0; });
}

void apply(const Given &given, RunOptions &run)
{
	run.workload.reads = given.reads / percent;
	run.workload.remote = given.remote / percent;
	run.workload.shared = given.shared / percent;
	run.workload.space = given.space / percent;
	run.workload.time = given.time / percent;
	run.cluster.cache = given.cache / percent;
	if (run.duration > 0 || run.operations > 0)
		return;
	if (run.single == Case::none)
		run.duration = run.cluster.simulated ? default_virtual_duration : default_duration;
	else
		run.operations = is_hit(run.single) ? default_hits : default_misses;
}

} // namespace

std::string_view name_of(Operation operation) noexcept
{
	return word_of<Operation>(operations, operation);
}

std::string_view name_of(Protocol protocol) noexcept
{
	return word_of<Protocol>(protocols, protocol);
}

std::string_view name_of(Consistency consistency) noexcept
{
	return word_of<Consistency>(consistencies, consistency);
}

std::string_view name_of(Case single) noexcept
{
	return word_of<Case>(cases, single);
}

std::string_view name_of(HomeState home) noexcept
{
	return word_of<HomeState>(home_states, home);
}

std::variant<Parameters, cli::EarlyExit> parse_parameters(int argc, const char *const *argv)
{
	Parameters parameters;
	RunOptions &run = parameters.run;
	Given given;
	cli::CommandLine app("Measures the memory that nodes share: a workload with some ratio of everything, or a "
			     "single case of a protocol.",
		program);
	add_cluster_options(app, run.cluster, given);
	add_workload_options(app, run.workload, given);
	add_case_options(app, run);
	add_amount_options(app, run);
	add_simulation_options(app, run.cluster, parameters.hardware);
	app.add_option("--json,--out_json_file", parameters.json_file, "Write a report to this file");
	app.add_help_and_version(program);
	if (std::optional<cli::EarlyExit> early = app.parse(program, argc, argv))
		return *std::move(early);
	if (app.count("--home") && run.single == Case::none)
		return cli::usage_error(program, "--home is of single cases: say which --case as well");
	if (!run.cluster.simulated && says_hardware(app))
		return cli::usage_error(
			program, "what the hardware costs is of simulated nodes: say --simulated as well");
	if (!app.count("--remote-ratio") && run.cluster.nodes == 1)
		given.remote = 0;
	apply(given, run);
	if (const Result<void> checked = check(run); !checked)
		return cli::usage_error(program, checked.error().message);
	return parameters;
}

} // namespace prism::gam::micro
