/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The state that the workers of a run share, as threads or as processes. */
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include <prism/result.hpp>

#include "bench/frame/clock.hpp"
#include "bench/frame/workload.hpp"

namespace prism::bench
{

/** The parts of a run; all workers begin each of them together. */
enum class Phase : std::uint8_t {
	load,
	warm_up,
	measure,
};
inline constexpr std::size_t phases = 3;

/**
 * State of a run. It lies in memory that forked processes share. Any worker may call every member function at any time.
 */
class RunState
{
public:
	/** @param workers threads of all processes. @param loaded records that exist when requests begin. */
	RunState(unsigned workers, std::uint64_t loaded) noexcept : records(loaded), size_(workers) {}

	/**
	 * Waits until all workers have come to @p phase.
	 * @return the time, by @p clock, at which all of them begin; nothing if a worker gave up.
	 */
	[[nodiscard]] std::optional<std::uint64_t> begin(Phase phase, const Clock &clock) noexcept;

	/** Makes all workers end as soon as they can. */
	void give_up() noexcept { given_up_.store(true, std::memory_order_relaxed); }
	[[nodiscard]] bool has_given_up() const noexcept { return given_up_.load(std::memory_order_relaxed); }

	/** For the progress bar: the phase that began last, and its beginning. Before the first: load, and 0. */
	[[nodiscard]] Phase current() const noexcept;
	[[nodiscard]] std::uint64_t began(Phase phase) const noexcept;

	RecordCounter records;
	std::array<std::atomic<std::uint64_t>, phases> ended{}; /**< requests, for the progress bar */

private:
	unsigned size_;
	std::array<std::atomic<unsigned>, phases> arrived_{};
	std::array<std::atomic<std::uint64_t>, phases> start_{}; /* 0: not known yet */
	std::atomic<bool> given_up_ = false;
};

/** Unmaps a RunState. */
struct RunStateUnmapper {
	void operator()(RunState *run_state) const noexcept;
};
using SharedRunState = std::unique_ptr<RunState, RunStateUnmapper>;

/** Makes a RunState in memory that children share with this process. */
[[nodiscard]] Result<SharedRunState> make_run_state(unsigned workers, std::uint64_t records);

} // namespace prism::bench
