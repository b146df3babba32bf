/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/options.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "bench/frame/run_options.hpp"

namespace prism::gam::micro
{

namespace
{

using bench::refuse;

constexpr std::size_t most_threads = 64;
constexpr std::size_t most_blocks = std::size_t{1} << 24;
/** Blocks for the node itself, and for pieces that are not whole. */
constexpr std::size_t spare_blocks = 256;

bool is_share(double share) noexcept
{
	return share >= 0 && share <= 1;
}

Result<void> check_cluster(const RunOptions &options)
{
	const ClusterOptions &cluster = options.cluster;
	if (cluster.nodes == 0 || cluster.nodes > max_nodes)
		return refuse("so many nodes (--nodes)", "1 to 64 are possible");
	if (cluster.in_process && !cluster.master.empty())
		return refuse("a master for nodes in one process", "leave one of them out");
	if (cluster.simulated && (cluster.in_process || !cluster.master.empty()))
		return refuse("simulated nodes in another way", "leave --in-process and --master out");
	if (cluster.forwards && !(cluster.simulated && cluster.protocol == Protocol::directory))
		return refuse("owners that forward", "that is of the simulated directory: give --simulated");
	if (options.threads == 0 || options.threads > most_threads)
		return refuse("so many threads (--threads)", "1 to 64 are possible");
	if (!(cluster.cache > 0 && cluster.cache <= 100))
		return refuse("such a cache (--cache)", "give its share of the working sets: above 0");
	if (cluster.protocol != Protocol::directory && cluster.in_process)
		return make_error(
			ENOTSUP, "--in-process by the latch protocol", "it needs a device: leave --in-process out");
	if (!(cluster.timeout > 0))
		return refuse("such a time limit (--timeout)", "give one above 0");
	return {};
}

Result<void> check_workload(const RunOptions &options)
{
	const Workload &workload = options.workload;
	for (const double share : {workload.reads, workload.remote, workload.shared, workload.space, workload.time}) {
		if (!is_share(share))
			return refuse("a share (--read-ratio and others) that is none", "give one from 0 to 1");
	}
	if (workload.blocks == 0 || workload.blocks > most_blocks)
		return refuse("so many blocks (--blocks)", "1 to 16,777,216 are possible");
	if (options.cluster.nodes == 1 && workload.remote > 0)
		return refuse("remote blocks of a single node", "give --remote-ratio 0, or more nodes");
	return {};
}

Result<void> check_amount(const RunOptions &options)
{
	if ((options.duration > 0) == (options.operations > 0))
		return refuse("how much to measure", "give either a duration or a number of operations");
	if (!(options.duration >= 0 && options.warm_up >= 0))
		return refuse("a time below 0", "choose another");
	if (options.timed == 0)
		return refuse("no operation that is timed (--timed)", "give 1 to time all of them");
	return {};
}

/** Returns the number of nodes that a case needs. */
std::size_t nodes_of(Case single) noexcept
{
	return single == Case::dirty_miss ? 3 : 2;
}

Result<void> check_case(const RunOptions &options)
{
	if (options.single == Case::none)
		return {};
	if (options.cluster.nodes < nodes_of(options.single))
		return refuse("too few nodes for this case", "it needs a home, a requester, and maybe an owner");
	if (options.operations == 0 || options.operations > most_blocks)
		return refuse("a case by time", "give a number of operations (-n), up to 16,777,216");
	if (options.cluster.simulated && options.home != HomeState::waits)
		return refuse("such a simulated home", "it only waits");
	if (!(options.piece > 0 && options.piece <= 1e6))
		return refuse("such a piece of work (--piece)", "give up to a second");
	return {};
}

} // namespace

bool is_hit(Case single) noexcept
{
	return single == Case::read_hit || single == Case::write_hit;
}

Result<void> check(const RunOptions &options)
{
	for (const auto part : {check_cluster, check_workload, check_amount, check_case}) {
		Result<void> checked = part(options);
		if (!checked)
			return checked;
	}
	return {};
}

std::size_t blocks_of_case(const RunOptions &options)
{
	return is_hit(options.single) ? hit_blocks * options.threads : options.operations;
}

std::uint64_t bytes_of_node(const RunOptions &options)
{
	std::size_t blocks = blocks_of_case(options);
	if (options.single == Case::none) {
		const std::size_t own = options.workload.blocks * options.threads;
		/* The number of remote blocks differs from thread to thread. */
		blocks = own + own / 4 + options.workload.blocks;
	}
	return (blocks + spare_blocks) * block_size;
}

std::size_t lines_of_node(const RunOptions &options)
{
	/* Only the case itself evicts lines. */
	if (options.single != Case::none)
		return 2 * blocks_of_case(options) + spare_blocks;
	const auto blocks = static_cast<double>(options.workload.blocks * options.threads);
	return std::max<std::size_t>(static_cast<std::size_t>(std::ceil(blocks * options.cluster.cache)), 1);
}

} // namespace prism::gam::micro
