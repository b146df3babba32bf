/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/run.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "bench/frame/clock.hpp"
#include "bench/frame/threads.hpp"
#include "bench/gam/working_set.hpp"
#include "gam/api/session.hpp"

namespace prism::gam::micro
{

namespace
{

constexpr NodeId home_of_cases = 0;
constexpr NodeId requester = 1;
constexpr NodeId owner = 2;

/** Accesses that are timed together if one takes less time than reading the clock. */
constexpr std::size_t batch = 1000;

class CaseRun
{
public:
	CaseRun(Place &place, const RunOptions &options)
		: place_(place), options_(options), node_(place.node()), session_(place.node())
	{
		blocks_.count = blocks_of_case(options);
	}

	Result<RunResult> run()
	{
		if (const Result<void> done = prepare(); !done)
			return done.error();
		const CoherenceStats before = node_.stats();
		if (const Result<void> met = meet("begin"); !met)
			return met.error();
		if (node_.self() == requester) {
			measure();
			await_home();
		}
		if (const Result<void> met = meet_answering("done"); !met)
			return met.error();
		result_.stats = since(before, node_.stats());
		/* No node leaves before all have looked, as nodes that leave write back. */
		if (const Result<void> met = meet("looked"); !met)
			return met.error();
		return std::move(result_);
	}

private:
	Result<void> meet(const std::string &step) { return place_.meet(step, options_.cluster.nodes); }

	/** Does in the main thread, until all have come, what the threads of this node are to do. */
	Result<void> meet_answering(const std::string &step)
	{
		Result<void> met;
		std::atomic<bool> over{false};
		const std::jthread waiting([&] {
			met = meet(step);
			over = true;
			over.notify_all();
		});
		if (node_.self() == home_of_cases && options_.home == HomeState::computes)
			compute_until(over);
		else if (node_.self() == home_of_cases && options_.home == HomeState::sleeps)
			over.wait(false);
		else
			node_.wait_until([&over] { return over.load(std::memory_order_relaxed); });
		over.wait(false);
		return met;
	}

	/**
	 * Waits for the home. Evictions are not answered, but when the home answers a later message, it has handled
	 * them.
	 */
	void await_home()
	{
		Address address;
		note(session_.malloc(block_size, address, Placement::near(blocks_.first)));
		if (!address.is_null())
			note(session_.free(address));
	}

	void compute_until(const std::atomic<bool> &over)
	{
		const auto piece = std::chrono::nanoseconds(static_cast<std::int64_t>(options_.piece * ns_per_us));
		while (!over.load(std::memory_order_relaxed)) {
			for (const auto end = Node::Clock::now() + piece; Node::Clock::now() < end;)
				;
			(void)node_.poll();
		}
	}

	Result<void> prepare()
	{
		if (node_.self() == home_of_cases) {
			const int error = session_.malloc(blocks_.count * block_size, blocks_.first);
			if (error)
				return make_error(error, "the blocks of the case");
			if (Result<void> told = place_.put("bench/case", blocks_.first); !told)
				return told;
		}
		const Result<Address> first = place_.get("bench/case");
		if (!first)
			return first.error();
		blocks_.first = *first;
		prepare_blocks();
		return meet("prepared");
	}

	void prepare_blocks()
	{
		const NodeId self = node_.self();
		const Case single = options_.single;
		const bool reads = self == requester ? single == Case::read_hit || single == Case::evict_shared
						     : self > requester && single == Case::write_shared;
		const bool writes = self == requester ? single == Case::write_hit || single == Case::evict_dirty
						      : self == owner && single == Case::dirty_miss;
		for (std::size_t i = 0; i < blocks_.count; i++) {
			if (reads)
				read(i);
			if (writes)
				write(i);
		}
		note(session_.mfence());
	}

