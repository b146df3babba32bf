/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "cycles.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "dependencies.hpp"
#include "graph.hpp"

namespace prism::serializability
{

namespace
{

constexpr std::int64_t effort_of_component = 5'000'000; /* edges to try for a short cycle */
constexpr std::size_t tried_edges = 64;                 /* to begin a cycle with; the shortest is shown */

std::string_view name_of(Dependency why)
{
	switch (why) {
	case Dependency::ww:
		return "ww";
	case Dependency::wr:
		return "wr";
	case Dependency::rw:
		return "rw";
	case Dependency::session:
		return "session";
	case Dependency::real_time:
		return "real time";
	}
	return "?";
}

/* Names the cycles of one component after the other. */
class Explainer
{
public:
	Explainer(const Index &index, const CycleOptions &options, Graph &graph, Findings &findings)
		: index_(index), graph_(graph), findings_(findings), inside_(graph.nodes()),
		  transactions_(static_cast<std::uint32_t>(index.history().transactions().size()))
	{
		orders_.push_back({"", 0});
		if (options.sessions)
			orders_.push_back({"-session", Dependencies{} | Dependency::session});
		if (options.real_time)
			orders_.push_back({"-realtime", orders_.back().along | Dependency::real_time});
	}

	/* Shows the worst anomaly in it, using as little of the clients' and the clock's order as possible. */
	void explain(std::span<const std::uint32_t> component)
	{
		for (const Order &order : orders_) {
			const Dependencies values = Dependency::ww | Dependency::wr;
			const auto all = static_cast<Dependencies>(order.along | (values | Dependency::rw));
			for (const std::vector<std::uint32_t> &part : graph_.components(all, component)) {
				if (show(part, Dependencies{} | Dependency::ww, order, "G0") ||
					show(part, values, order, "G1c") || show_single(part, order) ||
					show(part, values | Dependency::rw, order, "G2"))
					return;
			}
		}
	}

private:
	struct Order {
		std::string_view suffix;
		Dependencies along;
	};

	bool show(std::span<const std::uint32_t> component, Dependencies values, const Order &order,
		std::string_view name)
	{
		const auto along = static_cast<Dependencies>(values | order.along);
		const std::vector<std::vector<std::uint32_t>> parts = graph_.components(along, component);
		if (parts.empty())
			return false;
		/* Time and sessions go forwards, so some other edge of every cycle leads to an earlier invocation. */
		std::vector<Edge> starts = edges_in(parts.front(), values);
		std::erase_if(starts, [](const Edge &edge) { return edge.from < edge.to; });
		mark(parts.front(), true);
		std::vector<Edge> best;
		std::int64_t effort = effort_of_component;
		for (std::size_t i = 0; i < std::min(starts.size(), tried_edges) && effort > 0; i++) {
			std::vector<Edge> cycle = close(starts[i], along, effort);
			if (!cycle.empty() && (best.empty() || length_of(cycle) < length_of(best)))
				best = std::move(cycle);
		}
		if (best.empty() && !starts.empty()) {
			effort = std::numeric_limits<std::int64_t>::max();
			best = close(starts.front(), along, effort);
		}
		mark(parts.front(), false);
		report(name, order, best);
		return true;
	}

	/* Shows a cycle with exactly one rw edge. */
	bool show_single(std::span<const std::uint32_t> component, const Order &order)
	{
		const auto along = static_cast<Dependencies>(order.along | (Dependency::ww | Dependency::wr));
		std::int64_t effort = effort_of_component;
		std::vector<Edge> best;
		const std::vector<Edge> starts = edges_in(component, Dependencies{} | Dependency::rw);
		std::size_t tried = 0;
		mark(component, true);
		for (const Edge &start : starts) {
			if (effort <= 0 || (!best.empty() && (length_of(best) == 2 || tried >= tried_edges)))
				break;
			tried++;
			std::vector<Edge> cycle = close(start, along, effort);
			if (!cycle.empty() && (best.empty() || length_of(cycle) < length_of(best)))
				best = std::move(cycle);
		}
		mark(component, false);
		if (!best.empty())
			report("G-single", order, best);
		return !best.empty();
	}

