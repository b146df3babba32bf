/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* gam-history: checks a global memory's guarantees when nodes die; docs/prism-gam.md, "Deaths". */
#include "base/command_line.hpp"
#include "run.hpp"

int main(int argc, char **argv)
{
	using namespace gam_history;
	constexpr unsigned longest_search = 4; /* runs in which a flaw must be found: the moment of a death is random */
	namespace cli = prism::cli;
	Options options;
	unsigned lease = 1000, calm = 2000;
	cli::CommandLine app{"Nodes of a global memory that are killed and stopped, and what the others see.\n"
			     "Ends with 0 if that is as promised; with a flaw, if that was found."};
	app.add_choice<prism::gam::Protocol>("--protocol", options.protocol,
		{{"directory", prism::gam::Protocol::directory}, {"latch", prism::gam::Protocol::latch}},
		"of all nodes");
	app.add_choice<Work>("--work", options.work,
		{{"registers", Work::registers}, {"table", Work::table}, {"bank", Work::bank}}, "what all nodes do");
	app.add_choice<Flaw>("--flaw", options.flaw,
		{{"none", Flaw::none}, {"lease", Flaw::lease}, {"forwards", Flaw::forwards}, {"apart", Flaw::apart},
			{"early", Flaw::early}, {"durable", Flaw::durable}},
		"a rule that is off");
	app.add_option("--nodes", options.nodes, "that share memory").check(cli::Range(2, 16));
	app.add_option("--threads", options.threads, "of each node").check(cli::Range(1, 8));
	app.add_option("--reads", options.reads, "percent of what they do").check(cli::Range(0, 100));
	app.add_flag("--logs", options.logs, "nodes keep durable logs, and those that are killed come back by them");
	app.add_option("--kills", options.kills, "nodes that are killed, one after another");
	app.add_option("--stops", options.stops, "nodes that are stopped for longer than their lease");
	app.add_flag("--late", options.late, "the master stands still when a node is stopped");
	app.add_option("--lease", lease, "ms").check(cli::Range(50, 60000));
	app.add_option("--calm", calm, "ms without a death, in all");
	app.add_option("--seed", options.seed, "of what is done, not of when");
	app.add_option("--folder", options.folder, "for the histories; what is there is deleted");
	if (const auto early = app.parse(argc, argv))
		return early->print();
	options.lease = std::chrono::milliseconds(lease);
	options.calm = std::chrono::milliseconds(calm);
	if (options.flaw == Flaw::none)
		return Run(options).go() == 0u ? 0 : 1;
	for (unsigned run = 0; run < longest_search; run++, options.seed++) {
		const std::optional<unsigned> found = Run(options).go();
		if (!found)
			return 1;
		if (*found > 0)
			return 0;
	}
	return 1;
}
