/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/threads.hpp"

#include <algorithm>

namespace prism::bench
{

namespace
{

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

void show_progress(const Clock &clock, const RunState &run_state, const ShareDone &share, ProgressBar &bar)
{
	const Phase phase = run_state.current();
	const std::uint64_t began = run_state.began(phase);
	if (!began)
		return;
	const std::uint64_t now = std::max(clock.now(), began);
	const std::uint64_t ended = run_state.ended[static_cast<std::size_t>(phase)].load(std::memory_order_relaxed);
	bar.show(title(phase), share(phase, static_cast<double>(now - began) / 1e9, ended), ended);
}

} // namespace prism::bench
