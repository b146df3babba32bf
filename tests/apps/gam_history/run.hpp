/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Master and nodes, each a process; deaths of nodes; and the check of the histories that the nodes have recorded. */
#pragma once

#include <sys/types.h>

#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../../linearizability/history.hpp"
#include "options.hpp"

namespace gam_history
{

class Run
{
public:
	explicit Run(const Options &options);
	~Run();
	Run(const Run &) = delete;
	Run &operator=(const Run &) = delete;

	/**
	 * Runs it; this process must have one thread. Returns the number of findings that a flaw explains; nothing if
	 * there was an error that must not happen, flaw or not.
	 */
	std::optional<unsigned> go();

private:
	struct Process {
		pid_t pid = -1;
		Life life = 0;
		Place place = 0;
	};

	bool begin_master();
	Process begin_node(Place place);
	Process replacement(Place place);
	[[nodiscard]] static bool has_ended(const Process &process);
	bool await_ready();
	void disturb();
	void await_operations();
	void await_transfer(Life life) const;
	void kill_one();
	void stop_one();
	void hold_up_master() const;
	void replace_the_expelled();
	[[nodiscard]] Process &any_victim();
	/** Waits until @p process ends. */
	void end(const Process &process);
	void take(const Process &process, int status);
	void check_histories();
	[[nodiscard]] std::vector<prism::test::Operation> left_in_table(
		std::vector<prism::test::Operation> history) const;
	void fail(const std::string &what);
	[[nodiscard]] std::optional<unsigned> conclude() const;

	const Options options_;
	Stage *const stage_; /* shared with the nodes */
	std::mt19937_64 random_;
	std::string master_;
	pid_t master_process_ = -1;
	std::vector<Process> nodes_; /* live, as far as is known */
	Life next_life_ = 0;
	std::set<Life> dead_;
	unsigned expelled_ = 0; /* among the dead */
	unsigned findings_ = 0;
	bool good_ = true;
};

} // namespace gam_history
