/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "sharing.hpp"

#include <utility>

#include "base/signals.hpp"

namespace prism::capi
{

Keeper::Keeper(std::function<void()> function) : poll_(std::move(function))
{
	thread_ = without_signals([this] { return std::jthread([this](const std::stop_token &stop) { run(stop); }); });
}

void Keeper::run(const std::stop_token &stop)
{
	std::unique_lock guard(lock_);
	while (!stop.stop_requested()) {
		poll_();
		changed_.wait_for(guard, stop, interval, [] { return false; });
	}
}

} // namespace prism::capi
