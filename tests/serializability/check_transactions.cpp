/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* check_transactions: decides if the transactions that several processes have recorded were serializable. */
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/command_line.hpp"
#include "cycles.hpp"
#include "history.hpp"
#include "index.hpp"
#include "replay.hpp"

namespace
{

using namespace prism::serializability;
using nlohmann::json;

constexpr int exit_violated = 1;
constexpr int exit_undecided = 2;

struct Options {
	std::vector<std::filesystem::path> files;
	bool replay = false;
	bool cycles = false; /* neither: both */
	bool strict = false;
	bool no_sessions = false;
	bool as_json = false;
	std::optional<std::uint64_t> bank;
	std::size_t findings = 10;
};

double seconds_since(std::chrono::steady_clock::time_point start)
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

json count_outcomes(const Index &index)
{
	std::uint64_t committed = 0, aborted = 0;
	const std::span<const Transaction> transactions = index.history().transactions();
	for (const Transaction &transaction : transactions) {
		committed += transaction.outcome == Outcome::committed;
		aborted += transaction.outcome == Outcome::aborted;
	}
	return {{"kind", index.lists() ? "lists" : "registers"}, {"transactions", transactions.size()},
		{"committed", committed}, {"aborted", aborted}, {"unknown", transactions.size() - committed - aborted},
		{"unknown_seen", index.seen_unknown()}, {"operations", index.history().operations().size()},
		{"keys", index.keys()}};
}

/* Results of the checks; names a requested check that is impossible with this history. */
struct Checked {
	json figures;
	std::string undecided;
};

void run_replay(const Index &index, const Options &options, Findings &findings, Checked &checked)
{
	const auto start = std::chrono::steady_clock::now();
	const ReplayResult result = replay(index, findings);
	checked.figures["replay"] = {{"replayed", result.replayed}, {"placed", result.placed},
		{"unplaced", result.unplaced}, {"readers", result.readers}, {"skipped", result.skipped},
		{"seconds", seconds_since(start)}};
	if (result.replayed == 0 && options.replay && !index.history().transactions().empty())
		checked.undecided = "no transaction that took effect has a timestamp: --replay cannot be done";
}

void run_cycles(const Index &index, const Options &options, Findings &findings, Checked &checked)
{
	const auto start = std::chrono::steady_clock::now();
	const CycleResult result =
		check_cycles(index, {.sessions = !options.no_sessions, .real_time = options.strict}, findings);
	checked.figures["cycles"] = {{"transactions", result.transactions}, {"edges", result.edges},
		{"components", result.components}, {"largest", result.largest}, {"seconds", seconds_since(start)}};
}

void run_bank(const Index &index, std::uint64_t total, Findings &findings, Checked &checked)
{
	if (index.lists()) {
		checked.undecided = "--bank: accounts are registers, and these are lists";
		return;
	}
	const std::uint64_t audits = check_bank(index, total, findings);
	checked.figures["bank"] = {{"audits", audits}};
	if (audits == 0)
		checked.undecided = "--bank: no committed transaction has read all accounts";
}

void print_json(json figures, const Findings &findings, std::string_view verdict)
{
	figures["verdict"] = verdict;
	figures["findings"] = json::array();
	figures["counts"] = findings.counts();
	for (const Finding &finding : findings.kept())
		figures["findings"].push_back(
			{{"check", finding.check}, {"name", finding.name}, {"text", finding.text}});
	fmt::print("{}\n", figures.dump(2));
}

void print_text(const json &figures, const Findings &findings, std::string_view verdict)
{
	for (const Finding &finding : findings.kept()) {
		fmt::print("{}: {}\n", finding.check, finding.name);
		std::size_t begin = 0;
		for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
			end = finding.text.find('\n', begin);
			fmt::print("    {}\n", finding.text.substr(begin, end - begin));
		}
	}
	for (const auto &[name, count] : findings.counts())
		fmt::print("{} times {}\n", count, name);
	for (const auto &[part, values] : figures.items()) {
		fmt::print("{}:", part);
		for (const auto &[name, value] : values.items()) {
			if (value.is_number_float())
				fmt::print(" {} {:.2f}", name, value.get<double>());
			else
				fmt::print(" {} {}", name, value.is_string() ? value.get<std::string>() : value.dump());
		}
		fmt::print("\n");
	}
	fmt::print("{}\n", verdict);
}

int run(const Options &options)
{
	const auto start = std::chrono::steady_clock::now();
	const auto history = read_histories(options.files);
	if (!history) {
		fmt::print(stderr, "{}\n", history.error().message);
		return exit_undecided;
	}
	const auto index = Index::make(*history);
	if (!index) {
		fmt::print(stderr, "{}\n", index.error().message);
		return exit_undecided;
	}
	Checked checked;
	checked.figures["history"] = count_outcomes(*index);
	checked.figures["history"]["seconds"] = seconds_since(start);
	Findings findings(options.findings);
	if (options.replay || !options.cycles)
		run_replay(*index, options, findings, checked);
	if (options.cycles || !options.replay)
		run_cycles(*index, options, findings, checked);
	if (options.bank)
		run_bank(*index, *options.bank, findings, checked);

	std::string verdict = options.strict ? "strictly serializable" : "serializable";
	if (findings.total() > 0)
		verdict = "not " + verdict;
	else if (!checked.undecided.empty())
		verdict = "undecided: " + checked.undecided;
	if (options.as_json)
		print_json(checked.figures, findings, verdict);
	else
		print_text(checked.figures, findings, verdict);
	if (findings.total() > 0)
		return exit_violated;
	return checked.undecided.empty() ? 0 : exit_undecided;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	prism::cli::CommandLine app{
		"Checks recorded transactions for serializability, by the order of their timestamps and by what they\n"
		"have seen of each other.\n"
		"Ends with 0 if they are serializable, 1 if they are not, 2 if that could not be decided."};
	app.add_option("FILE", options.files, "written by HistoryWriter, one or more")
		.required()
		.check(prism::cli::ExistingFile());
	app.add_flag("--replay", options.replay, "only: replay in the order of the timestamps");
	app.add_flag("--cycles", options.cycles, "only: look for cycles, without the timestamps");
	app.add_flag("--strict", options.strict, "--cycles: what had responded comes before what was called later");
	app.add_flag("--no-sessions", options.no_sessions, "--cycles: clients have no order of their own");
	app.add_option("--bank", options.bank, "registers are accounts, and have this in all");
	app.add_option("--findings", options.findings, "show so many of each name");
	app.add_flag("--json", options.as_json, "print everything as JSON");
	if (const auto early = app.parse(argc, argv))
		return early->print();
	return run(options);
}
