/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "connector.hpp"

#include <algorithm>

namespace prism::rs
{

namespace
{
/* Between two attempts: doubled from one to the next */
constexpr std::chrono::milliseconds shortest_pause{10};
constexpr std::chrono::milliseconds longest_pause{320};
} // namespace

Connector::Connector(LinkOptions options, unsigned replica)
	: options_(std::move(options)), replica_(replica), thread_([this](const std::stop_token &stop) { run(stop); })
{
}

Connector::~Connector() = default;

void Connector::want(std::uint64_t epoch)
{
	const std::lock_guard guard(lock_);
	wanted_ = true;
	epoch_ = epoch;
	changed_.notify_one();
}

std::unique_ptr<Link> Connector::take()
{
	if (!ready_.load(std::memory_order_acquire))
		return nullptr;
	const std::lock_guard guard(lock_);
	ready_.store(false, std::memory_order_relaxed);
	return std::move(link_);
}

Error Connector::why() const
{
	const std::lock_guard guard(lock_);
	return why_;
}

void Connector::run(const std::stop_token &stop)
{
	std::chrono::milliseconds pause = shortest_pause;
	std::unique_lock guard(lock_);
	while (changed_.wait(guard, stop, [this] { return wanted_; }) && !stop.stop_requested()) {
		const std::uint64_t epoch = epoch_;
		guard.unlock();
		Result<std::unique_ptr<Link>> made = Link::connect(options_, replica_, epoch);
		guard.lock();
		if (made) {
			link_ = *std::move(made);
			why_ = {};
			wanted_ = false;
			pause = shortest_pause;
			ready_.store(true, std::memory_order_release);
			continue;
		}
		why_ = made.error();
		changed_.wait_for(guard, stop, pause, [] { return false; });
		pause = std::min(2 * pause, longest_pause);
	}
}

} // namespace prism::rs
