/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/threads.hpp"

#include <algorithm>

namespace prism::bench
{

namespace
{

/** Returns the share of a phase that is done after @p seconds, when @p ended requests have ended. */
double share_done(const CommonOptions &options, Phase phase, double seconds, double ended, std::uint64_t loads)
{
	if (phase == Phase::load)
		return ended / static_cast<double>(loads);
	if (phase == Phase::warm_up)
		return seconds / options.warm_up;
	return options.duration > 0 ? seconds / options.duration : ended / static_cast<double>(options.requests);
}

std::string_view title(Phase phase)
{
	switch (phase) {
	case Phase::load:
		return "loading";
	case Phase::warm_up:
		return "warming up";
	case Phase::measure:
		return "measuring";
	}
	return {};
}

} // namespace

void show_progress(const CommonOptions &options, const RunState &run_state, std::uint64_t loads, ProgressBar &bar)
{
	const Phase phase = run_state.current();
	const std::uint64_t began = run_state.began(phase);
	if (!began)
		return;
	const std::uint64_t now = std::max(options.clock->now(), began);
	const std::uint64_t ended = run_state.ended[static_cast<std::size_t>(phase)].load(std::memory_order_relaxed);
	const double seconds = static_cast<double>(now - began) / 1e9;
	bar.show(title(phase), share_done(options, phase, seconds, static_cast<double>(ended), loads), ended);
}

} // namespace prism::bench
