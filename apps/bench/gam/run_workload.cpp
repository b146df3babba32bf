/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/run.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bench/frame/threads.hpp"
#include "bench/gam/worker.hpp"
#include "bench/gam/working_set.hpp"

namespace prism::gam::micro
{

namespace
{

/** The working sets of a node's threads. */
class WorkingSets
{
public:
	WorkingSets(Place &place, const RunOptions &options) : place_(place), options_(options), session_(place.node())
	{
	}

	/** Allocates the blocks of each thread. */
	Result<std::vector<std::vector<Address>>> allocate()
	{
		Result<void> done = allocate_shared();
		for (std::size_t thread = 0; thread < options_.threads && done; thread++)
			done = allocate_own(thread);
		if (!done)
			return done.error();
		return std::move(sets_);
	}

private:
	[[nodiscard]] std::size_t nodes() const noexcept { return options_.cluster.nodes; }
	[[nodiscard]] std::uint64_t number_of(std::size_t thread)
	{
		return place_.node().self() * options_.threads + thread;
	}

	Result<Address> blocks_at(NodeId home, std::size_t count)
	{
		Address address;
		if (const int error = session_.malloc(
			    std::max<std::size_t>(count, 1) * block_size, address, Placement::near(Address(home, 0))))
			return make_error(error, std::to_string(count) + " blocks of node " + std::to_string(home));
		return address;
	}

	/** Allocates this node's part of the shared blocks, and tells the others. */
	Result<void> allocate_shared()
	{
		const Workload &workload = options_.workload;
		if (workload.shared <= 0)
			return {};
		const auto key = [](std::size_t node) { return "bench/shared/" + std::to_string(node); };
		const Result<Address> own = blocks_at(place_.node().self(), (workload.blocks + nodes() - 1) / nodes());
		if (!own)
			return own.error();
		Result<void> told = place_.put(key(place_.node().self()), *own);
		for (std::size_t node = 0; node < nodes() && told; node++) {
			const Result<Address> there = place_.get(key(node));
			if (!there)
				return there.error();
			shared_.push_back(*there);
		}
		return told;
	}

	Result<void> allocate_own(std::size_t thread)
	{
		const NodeId self = place_.node().self();
		const std::vector<Origin> origins = plan(options_.workload, number_of(thread));
		const std::vector<std::size_t> counts = own_blocks(origins, self, nodes());
		std::vector<Address> own(nodes());
		for (std::size_t node = 0; node < nodes(); node++) {
			if (!counts[node])
				continue;
			const Result<Address> first = blocks_at(static_cast<NodeId>(node), counts[node]);
			if (!first)
				return first.error();
			own[node] = *first;
		}
		sets_.push_back(place_blocks(origins, self, own, shared_));
		return {};
	}

	Place &place_;
	const RunOptions &options_;
	Session session_;
	std::vector<Address> shared_; /* first block of each node */
	std::vector<std::vector<Address>> sets_;
};

} // namespace

Result<RunResult> run_workload(Place &place, const RunOptions &options)
{
	Result<std::vector<std::vector<Address>>> sets = WorkingSets(place, options).allocate();
	if (!sets)
		return sets.error();
	if (const Result<void> met = place.meet("allocated", options.cluster.nodes); !met)
		return met.error();
	if (const Result<void> begun = place.begin_together(); !begun)
		return begun.error();
	Result<RunResult> result = bench::run_threads<RunResult>(
		static_cast<unsigned>(options.threads),
		[&](unsigned thread) -> Result<RunResult> {
			const std::uint64_t number = place.node().self() * options.threads + thread;
			Session session(place.node());
			const auto look = [&place] { return place.node().stats(); };
			return Worker(session, options, {options.workload, (*sets)[thread], number},
				bench::monotonic_clock(), thread ? Worker::Look() : look)
				.run();
		},
		[] {});
	/* Other nodes may not have finished, and need this node. */
	if (const Result<void> met = place.meet("measured", options.cluster.nodes); !met)
		return met.error();
	return result;
}

} // namespace prism::gam::micro
