/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PageRank over a generated graph, by several nodes. Each computes the ranks of its own vertices, and reads those of
 * others from which edges come: they stay in its cache until the owner writes the next ranks.
 */
#include "gam.hpp"

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "gam/api/pointer.hpp"

namespace
{

constexpr std::size_t vertices = 6000;
constexpr std::size_t edges = 60000;
constexpr std::size_t iterations = 10;
constexpr double damping = 0.85;

/** For each vertex the sources of its edges, and the number that leave it. The same on all nodes; few vertices have
 * most edges. */
struct Graph {
	std::vector<std::vector<std::uint32_t>> sources;
	std::vector<std::uint32_t> leaving;

	Graph() : sources(vertices), leaving(vertices)
	{
		std::mt19937 random(42);
		std::uniform_real_distribution<double> chance(0, 1);
		for (std::size_t i = 0; i < edges; i++) {
			const auto from = static_cast<std::uint32_t>(chance(random) * vertices);
			const double skewed = std::pow(chance(random), 3);
			sources[static_cast<std::size_t>(skewed * vertices)].push_back(from);
			leaving[from]++;
		}
	}
};

/** Returns the rank that a vertex gives along each of its edges. */
double share(const Graph &graph, std::size_t vertex, double rank)
{
	return graph.leaving[vertex] ? rank / graph.leaving[vertex] : 0;
}

template <typename SharesOf>
double next_rank(const Graph &graph, std::size_t vertex, const SharesOf &share_of)
{
	double sum = 0;
	for (const std::uint32_t source : graph.sources[vertex])
		sum += share_of(source);
	return (1 - damping) / vertices + damping * sum;
}

/** The shares of all vertices, twice: those of the last iteration are read while the next ones are written. */
class Shares
{
public:
	using Share = prism::gam::Pointer<double>;

	explicit Shares(const example::Worker &worker) : per_worker_((vertices + worker.workers - 1) / worker.workers)
	{
		Session session(worker.joined->node());
		Share mine;
		example::must(Share::allocate(session, 2 * per_worker_, mine), "room for the ranks");
		worker.publish("shares", mine.address());
		for (std::size_t i = 0; i < worker.workers; i++)
			parts_.push_back(Share(worker.address("shares", i)));
	}

	[[nodiscard]] Share of(std::size_t vertex, std::size_t iteration) const
	{
		return parts_[vertex / per_worker_] + (iteration % 2 * per_worker_ + vertex % per_worker_);
	}
	[[nodiscard]] std::size_t first_of(std::size_t worker) const
	{
		return std::min(worker * per_worker_, vertices);
	}

private:
	using Session = prism::gam::Session;

	std::size_t per_worker_;
	std::vector<Share> parts_;
};

std::vector<double> ranks_alone(const Graph &graph)
{
	std::vector<double> ranks(vertices, 1.0 / vertices), next(vertices);
	for (std::size_t i = 0; i < iterations; i++) {
		for (std::size_t vertex = 0; vertex < vertices; vertex++)
			next[vertex] = next_rank(
				graph, vertex, [&](std::size_t source) { return share(graph, source, ranks[source]); });
		ranks.swap(next);
	}
	return ranks;
}

int compute(example::Worker &worker)
{
	const Graph graph;
	const Shares shares(worker);
	example::Session session(worker.joined->node());
	if (worker.number == 0) {
		example::Address count;
		example::must(session.malloc(8, count), "a barrier");
		worker.publish("barrier", count);
	}
	example::Barrier barrier(worker.address("barrier", 0), worker);

	const std::size_t first = shares.first_of(worker.number), end = shares.first_of(worker.number + 1);
	std::vector<double> ranks(vertices, 1.0 / vertices);
	for (std::size_t i = 0; i <= iterations; i++) {
		for (std::size_t vertex = first; vertex < end; vertex++) {
			if (i > 0)
				ranks[vertex] = next_rank(graph, vertex, [&](std::size_t source) {
					double value = 0;
					example::must(shares.of(source, i - 1).read(session, value), "a rank");
					return value;
				});
			example::must(
				shares.of(vertex, i).write(session, share(graph, vertex, ranks[vertex])), "a rank");
		}
		example::must(session.mfence(), "the ranks");
		barrier.meet(session);
	}

	const std::vector<double> expected = ranks_alone(graph);
	double difference = 0, sum = 0;
	for (std::size_t vertex = first; vertex < end; vertex++) {
		difference = std::max(difference, std::abs(ranks[vertex] - expected[vertex]));
		sum += ranks[vertex];
	}
	const prism::gam::CoherenceStats stats = worker.joined->node().stats();
	std::printf("node %zu: %zu vertices, ranks of %.4f in all, at most %.1e from those of one process; "
		    "%llu hits, %llu misses\n",
		worker.number, end - first, sum, difference, static_cast<unsigned long long>(stats.hits),
		static_cast<unsigned long long>(stats.misses));
	return difference < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main(int argc, char **argv)
{
	return example::run_workers(argc, argv, compute);
}
