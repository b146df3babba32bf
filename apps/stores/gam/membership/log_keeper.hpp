/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

#include "gam/membership/node_log.hpp"

namespace prism::gam
{

struct LogKeeperOptions {
	std::size_t compact_above =
		64; /**< segments; or twice those of the last compaction's copies, if that is more */
};

/**
 * The thread that waits for the disk: it commits for all waiting threads at once, makes segments ahead and compacts.
 * Any thread.
 */
class LogKeeper
{
public:
	/** @p log outlives it. */
	explicit LogKeeper(NodeLog &log, LogKeeperOptions options = {});
	~LogKeeper();
	LogKeeper(const LogKeeper &) = delete;
	LogKeeper &operator=(const LogKeeper &) = delete;

	/** Requests that the entries up to @p sequence are committed soon: see NodeLog::committed(). */
	void want(std::uint64_t sequence) noexcept;
	/** Waits until they are committed. Returns 0, or NodeLog::error(). */
	int wait(std::uint64_t sequence) noexcept;

private:
	void run(const std::stop_token &stop);
	void maintain();

	NodeLog &log_;
	const std::size_t least_; /* least value of compact_above_ */
	std::mutex lock_;
	std::condition_variable_any changed_;
	std::uint64_t wanted_ = 0;  /* sequence */
	std::size_t compact_above_; /* segments; for the thread */
	/* When it makes a segment ahead again, as the disk had no room for one. */
	std::chrono::steady_clock::time_point prepares_;
	std::jthread thread_; /* declared last: it uses the others */
};

} // namespace prism::gam
