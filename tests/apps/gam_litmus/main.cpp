/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* gam-litmus: litmus tests of docs/prism-gam.md, on nodes in this process. */
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/command_line.hpp"
#include "gam/fibers.hpp"
#include "gam/latch_cluster.hpp"
#include "run.hpp"

namespace
{

using namespace prism::gam;
namespace cli = prism::cli;

const std::map<std::string, Consistency> models{
	{"pso", Consistency::pso}, {"tso", Consistency::tso}, {"sc", Consistency::sc}};

struct Options {
	litmus::RunOptions run;
	test::ClusterOptions cluster;
	std::string protocol = "directory";
	std::string model = "pso";
	std::string promised;     /* model to judge by; empty: model */
	std::string test;         /* empty: all */
	double longest_delay = 0; /* microseconds */
	bool must_be_seen = false;
	bool forgets_acks = false; /* a control */
};

struct Verdict {
	std::uint64_t forbidden = 0; /* forbidden outcomes that were seen */
	std::uint64_t failed = 0;
	std::uint64_t unseen = 0; /* tests whose outcome is allowed but was not seen */
};

std::unique_ptr<test::Making> making(const Options &options)
{
	if (options.protocol == "directory")
		return std::make_unique<test::DirectoryMaking>(options.cluster);
	latch::Rules rules;
	rules.await_acks = !options.forgets_acks;
	return std::make_unique<test::LatchMaking>(options.cluster, rules);
}

void judge(const Options &options, const litmus::Test &test, Verdict &verdict)
{
	test::Cluster cluster(options.cluster, making(options));
	const litmus::Count count = litmus::run(test, cluster.nodes(), options.run);
	const Consistency promised = models.at(options.promised.empty() ? options.model : options.promised);
	const bool allowed = test.allowed(promised, options.run.fenced);
	verdict.forbidden += allowed ? 0 : count.seen;
	verdict.unseen += allowed && !count.seen;
	verdict.failed += count.failed;
	fmt::print("{:6} {:38} {:10} {:>12} {:>12} {:>8}\n", test.name, test.question,
		allowed ? "allowed" : "forbidden", count.seen, count.rounds, count.failed);
	std::fflush(stdout);
}

int run(const Options &options)
{
	fmt::print("{:6} {:38} {:10} {:>12} {:>12} {:>8}\n", "test", "outcome", "promise", "seen", "rounds", "errors");
	Verdict verdict;
	for (const litmus::Test &test : litmus::tests()) {
		if (options.test.empty() || options.test == test.name)
			judge(options, test, verdict);
	}
	if (verdict.forbidden)
		fmt::print("FAILED: {} outcomes that are forbidden\n", verdict.forbidden);
	if (verdict.failed)
		fmt::print("FAILED: {} calls returned errors\n", verdict.failed);
	if (options.must_be_seen && verdict.unseen)
		fmt::print("FAILED: {} tests did not show what is allowed\n", verdict.unseen);
	return verdict.forbidden || verdict.failed || (options.must_be_seen && verdict.unseen);
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	std::size_t lines = 64;
	cli::CommandLine app(
		"Runs the litmus tests of GAM's memory model, and counts the outcomes that tell models apart.");
	app.add_option("--protocol", options.protocol, "which protocol").check(cli::IsMember({"directory", "latch"}));
	app.add_option("--model", options.model, "how writes are ordered").check(cli::IsMember(models));
	app.add_option("--promised", options.promised, "judge by this model instead: a control")
		.check(cli::IsMember(models));
	app.add_option("--test", options.test, "this one alone");
	app.add_option("--rounds", options.run.rounds, "of each test");
	app.add_option("--nodes", options.cluster.nodes, "nodes of the cluster")
		.check(cli::Range(std::uint32_t{1}, std::uint32_t{64}));
	app.add_option("--lines", lines, "blocks that each node can cache");
	app.add_option("--seed", options.run.seed, "of delays and skews");
	app.add_option("--longest-delay", options.longest_delay, "microseconds that messages are held back at most");
	app.add_flag("--fences", options.run.fenced, "a fence behind each write");
	app.add_flag("--one-block", options.run.one_block, "all variables are in one block");
	app.add_flag("--one-home", options.run.one_home, "all variables have one home");
	app.add_flag("--one-node", options.run.one_node, "all threads are of one node");
	app.add_flag("!--uncached", options.cluster.node.cached, "no node keeps copies");
	app.add_flag("--in-turns", options.run.in_turns, "threads take turns in one, which is faster");
	app.add_flag("--flaw-acks", options.forgets_acks, "latch: a writer does not await acks: a control");
	app.add_flag("--must-be-seen", options.must_be_seen, "fail if what is allowed is not seen");
	if (const auto ended = app.parse("gam-litmus", argc, argv))
		return ended->print();
	options.cluster.node.consistency = models.at(options.model);
	options.cluster.lines = lines;
	options.cluster.delays = {std::chrono::nanoseconds(static_cast<std::int64_t>(options.longest_delay * 1000)),
		options.run.seed, &std::chrono::steady_clock::now};
	if (options.run.in_turns) {
		options.cluster.node.rest = &test::Fibers::yield;
		options.cluster.delays.now = &test::Fibers::now;
	}
	return run(options);
}
