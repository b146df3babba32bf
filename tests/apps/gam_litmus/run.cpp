/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "run.hpp"

#include <atomic>
#include <functional>
#include <random>
#include <vector>

#include "base/cpu_relax.hpp"
#include "gam/api/pointer.hpp"
#include "gam/fibers.hpp"

namespace prism::gam::litmus
{

namespace
{

using Variable = Pointer<std::uint64_t>;

/** Runs of a program between two barriers; each instance has its own variables. */
constexpr std::size_t instances = 32;

struct Instance {
	std::array<Variable, most_variables> variables;
	Outcome outcome;
};

/** Barrier for threads, which answer other nodes while they wait. */
class Meeting
{
public:
	explicit Meeting(std::size_t threads) : threads_(threads) {}

	void meet(Node &node)
	{
		const std::size_t turn = turn_.load();
		if (arrived_.fetch_add(1) + 1 == threads_) {
			arrived_ = 0;
			turn_++;
			return;
		}
		node.wait_until([&] { return turn_.load() != turn; });
	}

private:
	const std::size_t threads_;
	std::atomic<std::size_t> arrived_{0};
	std::atomic<std::size_t> turn_{0};
};

class Run
{
public:
	Run(const Test &test, std::span<Node *const> nodes, const RunOptions &options)
		: test_(test), nodes_(nodes), options_(options), everybody_(test.threads.size() + idle_nodes()),
		  instances_(instances)
	{
	}

	Count run()
	{
		std::vector<std::function<void()>> players;
		for (std::size_t i = 0; i < test_.threads.size(); i++)
			players.emplace_back([this, i] { play(i); });
		/* Nodes without a thread answer requests for their memory. */
		for (Node *const node : idle())
			players.emplace_back([this, node] { stand_by(*node); });
		test::play(std::move(players), {}, options_.in_turns);
		return count_;
	}

private:
	[[nodiscard]] Node &node_of(std::size_t thread) const
	{
		return *nodes_[options_.one_node ? 0 : thread % nodes_.size()];
	}
	[[nodiscard]] std::vector<Node *> idle() const
	{
		std::vector<Node *> without;
		for (Node *const node : nodes_) {
			bool has_thread = false;
			for (std::size_t i = 0; i < test_.threads.size(); i++)
				has_thread |= &node_of(i) == node;
			if (!has_thread)
				without.push_back(node);
		}
		return without;
	}
	[[nodiscard]] std::size_t idle_nodes() const { return idle().size(); }
	[[nodiscard]] std::uint64_t batches() const { return (options_.rounds + instances - 1) / instances; }

	void note(int error)
	{
		if (error)
			failed_++;
	}

	void stand_by(Node &node)
	{
		for (std::uint64_t meeting = 0; meeting < 1 + 3 * batches(); meeting++)
			everybody_.meet(node);
	}

	void allocate(Session &session)
	{
		for (std::size_t i = 0; i < instances_.size(); i++) {
			Address address;
			for (std::size_t variable = 0; variable < most_variables; variable++) {
				const std::size_t shift = options_.one_home ? 0 : variable;
				const NodeId home = nodes_[(i + shift + options_.one_node) % nodes_.size()]->self();
				if (variable == 0 || !options_.one_block)
					note(session.malloc(block_size, address, Placement::near(Address(home, 0))));
				instances_[i].variables[variable] =
					Variable(address + (options_.one_block ? variable * 8 : 0));
			}
		}
	}

	void play(std::size_t thread)
	{
		Node &node = node_of(thread);
		Session session(node);
		std::minstd_rand random(static_cast<unsigned>(options_.seed * most_threads + thread));
		if (thread == 0)
			allocate(session);
		everybody_.meet(node);
		for (std::uint64_t batch = 0; batch < batches(); batch++) {
			prepare(session, random);
			everybody_.meet(node);
			for (Instance &instance : instances_) {
				keep_step(thread, node);
				play(session, random, test_.threads[thread], instance);
			}
			note(session.mfence());
			everybody_.meet(node);
			if (thread == 0)
				collect(session);
			everybody_.meet(node);
		}
	}

	/** Fills the node's cache: when the programs begin, it has copies of some variables and owns others. */
	void prepare(Session &session, std::minstd_rand &random)
	{
		for (const Instance &instance : instances_) {
			for (const Variable &variable : instance.variables) {
				std::uint64_t value;
				switch (random() % 4) {
				case 0:
				case 1:
					note(variable.read(session, value));
					break;
				case 2:
					note(variable.write(session, 0));
				}
			}
		}
		note(session.mfence());
	}

	/**
	 * Makes fibers begin each instance together; else a thread that only writes would finish all instances before
	 * others read.
	 */
	void keep_step(std::size_t thread, Node &node)
	{
		if (!options_.in_turns)
			return;
		const std::uint64_t mine = ++begun_[thread];
		node.wait_until([&] {
			for (std::size_t other = 0; other < test_.threads.size(); other++) {
				if (begun_[other] < mine)
					return false;
			}
			return true;
		});
	}

	void play(Session &session, std::minstd_rand &random, const std::vector<Step> &program, Instance &instance)
	{
		for (auto skew = random() % 64; !options_.in_turns && skew > 0; skew--)
			cpu_relax();
		for (const Step &step : program) {
			for (auto turns = random() % 32; options_.in_turns && turns > 0; turns--)
				test::Fibers::yield();
			const Variable &variable = instance.variables[step.variable];
			if (step.kind == StepKind::read) {
				note(variable.read(session, instance.outcome.registers[step.operand]));
				continue;
			}
			note(variable.write(session, step.operand));
			if (options_.fenced)
				note(session.mfence());
		}
	}

	void collect(Session &session)
	{
		for (Instance &instance : instances_) {
			for (std::size_t i = 0; i < most_variables; i++) {
				note(instance.variables[i].read(session, instance.outcome.variables[i]));
				note(instance.variables[i].write(session, 0));
			}
			count_.rounds++;
			count_.seen += test_.seen(instance.outcome);
			instance.outcome = {};
		}
		note(session.mfence());
		count_.failed = failed_;
	}

	const Test &test_;
	const std::span<Node *const> nodes_;
	const RunOptions options_;
	Meeting everybody_;
	std::vector<Instance> instances_;
	std::atomic<std::uint64_t> failed_{0};
	std::array<std::uint64_t, most_threads> begun_{}; /* instances, by fibers */
	Count count_;
};

} // namespace

Count run(const Test &test, std::span<Node *const> nodes, const RunOptions &options)
{
	return Run(test, nodes, options).run();
}

} // namespace prism::gam::litmus