	void read(std::size_t place)
	{
		note(session_.read(blocks_.at(place), std::as_writable_bytes(std::span(&value_, 1))));
	}
	void write(std::size_t place) { note(session_.write(blocks_.at(place), std::as_bytes(std::span(&value_, 1)))); }
	void write_through(std::size_t place)
	{
		write(place);
		note(session_.mfence());
	}
	void note(int error)
	{
		if (error)
			result_.errors.add(error);
	}

	void measure()
	{
		switch (options_.single) {
		case Case::none:
			return;
		case Case::read_hit:
		case Case::write_hit:
			return measure_hits();
		case Case::clean_miss:
		case Case::dirty_miss:
			return measure_each(result_.reads, [this](std::size_t place) { read(place); });
		case Case::write_miss:
		case Case::write_shared:
			return measure_each(result_.writes, [this](std::size_t place) { write_through(place); });
		case Case::evict_shared:
			return measure_evictions(result_.reads);
		case Case::evict_dirty:
			return measure_evictions(result_.writes);
		}
	}

	template <typename Operate>
	void measure_each(bench::LatencyHistogram &latency, const Operate &operate)
	{
		const std::uint64_t start = clock_.now();
		for (std::size_t i = 0; i < blocks_.count; i++) {
			const std::uint64_t begin = clock_.now();
			operate(i);
			latency.add(clock_.now() - begin);
		}
		finish(clock_.now() - start, blocks_.count);
	}

	/** Measures all evictions at once; one takes its share of the time. */
	void measure_evictions(bench::LatencyHistogram &latency)
	{
		const std::uint64_t begin = clock_.now();
		node_.flush();
		const std::uint64_t time = clock_.now() - begin;
		latency.add(time / blocks_.count);
		finish(time, blocks_.count);
	}

	/** Measures hits; each thread has its own blocks. */
	void measure_hits()
	{
		const bool writes = options_.single == Case::write_hit;
		Result<RunResult> all = bench::run_threads<RunResult>(
			static_cast<unsigned>(options_.threads),
			[&](unsigned thread) -> Result<RunResult> {
				return writes ? hits_of_thread<true>(thread) : hits_of_thread<false>(thread);
			},
			[] {});
		all->errors.merge(result_.errors);
		result_ = *std::move(all);
	}

	template <bool writes>
	RunResult hits_of_thread(std::size_t thread)
	{
		Session session(node_);
		RunResult result;
		std::uint64_t value = 0;
		const Address first = blocks_.at(thread * hit_blocks);
		const std::uint64_t start = clock_.now();
		for (std::uint64_t done = 0; done < options_.operations; done += batch) {
			const std::uint64_t begin = clock_.now();
			for (std::size_t i = 0; i < batch; i++) {
				const Address at =
					first + i % hit_blocks * block_size + i / hit_blocks % items_a_block * 8;
				const int error =
					writes ? session.write(at, std::as_bytes(std::span(&value, 1)))
					       : session.read(at, std::as_writable_bytes(std::span(&value, 1)));
				if (error)
					result.errors.add(error);
			}
			(writes ? result.writes : result.reads).add((clock_.now() - begin) / batch);
			result.operations += batch;
		}
		result.nanoseconds = clock_.now() - start;
		result.rate = static_cast<double>(result.operations) * 1e9 / static_cast<double>(result.nanoseconds);
		return result;
	}

	void finish(std::uint64_t nanoseconds, std::uint64_t count)
	{
		result_.nanoseconds = nanoseconds;
		result_.operations = count;
		result_.rate = static_cast<double>(count) * 1e9 / static_cast<double>(nanoseconds);
	}

	Place &place_;
	const RunOptions &options_;
	Node &node_;
	Session session_;
	const bench::Clock &clock_ = bench::monotonic_clock();
	Blocks blocks_;
	std::uint64_t value_ = 1;
	RunResult result_;
};

} // namespace

Result<RunResult> run_case(Place &place, const RunOptions &options)
{
	return CaseRun(place, options).run();
}

} // namespace prism::gam::micro
