/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/rpc/outcome.hpp"

#include <algorithm>

namespace prism::echo
{

void add(rpc::LinkCounters &sum, const rpc::LinkCounters &other) noexcept
{
	for (const auto &[name, member] : link_counters)
		sum.*member += other.*member;
}

rpc::LinkCounters since(const rpc::LinkCounters &before, const rpc::LinkCounters &now) noexcept
{
	rpc::LinkCounters difference;
	for (const auto &[name, member] : link_counters)
		difference.*member = now.*member - before.*member;
	return difference;
}

void RunResult::merge(const RunResult &other)
{
	latency.resize(std::max(latency.size(), other.latency.size()));
	for (std::size_t i = 0; i < other.latency.size(); i++)
		latency[i].merge(other.latency[i]);
	calls += other.calls;
	in_time += other.in_time;
	wrong += other.wrong;
	slow += other.slow;
	abandoned += other.abandoned;
	nanoseconds = std::max(nanoseconds, other.nanoseconds);
	traffic += other.traffic;
	add(links, other.links);
	if (other.client_after.resident == 0)
		return; /* another thread read the processes' figures */
	client_idle = other.client_idle;
	client_before = other.client_before;
	client_after = other.client_after;
	server_first = other.server_first;
	server_before = other.server_before;
	server_after = other.server_after;
}

bench::LatencyHistogram RunResult::all_latencies() const
{
	bench::LatencyHistogram all;
	for (const bench::LatencyHistogram &of_size : latency)
		all.merge(of_size);
	return all;
}

double RunResult::rate() const noexcept
{
	return nanoseconds ? static_cast<double>(in_time) * 1e9 / static_cast<double>(nanoseconds) : 0;
}

} // namespace prism::echo
