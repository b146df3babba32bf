/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/run_state.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <thread>

#include <sys/mman.h>

#include "base/clock.hpp"

namespace prism::bench
{

namespace
{

class MonotonicClock final : public Clock
{
public:
	[[nodiscard]] std::uint64_t now() const noexcept override { return monotonic_ns(); }
};

constexpr std::uint64_t head_start = 2'000'000; /* ns: time for all workers to see the beginning */

} // namespace

const Clock &monotonic_clock() noexcept
{
	static const MonotonicClock clock;
	return clock;
}

std::optional<std::uint64_t> RunState::begin(Phase phase, const Clock &clock) noexcept
{
	const auto index = static_cast<std::size_t>(phase);
	if (size_ == 1) {
		start_[index].store(std::max<std::uint64_t>(clock.now(), 1), std::memory_order_release);
	} else if (arrived_[index].fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
		start_[index].store(clock.now() + head_start, std::memory_order_release);
	}
	std::uint64_t moment = 0;
	while ((moment = start_[index].load(std::memory_order_acquire)) == 0) {
		if (has_given_up())
			return {};
		std::this_thread::sleep_for(std::chrono::microseconds(200));
	}
	if (size_ > 1) {
		while (clock.now() < moment)
			std::this_thread::sleep_for(std::chrono::microseconds(20));
	}
	if (has_given_up())
		return {};
	return moment;
}

Phase RunState::current() const noexcept
{
	for (std::size_t i = phases; i-- > 1;) {
		if (start_[i].load(std::memory_order_relaxed))
			return static_cast<Phase>(i);
	}
	return Phase::load;
}

std::uint64_t RunState::began(Phase phase) const noexcept
{
	return start_[static_cast<std::size_t>(phase)].load(std::memory_order_relaxed);
}

void RunStateUnmapper::operator()(RunState *run_state) const noexcept
{
	static_assert(std::is_trivially_destructible_v<RunState>);
	munmap(run_state, sizeof(RunState));
}

Result<SharedRunState> make_run_state(unsigned workers, std::uint64_t records)
{
	void *memory = mmap(nullptr, sizeof(RunState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return make_error(errno, "memory that the driver's processes share");
	return SharedRunState(new (memory) RunState(workers, records));
}

} // namespace prism::bench
