/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Graphs of millions of transactions, and the cycles in them. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace prism::serializability
{

/** Reason why one transaction comes before another. */
enum class Dependency : std::uint8_t {
	ww = 1,        /**< overwrites, or appends behind, what the first wrote */
	wr = 2,        /**< reads what the first wrote */
	rw = 4,        /**< overwrites, or appends behind, what the first read */
	session = 8,   /**< called later by the same client */
	real_time = 16 /**< called after the first had responded */
};

/** A set of dependencies. */
using Dependencies = std::uint8_t;

constexpr Dependencies operator|(Dependency a, Dependency b) noexcept
{
	return static_cast<Dependencies>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr Dependencies operator|(Dependencies a, Dependency b) noexcept
{
	return static_cast<Dependencies>(a | static_cast<unsigned>(b));
}
constexpr bool contains(Dependencies set, Dependency dependency) noexcept
{
	return (set & static_cast<unsigned>(dependency)) != 0;
}

struct Edge {
	std::uint32_t from = 0;
	std::uint32_t to = 0;
	std::uint32_t key = 0; /**< of ww, wr and rw: its number */
	Dependency why = Dependency::ww;
};

class Graph
{
public:
	static constexpr std::uint32_t none = ~std::uint32_t{0};

	struct Arrow {
		std::uint32_t to = 0;
		std::uint32_t key : 27 = 0;
		std::uint32_t why : 5 = 0;
	};
	static constexpr std::uint32_t most_keys = 1U << 27;

	/** @param edges between nodes below @p nodes, with keys below most_keys; freed when they are taken over */
	Graph(std::uint32_t nodes, std::vector<Edge> edges);

	[[nodiscard]] std::uint32_t nodes() const noexcept { return static_cast<std::uint32_t>(first_.size() - 1); }
	[[nodiscard]] std::size_t edges() const noexcept { return arrows_.size(); }
	[[nodiscard]] std::span<const Arrow> from(std::uint32_t node) const noexcept
	{
		return std::span(arrows_).subspan(first_[node], first_[node + 1] - first_[node]);
	}

	/**
	 * The strongly connected components with at least two nodes (Tarjan), along edges of @p along only.
	 * @param among look only at these nodes; all of them if it is empty
	 */
	[[nodiscard]] std::vector<std::vector<std::uint32_t>> components(
		Dependencies along, std::span<const std::uint32_t> among = {});

	/**
	 * Returns the shortest path from @p from to @p to along edges of @p along, in the nodes that @p inside marks;
	 * edges to nodes from @p free_from on cost nothing.
	 * @param effort edges to try; the tried ones are subtracted
	 * @return its edges; none if there is no path, or the effort did not suffice
	 */
	[[nodiscard]] std::vector<Edge> shortest_way(std::uint32_t from, std::uint32_t to, Dependencies along,
		const std::vector<bool> &inside, std::uint32_t free_from, std::int64_t &effort) const;

private:
	std::vector<std::uint64_t> first_;
	std::vector<Arrow> arrows_;
	std::vector<std::uint32_t> order_; /* of components(); kept, as filling it takes longer than most searches */
};

} // namespace prism::serializability
