/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Common part of the examples of the global memory: processes that are nodes of one cluster.
 *
 *     example                       runs three nodes and their master on this machine
 *     example MASTER:PORT I OF      is node I of OF nodes, which a prism-gam-master elsewhere brings together
 */
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "example.hpp"
#include "gam/api/joined_node.hpp"
#include "gam/membership/master_service.hpp"

namespace example
{

using prism::gam::Address;
using prism::gam::JoinedNode;
using prism::gam::Session;

/** One of the cooperating processes. */
struct Worker {
	std::unique_ptr<JoinedNode> joined;
	std::size_t number = 0; /* from 0 on */
	std::size_t workers = 1;
	mutable std::set<std::uint64_t> lives{}; /* incarnations of the workers that have been met */

	[[nodiscard]] std::string key(const std::string &name, std::size_t of) const
	{
		return name + "/" + std::to_string(of);
	}
	/** Publishes @p address with this life, as the key stays when the node has left, and another run has the same.
	 */
	void publish(const std::string &name, Address address) const
	{
		const std::uint64_t life = joined->view().find(joined->node().self())->life.incarnation;
		must(joined->put(key(name, number), std::to_string(life) + " " + std::to_string(address.value)));
	}
	[[nodiscard]] Address address(const std::string &name, std::size_t of) const
	{
		const auto end = std::chrono::steady_clock::now() + patience;
		for (; std::chrono::steady_clock::now() < end; usleep(10000)) {
			std::istringstream text(must(joined->get(key(name, of), patience)));
			std::uint64_t life = 0, value = 0;
			text >> life >> value;
			if (is_of_this_run(life))
				return Address(value);
		}
		give_up("worker " + std::to_string(of) + " is not there");
	}
	/** Returns true if the node in this life is there, or was when it was met: it may have left since. */
	[[nodiscard]] bool is_of_this_run(std::uint64_t life) const
	{
		for (const prism::gam::Member &member : joined->view().members) {
			if (member.live() && member.life.incarnation == life)
				lives.insert(life);
		}
		return lives.contains(life);
	}
	/** Returns the address that each of the workers has published. */
	[[nodiscard]] std::vector<Address> addresses(const std::string &name) const
	{
		std::vector<Address> all;
		for (std::size_t of = 0; of < workers; of++)
			all.push_back(address(name, of));
		return all;
	}
	/** Waits until all have called this: the memory of a node that leaves is gone. Does not need the others'
	 * memory itself. */
	void await_others() const
	{
		publish("has worked", Address(joined->node().self(), number + 1));
		(void)addresses("has worked");
	}
};

/**
 * Waits until all workers have arrived: they count themselves in a global word, which each of them reads in its own
 * cache. Gives up if one of them is gone.
 */
class Barrier
{
public:
	Barrier(Address count, const Worker &worker) : count_(count), workers_(worker.addresses("is here")) {}
	void meet(Session &session)
	{
		std::uint64_t before = 0, now = 0;
		must(session.atomic(count_, 8, prism::gam::Function::add, 1, before), "barrier");
		const std::uint64_t all = (before / workers_.size() + 1) * workers_.size();
		auto complete = Clock::now();
		for (now = before + 1; now < all; session.poll()) {
			must(session.read(count_, std::as_writable_bytes(std::span(&now, 1))), "barrier");
			if (are_members(session))
				complete = Clock::now();
			else if (Clock::now() - complete > acquaintance)
				give_up("a worker is gone");
		}
	}

private:
	using Clock = std::chrono::steady_clock;
	static constexpr std::chrono::seconds acquaintance{2}; /* until all nodes know a new one */

	[[nodiscard]] bool are_members(Session &session) const
	{
		return std::ranges::all_of(
			workers_, [&](Address worker) { return session.node().is_member(worker.home()); });
	}

	Address count_;
	std::vector<Address> workers_; /* each in its worker's memory */
};

/** Joins and works; returns the exit code. */
inline int work(const std::string &master, std::size_t number, std::size_t workers,
	const std::function<int(Worker &worker)> &body)
{
	const prism::Context context = must(prism::Context::open());
	prism::gam::JoinOptions options;
	options.master = master;
	Worker worker{must(JoinedNode::join(context, options)), number, workers};
	worker.publish("is here", Address(worker.joined->node().self(), number + 1));
	const int code = body(worker);
	worker.await_others();
	must(worker.joined->leave());
	return code;
}

/** Runs @p nodes processes on this machine, with a master of their own. Returns the exit code of the first that
 * failed. */
inline int work_together(std::size_t nodes, const std::function<int(Worker &worker)> &body)
{
	const auto master = must(prism::gam::MasterService::create({.address = "127.0.0.1"}));
	std::vector<pid_t> children;
	for (std::size_t number = 0; number < nodes; number++) {
		const pid_t child = fork();
		if (child == 0)
			std::exit(finish(work("127.0.0.1:" + std::to_string(master->port()), number, nodes, body)));
		children.push_back(child);
	}
	std::jthread serving([&master] { (void)master->run(); });
	int code = 0;
	while (!children.empty()) {
		int status = 0;
		std::erase(children, waitpid(-1, &status, 0));
		if (code == 0)
			code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
		for (const pid_t child : children) {
			if (code != 0)
				kill(child, SIGTERM); /* it would wait for the one that failed */
		}
	}
	master->stop();
	return code;
}

/** Returns the number that @p text is; ends the program if it is none, or not from @p least to @p most. */
inline std::size_t number(const std::string &text, std::size_t least, std::size_t most)
{
	std::size_t value = 0;
	const char *const end = text.data() + text.size();
	const auto read = std::from_chars(text.data(), end, value);
	if (read.ec != std::errc() || read.ptr != end || value < least || value > most)
		give_up("'" + text + "' is no number from " + std::to_string(least) + " to " + std::to_string(most));
	return value;
}

inline int run_workers(int argc, char **argv, const std::function<int(Worker &worker)> &body)
{
	constexpr std::size_t alone = 3;
	if (argc == 1)
		return work_together(alone, body);
	if (argc == 4) {
		const std::size_t workers = number(argv[3], 1, prism::gam::max_nodes);
		return finish(work(argv[1], number(argv[2], 0, workers - 1), workers, body));
	}
	give_up(std::string("usage: ") + argv[0] + " [MASTER:PORT NUMBER OF]");
}

} // namespace example
