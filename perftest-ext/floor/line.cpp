/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "line.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/clock.hpp"

namespace prism::floor
{

namespace
{

constexpr std::size_t tries = 5;

struct Line {
	alignas(128) std::atomic<std::uint32_t> turn{0}; /* even: the first thread's turn */
};

std::array<int, 2> two_processors()
{
	cpu_set_t allowed;
	CPU_ZERO(&allowed);
	(void)::sched_getaffinity(0, sizeof(allowed), &allowed);
	std::array<int, 2> found{};
	std::size_t count = 0;
	for (int cpu = 0; cpu < CPU_SETSIZE && count < found.size(); cpu++)
		if (CPU_ISSET(cpu, &allowed))
			found[count++] = cpu;
	if (count < found.size())
		throw std::runtime_error("--line needs two processors");
	return found;
}

/* Binds the calling thread to a processor */
void run_on(int processor)
{
	cpu_set_t only;
	CPU_ZERO(&only);
	CPU_SET(processor, &only);
	(void)::sched_setaffinity(0, sizeof(only), &only);
}

/* Takes the turns of the parity of @p turn, from that one on. */
void take_turns(Line &line, std::uint32_t turn, std::uint32_t count)
{
	for (; count; count--, turn += 2) {
		while (line.turn.load(std::memory_order_acquire) != turn) {}
		line.turn.store(turn + 1, std::memory_order_release);
	}
}

double measure_once(const std::array<int, 2> &processors, std::uint32_t rounds)
{
	Line line;
	double passed = 0;
	std::thread first([&] {
		run_on(processors[0]);
		take_turns(line, 0, 2); /* both threads have begun after this */
		const std::uint64_t start = monotonic_ns();
		take_turns(line, 4, rounds);
		passed = static_cast<double>(monotonic_ns() - start);
	});
	std::thread second([&] {
		run_on(processors[1]);
		take_turns(line, 1, rounds + 2);
	});
	first.join();
	second.join();
	return passed / (2.0 * rounds);
}

} // namespace

double measure_line(std::uint32_t rounds)
{
	const std::array<int, 2> processors = two_processors();
	std::vector<double> results;
	for (std::size_t i = 0; i < tries; i++)
		results.push_back(measure_once(processors, rounds));
	std::ranges::nth_element(results, results.begin() + tries / 2);
	return results[tries / 2];
}

} // namespace prism::floor
