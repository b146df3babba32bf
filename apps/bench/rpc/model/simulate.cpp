/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <algorithm>
#include <cmath>

#include "bench/rpc/model/clients.hpp"
#include "bench/rpc/model/world.hpp"

namespace prism::rpc::model
{

World::World(const Parameters &given)
	: parameters(given), network(events, given.hardware, given.nodes + 1, given.threads),
	  processor(events, given.server_threads), generator(given.seed)
{
}

Time World::work()
{
	const Time usual = parameters.process_time * (1 + parameters.jitter * (2 * random() - 1));
	return random() < parameters.slow_share ? usual * parameters.slow_factor : usual;
}

std::uint32_t World::size()
{
	const std::size_t which = static_cast<std::size_t>(random() * static_cast<double>(parameters.sizes.size()));
	return parameters.sizes[which];
}

void World::ended(Time posted)
{
	if (measuring())
		counts.latencies.push_back(events.now() - posted);
}

namespace
{

std::vector<std::unique_ptr<Client>> make_clients(World &world)
{
	const Parameters &parameters = world.parameters;
	const bool by_server = parameters.way == Way::out_bound;
	const unsigned number = by_server ? parameters.server_threads : parameters.nodes * parameters.threads;
	std::vector<std::unique_ptr<Client>> clients;
	for (unsigned i = 0; i < number; i++)
		clients.push_back(make_client(world, by_server ? 0 : 1 + i % parameters.nodes));
	return clients;
}

/* Returns the smallest value that this percentage of the values does not exceed. */
Time percentile(std::vector<Time> &values, double percent)
{
	if (values.empty())
		return 0;
	const double rank = std::ceil(static_cast<double>(values.size()) * percent / 100);
	const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
	std::nth_element(values.begin(), place, values.end());
	return *place;
}

Results results_of(World &world, const Traffic &before)
{
	const Traffic &after = world.network.traffic(0);
	Counts &counts = world.counts;
	Results results;
	results.calls = counts.latencies.size();
	results.rate = static_cast<double>(results.calls) / world.parameters.duration;
	results.median = percentile(counts.latencies, 50);
	results.percentile_99 = percentile(counts.latencies, 99);
	const auto of_a_call = [&results](std::uint64_t number) {
		return results.calls ? static_cast<double>(number) / static_cast<double>(results.calls) : 0;
	};
	results.reads = of_a_call(counts.reads);
	results.failed_fetches = of_a_call(counts.failed_fetches);
	results.in_bound = of_a_call(after.in_bound - before.in_bound);
	results.out_bound = of_a_call(after.out_bound - before.out_bound);
	results.bytes = of_a_call(after.bytes - before.bytes);
	results.reply_share = of_a_call(counts.in_reply_mode);
	return results;
}

} // namespace

Results simulate(const Parameters &parameters)
{
	World world(parameters);
	const std::vector<std::unique_ptr<Client>> clients = make_clients(world);
	for (const std::unique_ptr<Client> &client : clients)
		world.events.at(world.random() * 10, [&client] { client->start(); });
	world.events.run(parameters.warm_up);
	const Traffic before = world.network.traffic(0);
	world.events.run(parameters.warm_up + parameters.duration);
	return results_of(world, before);
}

} // namespace prism::rpc::model
