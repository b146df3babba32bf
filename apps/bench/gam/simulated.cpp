/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/simulated.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "bench/gam/simulated/machines.hpp"
#include "bench/gam/simulated/session.hpp"
#include "bench/gam/working_set.hpp"

namespace prism::gam::micro
{

namespace
{

using simulated::Events;
using simulated::Machine;
using simulated::Machines;
using Task = apps::Task<void>;

Time in_time(double seconds) noexcept
{
	return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

std::uint64_t number(Time time) noexcept
{
	return static_cast<std::uint64_t>(time.count());
}

double rate_of(std::uint64_t done, Time time) noexcept
{
	return time > Time(0) ? static_cast<double>(done) * 1e9 / static_cast<double>(time.count()) : 0;
}

simulated::Shape shape_of(const RunOptions &options)
{
	simulated::Shape shape;
	if (options.cluster.protocol == Protocol::latch)
		shape.kind = simulated::Kind::latch;
	else if (options.cluster.forwards)
		shape.kind = simulated::Kind::forwards;
	shape.nodes = options.cluster.nodes;
	shape.blocks = bytes_of_node(options) / block_size;
	shape.lines = lines_of_node(options);
	return shape;
}

/** The counters and working times of all machines at some moment. */
struct Look {
	explicit Look(Machines &machines) : time(machines.events().now())
	{
		for (std::size_t i = 0; i < machines.size(); i++) {
			Machine &machine = machines.machine(static_cast<NodeId>(i));
			stats.push_back(machine.coherence().stats());
			processors.push_back(machine.processor_time());
			nics.push_back(machine.nic_time());
			links.push_back(machine.link_time());
		}
	}

	Time time;
	std::vector<CoherenceStats> stats;
	std::vector<Time> processors, nics, links;
};

/** Returns the share of @p busiest in @p all. */
double share(double busiest, double all) noexcept
{
	return all > 0 ? busiest / all : 0;
}

/** Adds the difference of two looks. */
void add_since(const Look &before, const Look &now, RunResult &result)
{
	Spread &spread = result.spread.emplace();
	const auto time = static_cast<double>((now.time - before.time).count());
	std::uint64_t most_events = 0;
	for (std::size_t i = 0; i < now.stats.size(); i++) {
		const CoherenceStats stats = since(before.stats[i], now.stats[i]);
		result.stats += stats;
		most_events = std::max(most_events, stats.events);
		const auto load = [&](const std::vector<Time> &then, const std::vector<Time> &later) {
			return share(static_cast<double>((later[i] - then[i]).count()), time);
		};
		const double processor = load(before.processors, now.processors);
		spread.busiest_processor = std::max(spread.busiest_processor, processor);
		spread.mean_processor += processor / static_cast<double>(now.stats.size());
		spread.busiest_nic = std::max(spread.busiest_nic, load(before.nics, now.nics));
		spread.busiest_link = std::max(spread.busiest_link, load(before.links, now.links));
	}
	spread.busiest_home = share(static_cast<double>(most_events), static_cast<double>(result.stats.events));
}

/** Lets time pass until @p done returns true. */
Result<void> pass_time(Machines &machines, const std::function<bool()> &done)
{
	/* Limits the time, as ticks never end, even if the run hangs: nothing takes so long. */
	constexpr Time longest_wait = std::chrono::hours(1);
	const Time end = machines.events().now() + longest_wait;
	while (!done()) {
		if (!machines.events().step() || machines.events().now() > end)
			return make_error(EDEADLK, "an operation of the simulated nodes never ends");
	}
	return {};
}

/** A thread of the workload, like Worker, in virtual time. All operations are timed. */
class SimulatedWorker
{
public:
	SimulatedWorker(Machine &machine, ThreadId thread, const RunOptions &options, ItemChooser items)
		: events_(machine.events()), options_(options), items_(std::move(items)),
		  session_(machine, thread, options.cluster.consistency, options.cluster.cached)
	{
	}

	/** Runs both phases. */
	Task run()
	{
		const Time warm = in_time(options_.warm_up);
		if (warm > Time(0))
			co_await load(warm, std::numeric_limits<std::uint64_t>::max());
		result_ = {};
		const Time begin = events_.now();
		const Time end = warm + in_time(options_.duration);
		if (options_.operations)
			co_await load(Time::max(), options_.operations);
		else
			co_await load(end, std::numeric_limits<std::uint64_t>::max());
		note(co_await session_.mfence());
		result_.nanoseconds = number(events_.now() - begin);
		result_.rate = rate_of(result_.operations, events_.now() - begin);
	}

	[[nodiscard]] const RunResult &result() const noexcept { return result_; }

private:
	Task load(Time end, std::uint64_t count)
	{
		for (; events_.now() < end && count > 0; count--) {
			const ItemChooser::Item item = items_.next();
			const Time begin = events_.now();
			note(co_await perform(item));
			(item.is_read ? result_.reads : result_.writes).add(number(events_.now() - begin));
			result_.operations++;
		}
	}

	apps::Task<int> perform(ItemChooser::Item item)
	{
		if (options_.workload.operation == Operation::read_write)
			co_return co_await access(item);
		const AccessKind kind = item.is_read ? AccessKind::read_lock : AccessKind::write_lock;
		const bool tries = options_.workload.operation == Operation::try_lock;
		if (const int error = co_await session_.lock(kind, item.at, tries))
			co_return error;
		const int error = options_.workload.operation == Operation::lock ? 0 : co_await access(item);
		const int unlocked = co_await session_.unlock(item.at);
		co_return error ? error : unlocked;
	}

	apps::Task<int> access(const ItemChooser::Item &item)
	{
		return item.is_read ? session_.read(item.at) : session_.write(item.at);
	}

	void note(int error)
	{
		if (error == EBUSY)
			result_.busy++;
		else if (error)
			result_.errors.add(error);
	}

	Events &events_;
	const RunOptions &options_;
	ItemChooser items_;
	simulated::Session session_;
	RunResult result_;
};

/** Working sets: the shared blocks of each home come first, then those of each thread. Block 0 is not used. */
class Sets
{
public:
	explicit Sets(const RunOptions &options) : options_(options), nodes_(options.cluster.nodes)
	{
		const std::size_t shared =
			options.workload.shared > 0 ? (options.workload.blocks + nodes_ - 1) / nodes_ : 0;
		for (std::size_t node = 0; node < nodes_; node++) {
			shared_.emplace_back(static_cast<NodeId>(node), block_size);
			next_.push_back(shared_.back() + shared * block_size);
		}
	}

	/** Returns the working set of the next thread; call for one thread after the other. */
	std::vector<Address> next(NodeId self, std::uint64_t thread)
	{
		const std::vector<Origin> origins = plan(options_.workload, thread);
		const std::vector<std::size_t> counts = own_blocks(origins, self, nodes_);
		std::vector<Address> places = place_blocks(origins, self, next_, shared_);
		for (std::size_t node = 0; node < nodes_; node++)
			next_[node] = next_[node] + counts[node] * block_size;
		return places;
	}

private:
	const RunOptions &options_;
	const std::size_t nodes_;
	std::vector<Address> shared_, next_; /* addresses at each node */
};

class SimulatedWorkload
{
public:
	SimulatedWorkload(Machines &machines, const RunOptions &options) : machines_(machines), options_(options)
	{
		Sets sets(options);
		for (std::size_t i = 0; i < options.cluster.nodes * options.threads; i++) {
			const auto node = static_cast<NodeId>(i / options.threads);
			workers_.push_back(
				std::make_unique<SimulatedWorker>(machines.machine(node), static_cast<ThreadId>(i + 1),
					options, ItemChooser(options.workload, sets.next(node, i), i)));
		}
	}

	Result<RunResult> run()
	{
		std::vector<Task> tasks;
		for (const auto &worker : workers_)
			tasks.push_back(worker->run());
		for (Task &task : tasks)
			task.start();
		const Time begin = in_time(options_.warm_up);
		if (const Result<void> passed = pass_time(machines_, [&] { return machines_.events().now() >= begin; });
			!passed)
			return passed.error();
		const Look before(machines_);
		const auto all_done = [&tasks] {
			return std::all_of(tasks.begin(), tasks.end(), [](const Task &task) { return task.done(); });
		};
		const Time end = begin + in_time(options_.duration);
		const auto is_over = [&] {
			return options_.operations ? all_done() && machines_.at_rest()
						   : machines_.events().now() >= end;
		};
		if (const Result<void> passed = pass_time(machines_, is_over); !passed)
			return passed.error();
		const Look after(machines_);
		if (const Result<void> passed = pass_time(machines_, all_done); !passed)
			return passed.error();
		return sum(before, after);
	}

private:
	RunResult sum(const Look &before, const Look &after) const
	{
		RunResult all;
		std::vector<double> rates(options_.cluster.nodes);
		for (std::size_t i = 0; i < workers_.size(); i++) {
			all.merge(workers_[i]->result());
			rates[i / options_.threads] += workers_[i]->result().rate;
		}
		add_since(before, after, all);
		all.spread->slowest_rate = *std::min_element(rates.begin(), rates.end());
		all.spread->mean_rate = all.rate / static_cast<double>(rates.size());
		return all;
	}

	Machines &machines_;
	const RunOptions &options_;
	std::vector<std::unique_ptr<SimulatedWorker>> workers_;
};

/** A single case, as in run_case.cpp: node 0 is the home, node 1 does the operations, node 2 is the owner. */
class SimulatedCase
{
public:
	SimulatedCase(Machines &machines, const RunOptions &options)
		: machines_(machines), options_(options), count_(blocks_of_case(options))
	{
		for (std::size_t i = 0; i < machines.size(); i++)
			sessions_.push_back(
				std::make_unique<simulated::Session>(machines.machine(static_cast<NodeId>(i)),
					static_cast<ThreadId>(1), options.cluster.consistency, options.cluster.cached));
	}

	Result<RunResult> run()
	{
		for (std::size_t node = requester; node < sessions_.size(); node++) {
			if (const Result<void> done = finish(prepare(static_cast<NodeId>(node))); !done)
				return done.error();
		}
		const Look before(machines_);
		if (const Result<void> done = finish(measure()); !done)
			return done.error();
		const Look after(machines_);
		add_since(before, after, result_);
		result_.rate = rate_of(result_.operations, Time(result_.nanoseconds));
		result_.spread->mean_rate = result_.spread->slowest_rate = result_.rate;
		return std::move(result_);
	}

private:
	static constexpr NodeId requester = 1, owner = 2;

	/** Runs @p task until nothing moves any more. */
	Result<void> finish(Task task)
	{
		task.start();
		return pass_time(machines_, [&] { return task.done() && machines_.at_rest() && is_quiet(); });
	}
	/** Returns true once messages without answers have arrived: nothing takes so long. */
	bool is_quiet()
	{
		constexpr Time long_enough = std::chrono::microseconds(100);
		const Time now = machines_.events().now();
		std::uint64_t all = 0;
		for (std::size_t i = 0; i < machines_.size(); i++)
			all += number(machines_.machine(static_cast<NodeId>(i)).processor_time());
		if (std::exchange(worked_, all) != all)
			quiet_since_ = now;
		return now - quiet_since_ > long_enough;
	}

	[[nodiscard]] Address block(std::size_t place) const noexcept { return {0, (place + 1) * block_size}; }

	Task prepare(NodeId self)
	{
		const Case single = options_.single;
		const bool reads = self == requester ? single == Case::read_hit || single == Case::evict_shared
						     : single == Case::write_shared;
		const bool writes = self == requester ? single == Case::write_hit || single == Case::evict_dirty
						      : self == owner && single == Case::dirty_miss;
		for (std::size_t i = 0; i < count_; i++) {
			if (reads)
				note(co_await sessions_[self]->read(block(i)));
			if (writes)
				note(co_await sessions_[self]->write(block(i)));
		}
		note(co_await sessions_[self]->mfence());
	}

	Task measure()
	{
		const bool evicts = options_.single == Case::evict_shared || options_.single == Case::evict_dirty;
		const bool reads = options_.single == Case::read_hit || options_.single == Case::clean_miss ||
				   options_.single == Case::dirty_miss || options_.single == Case::evict_shared;
		bench::LatencyHistogram &latency = reads ? result_.reads : result_.writes;
		const Time begin = events().now();
		result_.operations = evicts ? count_ : options_.operations;
		if (evicts)
			co_await evict(latency);
		for (std::size_t i = 0; i < options_.operations && !evicts; i++) {
			const Time start = events().now();
			note(co_await access(reads, block(i % count_)));
			latency.add(number(events().now() - start));
		}
		result_.nanoseconds = number(events().now() - begin);
	}

	/** Reads, or writes and waits until the write is performed. */
	apps::Task<int> access(bool reads, Address at)
	{
		if (reads)
			co_return co_await sessions_[requester]->read(at);
		const int error = co_await sessions_[requester]->write(at);
		const int fenced = co_await sessions_[requester]->mfence();
		co_return error ? error : fenced;
	}

	/** Evicts all at once; one takes its share of the time. */
	Task evict(bench::LatencyHistogram &latency)
	{
		constexpr Time step = std::chrono::nanoseconds(100);
		const Time begin = events().now();
		Machine &machine = machines_.machine(requester);
		machine.flush();
		co_await simulated::Until{events(), machine.moment()};
		while (!machine.coherence().at_rest())
			co_await simulated::Until{events(), events().now() + step};
		latency.add(number(events().now() - begin) / count_);
	}

	[[nodiscard]] Events &events() noexcept { return machines_.events(); }
	void note(int error)
	{
		if (error)
			result_.errors.add(error);
	}

	Machines &machines_;
	const RunOptions &options_;
	const std::size_t count_;
	std::vector<std::unique_ptr<simulated::Session>> sessions_;
	RunResult result_;
	std::uint64_t worked_ = 0;
	Time quiet_since_{};
};

} // namespace

Result<RunResult> run_simulated(const RunOptions &options, const simulated::Hardware &hardware)
{
	Machines machines(shape_of(options), hardware);
	if (options.single != Case::none)
		return SimulatedCase(machines, options).run();
	return SimulatedWorkload(machines, options).run();
}

} // namespace prism::gam::micro
