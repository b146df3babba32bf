/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "sharing.hpp"

#include <utility>

#include "soft/verbs/signals.hpp"

namespace prism::capi
{

Keeper::Keeper(std::function<void()> function) : poll(std::move(function))
{
	thread = soft::without_signals(
		[this] { return std::jthread([this](const std::stop_token &stop) { run(stop); }); });
}

void Keeper::run(const std::stop_token &stop)
{
	std::unique_lock guard(lock);
	while (!stop.stop_requested()) {
		poll();
		changed.wait_for(guard, stop, interval, [] { return false; });
	}
}

} // namespace prism::capi
