/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * make_transactions: writes a history that is serializable, or one with a known fault, as input for check_transactions.
 */
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/command_line.hpp"
#include "engine.hpp"
#include "history.hpp"

namespace
{

using namespace prism::serializability;
namespace cli = prism::cli;

constexpr std::uint64_t most_accounts = 16'000; /* all balances in one account must fit it */

int run(const std::filesystem::path &folder, std::uint32_t files, const EngineOptions &options)
{
	std::vector<HistoryWriter> writers;
	for (std::uint32_t i = 0; i < files; i++) {
		auto writer = HistoryWriter::create(folder / fmt::format("{}.transactions", i), options.kind);
		if (!writer) {
			fmt::print(stderr, "{}\n", writer.error().message);
			return 1;
		}
		writers.push_back(std::move(*writer));
	}
	int error = 0;
	run_engine(options, [&](const Draft &draft) {
		const int refused = writers[draft.client % files].record(draft);
		error = error != 0 ? error : refused;
	});
	for (HistoryWriter &writer : writers) {
		const int refused = writer.close();
		error = error != 0 ? error : refused;
	}
	if (error != 0)
		fmt::print(stderr, "{}\n",
			prism::make_error(error, folder.string(), "make room, or name another folder").message);
	return error == 0 ? 0 : 1;
}

std::string find_contradiction(const EngineOptions &options)
{
	if (options.fault != Fault::none && options.keys < 2)
		return "--fault needs at least two --keys";
	if (!options.bank)
		return options.fault == Fault::wrong_balance ? "--fault wrong-balance needs --bank" : "";
	if (options.kind == HistoryKind::lists)
		return "--bank has no --lists";
	if (options.keys > most_accounts)
		return fmt::format("--bank has at most {} --keys", most_accounts);
	return options.fault == Fault::intermediate_read ? "--bank writes no account twice in a transaction" : "";
}

} // namespace

int main(int argc, char **argv)
{
	EngineOptions options;
	std::filesystem::path folder;
	std::uint32_t files = 4;
	bool lists = false;
	std::string fault, faults;
	for (const Fault known : all_faults())
		faults += fmt::format(" {}", name_of(known));
	cli::CommandLine app{
		"Writes the history of a serializable engine, as files 0.transactions, 1.transactions, ..."};
	const auto percent = cli::Range(0.0, 100.0);
	app.add_option("FOLDER", folder).required().check(cli::ExistingDirectory());
	app.add_option("--files", files, "files to spread the clients over").check(cli::Range(1, 1000));
	app.add_flag("--lists", lists, "lists that are appended to, instead of registers");
	app.add_option("--transactions", options.transactions, "transactions").check(cli::Range(0UL, 100'000'000UL));
	app.add_option("--clients", options.clients, "clients, one transaction at a time each")
		.check(cli::Range(1, 10'000));
	app.add_option("--keys", options.keys, "keys at a time").check(cli::Range(1UL, 100'000'000UL));
	app.add_option("--list-length", options.list_length, "longer lists are replaced by new ones")
		.check(cli::Range(1, 10'000));
	app.add_option("--reads", options.reads, "percent of operations").check(percent);
	app.add_option("--blind", options.blind, "percent of changes without a read before").check(percent);
	app.add_option("--erases", options.erases, "percent of changes of registers").check(percent);
	app.add_option("--aborts", options.aborts, "percent of transactions rolled back by clients").check(percent);
	app.add_option("--unknown", options.unknown, "percent of transactions of unknown outcome").check(percent);
	app.add_option("--late", options.late, "percent of reading transactions that look into the past")
		.check(percent);
	app.add_option(
		   "--unstamped", options.unstamped, "percent of reading and unknown transactions without a timestamp")
		.check(percent);
	app.add_flag("--bank", options.bank, "transfers between accounts, and audits");
	app.add_option("--fault", fault, "one fault in the middle:" + faults);
	app.add_option("--seed", options.seed, "the same seed, the same history");
	if (const auto early = app.parse(argc, argv))
		return early->print();
	if (lists)
		options.kind = HistoryKind::lists;
	if (!fault.empty()) {
		const auto found = find_fault(fault);
		if (!found) {
			fmt::print(stderr, "--fault {}: choose one of{}\n", fault, faults);
			return 1;
		}
		options.fault = *found;
	}
	if (const std::string reason = find_contradiction(options); !reason.empty()) {
		fmt::print(stderr, "{}\n", reason);
		return 1;
	}
	return run(folder, files, options);
}
