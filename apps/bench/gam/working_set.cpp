/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/working_set.hpp"

#include <cmath>
#include <utility>

namespace prism::gam::micro
{

namespace
{

constexpr unsigned draw_bits = 16;

/** Returns the limit that a draw of 16 bits is below with this probability. */
std::uint32_t share_of(double share) noexcept
{
	return static_cast<std::uint32_t>(std::lround(share * (1U << draw_bits)));
}

std::uint32_t draw(std::uint64_t draws, unsigned place) noexcept
{
	return (draws >> (place * draw_bits)) & ((1U << draw_bits) - 1);
}

/** Returns a number below @p limit, which is below 2^32, from the upper half of @p draws. */
std::size_t below(std::size_t limit, std::uint64_t draws) noexcept
{
	return ((draws >> 32) * limit) >> 32;
}

/** Returns the home of a place that is not shared; @p turn counts the remote ones. */
NodeId home_of(Origin origin, NodeId self, std::size_t nodes, std::size_t &turn) noexcept
{
	if (origin == Origin::local)
		return self;
	return static_cast<NodeId>((self + 1 + turn++ % (nodes - 1)) % nodes);
}

/* Streams of random numbers: for shared places, for each thread's plan, for its accesses. */
constexpr std::uint64_t shared_stream = 0;
constexpr std::uint64_t plan_streams = 1;
constexpr std::uint64_t access_streams = std::uint64_t{1} << 32;

} // namespace

std::vector<Origin> plan(const Workload &workload, std::uint64_t thread)
{
	bench::Random of_all = bench::make_random(workload.seed, shared_stream);
	bench::Random own = bench::make_random(workload.seed, plan_streams + thread);
	std::vector<Origin> origins(workload.blocks, Origin::local);
	for (Origin &origin : origins) {
		const bool is_remote = draw(own(), 0) < share_of(workload.remote);
		if (draw(of_all(), 0) < share_of(workload.shared))
			origin = Origin::shared;
		else if (is_remote)
			origin = Origin::remote;
	}
	return origins;
}

std::vector<std::size_t> own_blocks(const std::vector<Origin> &origins, NodeId self, std::size_t nodes)
{
	std::vector<std::size_t> counts(nodes);
	std::size_t turn = 0;
	for (const Origin origin : origins) {
		if (origin != Origin::shared)
			counts[home_of(origin, self, nodes, turn)]++;
	}
	return counts;
}

std::vector<Address> place_blocks(const std::vector<Origin> &origins, NodeId self, const std::vector<Address> &own,
	const std::vector<Address> &shared)
{
	const std::size_t nodes = own.size();
	std::vector<Address> next = own;
	std::vector<Address> places;
	std::size_t turn = 0;
	for (std::size_t i = 0; i < origins.size(); i++) {
		if (origins[i] == Origin::shared) {
			places.push_back(shared[i % nodes] + i / nodes * block_size);
			continue;
		}
		Address &block = next[home_of(origins[i], self, nodes, turn)];
		places.push_back(block);
		block = block + block_size;
	}
	return places;
}

ItemChooser::ItemChooser(const Workload &workload, std::vector<Address> blocks, std::uint64_t thread)
	: blocks_(std::move(blocks)), random_(bench::make_random(workload.seed, access_streams + thread)),
	  reads_(share_of(workload.reads)), space_(share_of(workload.space)), time_(share_of(workload.time))
{
	move(random_());
}

ItemChooser::Item ItemChooser::next() noexcept
{
	const std::uint64_t draws = random_();
	if (draw(draws, 0) >= time_) {
		if (draw(draws, 1) >= space_)
			move(random_());
		else if (++item_ == items_a_block) {
			item_ = 0;
			block_ = block_ + 1 == blocks_.size() ? 0 : block_ + 1;
		}
	}
	return {blocks_[block_] + item_ * item_size, draw(draws, 2) < reads_};
}

void ItemChooser::move(std::uint64_t draws) noexcept
{
	block_ = below(blocks_.size(), draws);
	item_ = draws % items_a_block;
}

} // namespace prism::gam::micro
