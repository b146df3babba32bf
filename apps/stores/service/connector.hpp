/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace prism::apps
{

/**
 * Makes connections on a thread of its own, so that the thread with operations under way never waits for a server that
 * is gone. It tries again and again, with pauses, until there is a connection. One thread calls its functions. The
 * destructor waits for the attempt that is under way.
 */
template <typename Connection>
class Connector
{
public:
	/** Makes a connection; called by the connector's thread. */
	using Connect = std::function<Result<std::unique_ptr<Connection>>()>;

	Connector() : thread_([this](const std::stop_token &stop) { run(stop); }) {}
	Connector(const Connector &) = delete;
	Connector &operator=(const Connector &) = delete;

	/** Asks for a connection; @p connect replaces the earlier request. */
	void want(Connect connect)
	{
		const std::lock_guard guard(lock_);
		connect_ = std::move(connect);
		changed_.notify_one();
	}

	/** Returns the connection once there is one; null before. */
	std::unique_ptr<Connection> take()
	{
		if (!ready_.load(std::memory_order_acquire))
			return nullptr;
		const std::lock_guard guard(lock_);
		ready_.store(false, std::memory_order_relaxed);
		return std::move(made_);
	}

	/** Returns the reason why there is none yet; code 0 if nothing has failed. */
	[[nodiscard]] Error why() const
	{
		const std::lock_guard guard(lock_);
		return why_;
	}

private:
	/* Pause between two attempts: doubled from one to the next */
	static constexpr std::chrono::milliseconds shortest_pause{10};
	static constexpr std::chrono::milliseconds longest_pause{320};

	void run(const std::stop_token &stop)
	{
		std::chrono::milliseconds pause = shortest_pause;
		std::unique_lock guard(lock_);
		while (changed_.wait(guard, stop, [this] { return connect_ != nullptr; }) && !stop.stop_requested()) {
			const Connect connect = connect_;
			guard.unlock();
			Result<std::unique_ptr<Connection>> made = connect();
			guard.lock();
			if (made) {
				made_ = *std::move(made);
				why_ = {};
				connect_ = nullptr;
				pause = shortest_pause;
				ready_.store(true, std::memory_order_release);
				continue;
			}
			why_ = made.error();
			changed_.wait_for(guard, stop, pause, [] { return false; });
			pause = std::min(2 * pause, longest_pause);
		}
	}

	mutable std::mutex lock_;
	std::condition_variable_any changed_;
	Connect connect_; /* the request, under lock_ as the next two are; null: none */
	std::unique_ptr<Connection> made_;
	Error why_;
	std::atomic<bool> ready_ = false;
	std::jthread thread_; /* declared last: it uses the other members */
};

} // namespace prism::apps
