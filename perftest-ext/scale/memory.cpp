/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "memory.hpp"

#include <fstream>
#include <vector>

#include <unistd.h>

#include "common/error.hpp"
#include "loop.hpp"

namespace prism::perftest
{

namespace
{

/** Returns the process's memory in KiB. */
double resident()
{
	std::ifstream file("/proc/self/statm");
	double pages = 0;
	if (!(file >> pages >> pages))
		throw Error("cannot read /proc/self/statm; is /proc mounted?");
	return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
}

} // namespace

MemoryUse measure_memory(const std::string &name, Carrier carrier, std::uint32_t pairs)
{
	const Device warm_up(name, carrier); /* what a process needs once */
	const double at_first = resident();
	const Device device(name, carrier);
	const double opened = resident();
	const ProtectionDomain pd = device.allocate_pd();
	const CompletionQueue cq = device.create_cq(1);
	std::vector<ConnectedPair> idle;
	idle.reserve(pairs);
	const double ready = resident();
	for (std::uint32_t i = 0; i < pairs; i++)
		idle.emplace_back(pd.get(), cq.get(), device.path(), 1);
	return {.context = opened - at_first, .queue_pair = (resident() - ready) / (2.0 * pairs)};
}

} // namespace prism::perftest
