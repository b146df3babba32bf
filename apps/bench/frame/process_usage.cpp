/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/process_usage.hpp"

#include <array>
#include <fstream>
#include <string>
#include <utility>

#include <sys/resource.h>

namespace prism::bench
{

namespace
{

constexpr std::uint64_t kib = 1024;

constexpr std::array<std::pair<const char *, std::uint64_t ProcessUsage::*>, 4> lines{{
	{"VmRSS:", &ProcessUsage::resident},
	{"VmHWM:", &ProcessUsage::peak},
	{"VmData:", &ProcessUsage::allocated},
	{"Pss:", &ProcessUsage::touched},
}};

/** Reads the values of lines "NAME NUMBER kB". */
void read_lines(const char *path, ProcessUsage &usage)
{
	std::ifstream file(path);
	std::string name, rest;
	for (std::uint64_t number = 0; file >> name; std::getline(file, rest)) {
		for (const auto &[line, member] : lines) {
			if (name == line && file >> number)
				usage.*member = number * kib;
		}
	}
}

std::uint64_t nanoseconds(const timeval &time) noexcept
{
	return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
	       static_cast<std::uint64_t>(time.tv_usec) * 1000;
}

} // namespace

ProcessUsage usage_of_process()
{
	ProcessUsage usage;
	rusage spent{};
	if (getrusage(RUSAGE_SELF, &spent) == 0) {
		usage.user = nanoseconds(spent.ru_utime);
		usage.system = nanoseconds(spent.ru_stime);
	}
	read_lines("/proc/self/status", usage);
	read_lines("/proc/self/smaps_rollup", usage);
	return usage;
}

} // namespace prism::bench
