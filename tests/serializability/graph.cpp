/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "graph.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace prism::serializability
{

namespace
{

/* Tarjan's search with a stack of its own: paths through a history are as long as the history. */
class Search
{
public:
	Search(const Graph &graph, Dependencies along, std::vector<std::uint32_t> &order)
		: graph_(graph), along_(along), order_(order)
	{
	}

	std::vector<std::vector<std::uint32_t>> found;

	/* Searches the nodes that are not outside and can be reached from @p root. */
	void start(std::uint32_t root)
	{
		enter(root);
		while (!calls_.empty()) {
			Call &call = calls_.back();
			const std::span<const Graph::Arrow> arrows = graph_.from(call.node);
			if (call.next == arrows.size()) {
				leave();
				continue;
			}
			const Graph::Arrow arrow = arrows[call.next++];
			if ((arrow.why & along_) == 0)
				continue;
			const std::uint32_t order = order_[arrow.to];
			if (order == unseen)
				enter(arrow.to);
			else if (order < outside)
				call.low = std::min(call.low, order);
		}
	}

	static constexpr std::uint32_t unseen = 0;
	static constexpr std::uint32_t outside = ~std::uint32_t{0}; /* or in a component already */

private:
	struct Call {
		std::uint32_t node;
		std::uint32_t low;
		std::size_t next;
	};

	void enter(std::uint32_t node)
	{
		order_[node] = ++count_;
		stack_.push_back(node);
		calls_.push_back({node, count_, 0});
	}

	void leave()
	{
		const Call call = calls_.back();
		calls_.pop_back();
		if (!calls_.empty())
			calls_.back().low = std::min(calls_.back().low, call.low);
		if (call.low != order_[call.node])
			return;
		std::size_t first = stack_.size();
		do {
			first--;
			order_[stack_[first]] = outside;
		} while (stack_[first] != call.node);
		if (stack_.size() - first > 1)
			found.emplace_back(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
		stack_.resize(first);
	}

	const Graph &graph_;
	const Dependencies along_;
	std::vector<std::uint32_t> &order_; /* by node: the order in which they were entered, unseen or outside */
	std::uint32_t count_ = 0;
	std::vector<std::uint32_t> stack_;
	std::vector<Call> calls_;
};

} // namespace

Graph::Graph(std::uint32_t nodes, std::vector<Edge> edges)
	: first_(std::size_t{nodes} + 1), arrows_(edges.size()), order_(nodes, Search::outside)
{
	for (const Edge &edge : edges)
		first_[edge.from]++;
	std::uint64_t sum = 0;
	for (std::uint64_t &first : first_)
		first = sum += first;
	/* Each `first` is the end of its node's edges now, and their beginning when all of them are placed. */
	for (const Edge &edge : edges)
		arrows_[--first_[edge.from]] = {
			edge.to, edge.key & (most_keys - 1), static_cast<std::uint32_t>(edge.why)};
}

std::vector<std::vector<std::uint32_t>> Graph::components(Dependencies along, std::span<const std::uint32_t> among)
{
	/* Every search leaves all nodes outside. */
	if (among.empty())
		order_.assign(nodes(), Search::unseen);
	for (const std::uint32_t node : among)
		order_[node] = Search::unseen;
	Search search(*this, along, order_);
	for (std::uint32_t node = 0; node < nodes() && among.empty(); node++) {
		if (order_[node] == Search::unseen)
			search.start(node);
	}
	for (const std::uint32_t node : among) {
		if (order_[node] == Search::unseen)
			search.start(node);
	}
	return std::move(search.found);
}

std::vector<Edge> Graph::shortest_way(std::uint32_t from, std::uint32_t to, Dependencies along,
	const std::vector<bool> &inside, std::uint32_t free_from, std::int64_t &effort) const
{
	struct Step {
		Edge edge;
		std::uint32_t distance = 0;
	};
	std::unordered_map<std::uint32_t, Step> steps{{from, {}}};
	std::deque<std::pair<std::uint32_t, std::uint32_t>> next{{0, from}};
	while (!next.empty() && effort > 0) {
		const auto [distance, node] = next.front();
		next.pop_front();
		if (node == to && distance > 0)
			break;
		if (steps[node].distance != distance)
			continue;
		for (const Arrow &arrow : this->from(node)) {
			effort--;
			if ((arrow.why & along) == 0 || !inside[arrow.to])
				continue;
			const bool free = arrow.to >= free_from;
			const std::uint32_t reached = distance + (free ? 0 : 1);
			const auto [step, added] = steps.try_emplace(arrow.to);
			if (!added && step->second.distance <= reached)
				continue;
			step->second = {{node, arrow.to, arrow.key, static_cast<Dependency>(arrow.why)}, reached};
			free ? next.emplace_front(reached, arrow.to) : next.emplace_back(reached, arrow.to);
		}
	}
	std::vector<Edge> way;
	const auto end = steps.find(to);
	if (from == to || end == steps.end())
		return way;
	for (std::uint32_t node = to; node != from; node = way.back().from)
		way.push_back(steps[node].edge);
	std::ranges::reverse(way);
	return way;
}

} // namespace prism::serializability
