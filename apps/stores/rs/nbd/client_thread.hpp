/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "common/store_client.hpp"

namespace prism::rs
{

/**
 * Lets many threads share a client, which only one thread at a time may use: a thread of its own owns the client and
 * does all operations. It also polls while there are none, so that replicas that look for lost buffers get an answer.
 */
class ClientThread
{
public:
	/** What is to be said of an operation that has failed. Called by the thread, which alone may ask the client. */
	using Explain = std::function<Error(const apps::Operation &)>;

	/** @p patience: how long requests wait while no operation succeeds. */
	ClientThread(std::unique_ptr<apps::StoreClient> client, std::chrono::nanoseconds patience, Explain explain);
	/** Waits for the operations under way. */
	~ClientThread();
	ClientThread(const ClientThread &) = delete;
	ClientThread &operator=(const ClientThread &) = delete;

	/**
	 * Does all of @p operations, as many at once as the client takes, and waits for the end; their contexts are
	 * used. If one fails, those that have not been begun are not begun. Any thread. Errors: what the first one
	 * failed with.
	 */
	Result<void> run(std::span<apps::Operation> operations);

private:
	using Clock = std::chrono::steady_clock;
	struct Batch;

	void drive(const std::stop_token &stop);
	bool take_submitted(const std::stop_token &stop);
	void start_waiting();
	bool start_next(Batch &batch);
	bool take_ended();
	void refuse(Batch &batch, const apps::Operation &why);
	void end_if_done(Batch &batch);
	[[nodiscard]] bool hopeless(const Batch &batch) const;

	const std::unique_ptr<apps::StoreClient> client_;
	const std::chrono::nanoseconds patience_;
	const Explain explain_;
	/* The thread's own */
	std::deque<Batch *> waiting_; /* those with operations that are not begun, oldest first */
	std::size_t under_way_ = 0;   /* operations */
	Clock::time_point success_;   /* the last one */
	/* Everybody's */
	std::mutex lock_;
	std::condition_variable_any changed_;
	std::vector<Batch *> submitted_; /* under lock_ */
	std::atomic<bool> any_submitted_ = false;
	std::jthread thread_; /* declared last: it uses the others */
};

} // namespace prism::rs
