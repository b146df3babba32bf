/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "running_requests.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <pthread.h>

namespace prism::soft
{

RequestEpochs &RequestEpochs::of_process()
{
	alignas(RequestEpochs) static std::byte storage[sizeof(RequestEpochs)];
	static auto *const epochs = [] {
		pthread_atfork(nullptr, nullptr, [] { new (&of_process()) RequestEpochs; });
		return new (storage) RequestEpochs;
	}();
	return *epochs;
}

RequestEpoch RequestEpochs::oldest_beside(const RunningRequests &own)
{
	const std::scoped_lock guard(lock_);
	RequestEpoch oldest = no_request;
	for (const RunningRequests *engine : engines_) {
		if (engine != &own)
			oldest = std::min(oldest, engine->oldest_.load());
	}
	return oldest;
}

RunningRequests::RunningRequests(RequestEpochs &shared) : epochs(shared)
{
	const std::scoped_lock guard(epochs.lock_);
	epochs.engines_.push_back(this);
}

RunningRequests::~RunningRequests()
{
	const std::scoped_lock guard(epochs.lock_);
	std::erase(epochs.engines_, this);
}

void RunningRequests::enter()
{
	if (entered_)
		return;
	entered_ = true;
	epoch_ = epochs.current();
	/*
	 * Publish before accessing memory: a thread that ends the epoch in between has missed nothing that these
	 * requests could still find. An older request under way already stands for them.
	 */
	if (oldest_.load(std::memory_order_relaxed) == no_request)
		oldest_.exchange(epoch_);
}

void RunningRequests::leave(RequestEpoch oldest)
{
	entered_ = false;
	keep(oldest);
}

void RunningRequests::keep(RequestEpoch oldest)
{
	if (!entered_)
		oldest_.store(oldest, std::memory_order_release);
}

} // namespace prism::soft