	/* Returns the edges, those that lead furthest back first: they are the most suspicious. */
	std::vector<Edge> edges_in(std::span<const std::uint32_t> component, Dependencies along)
	{
		mark(component, true);
		std::vector<Edge> edges;
		for (const std::uint32_t from : component) {
			for (const Graph::Arrow &arrow : graph_.from(from)) {
				if ((arrow.why & along) != 0 && inside_[arrow.to])
					edges.push_back(
						{from, arrow.to, arrow.key, static_cast<Dependency>(arrow.why)});
			}
		}
		mark(component, false);
		std::ranges::sort(edges, {}, [](const Edge &edge) { return std::int64_t{edge.to} - edge.from; });
		return edges;
	}

	void mark(std::span<const std::uint32_t> component, bool inside)
	{
		for (const std::uint32_t node : component)
			inside_[node] = inside;
	}

	std::vector<Edge> close(const Edge &start, Dependencies along, std::int64_t &effort) const
	{
		std::vector<Edge> cycle =
			graph_.shortest_way(start.to, start.from, along, inside_, transactions_, effort);
		if (!cycle.empty())
			cycle.insert(cycle.begin(), start);
		return cycle;
	}

	[[nodiscard]] std::size_t length_of(const std::vector<Edge> &cycle) const
	{
		return static_cast<std::size_t>(
			std::ranges::count_if(cycle, [&](const Edge &edge) { return edge.to < transactions_; }));
	}

	void report(std::string_view name, const Order &order, const std::vector<Edge> &cycle)
	{
		findings_.add("cycles", fmt::format("{}{}", name, order.suffix), [&] {
			std::string text;
			constexpr std::size_t shown = 40;
			std::size_t left = shown;
			for (const Edge &edge : cycle) {
				if (left-- == 0)
					return text + fmt::format("and {} more", cycle.size() - shown);
				if (edge.from < transactions_)
					text += index_.history().describe(edge.from) + "\n";
				/* For the reader, a path through the chain of responses is one step. */
				if (edge.to < transactions_)
					text += describe(edge);
			}
			return text + (cycle.empty() ? "" : index_.history().name_of(cycle.front().from));
		});
	}

	[[nodiscard]] std::string describe(const Edge &edge) const
	{
		if (edge.why == Dependency::session || edge.why == Dependency::real_time)
			return fmt::format("  -- {} -->\n", name_of(edge.why));
		return fmt::format("  -- {} key {:#x} -->\n", name_of(edge.why), index_.name_of_key(edge.key));
	}

	const Index &index_;
	Graph &graph_;
	Findings &findings_;
	std::vector<Order> orders_;
	std::vector<bool> inside_;
	const std::uint32_t transactions_;
};

} // namespace

CycleResult check_cycles(const Index &index, const CycleOptions &options, Findings &findings)
{
	DependencyFinder finder(index, findings);
	std::vector<Edge> edges = finder.find(options);
	Graph graph(finder.nodes(), std::move(edges));
	const auto transactions = static_cast<std::uint32_t>(index.history().transactions().size());
	CycleResult result;
	for (std::uint32_t i = 0; i < transactions; i++)
		result.transactions += index.visible(i);
	result.edges = graph.edges();
	const Dependencies all = static_cast<Dependencies>(~0U);
	const std::vector<std::vector<std::uint32_t>> components = graph.components(all);
	result.components = components.size();
	Explainer explainer(index, options, graph, findings);
	std::size_t explained = 0;
	for (const std::vector<std::uint32_t> &component : components) {
		const auto size = std::ranges::count_if(component, [&](auto node) { return node < transactions; });
		result.largest = std::max(result.largest, static_cast<std::uint64_t>(size));
		if (explained++ < options.witnesses)
			explainer.explain(component);
		else
			findings.add("cycles", "cycle", [&] { return index.history().describe(component.front()); });
	}
	return result;
}

} // namespace prism::serializability
