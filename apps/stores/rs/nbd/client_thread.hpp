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
 * Lets many threads share a client, which only one thread at a time may use. A thread of its own owns the client and
 * runs all operations. It also polls while there are none, so that replicas that look for lost buffers get an answer.
 */
class ClientThread
{
public:
	/** Explains a failed operation. Called by the thread, as only this thread may ask the client. */
	using Explain = std::function<Error(const apps::Operation &)>;

	/** @p patience: time that requests wait while no operation succeeds. */
	ClientThread(std::unique_ptr<apps::StoreClient> client, std::chrono::nanoseconds patience, Explain explain);
	/** Waits for the operations under way. */
	~ClientThread();
	ClientThread(const ClientThread &) = delete;
	ClientThread &operator=(const ClientThread &) = delete;

	/**
	 * Runs all of @p operations, as many at once as the client takes, and waits for the end; it uses their
	 * contexts. After a failure it begins no more of them. Any thread. Errors: those of the first failed operation.
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
	/* Used only by the thread */
	std::deque<Batch *> waiting_; /* batches with operations that are not begun, oldest first */
	std::size_t under_way_ = 0;   /* number of operations */
	Clock::time_point success_;   /* time of the last one */
	/* Shared */
	std::mutex lock_;
	std::condition_variable_any changed_;
	std::vector<Batch *> submitted_; /* under lock_ */
	std::atomic<bool> any_submitted_ = false;
	std::jthread thread_; /* declared last: it uses the other members */
};

} // namespace prism::rs
