/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/log_keeper.hpp"

#include <algorithm>
#include <chrono>

namespace prism::gam
{

namespace
{

/* Checks are for work: compaction, or a new segment */
constexpr std::chrono::milliseconds check_interval{10};
/* The same while the disk has no room for a segment */
constexpr std::chrono::seconds room_interval{1};

} // namespace

LogKeeper::LogKeeper(NodeLog &log, LogKeeperOptions options)
	: log_(log), least_(options.compact_above), compact_above_(least_),
	  thread_([this](const std::stop_token &stop) { run(stop); })
{
}

LogKeeper::~LogKeeper()
{
	thread_.request_stop();
	thread_.join();
}

void LogKeeper::want(std::uint64_t sequence) noexcept
{
	sequence = std::min(sequence, log_.written());
	{
		const std::scoped_lock guard(lock_);
		if (sequence <= wanted_)
			return;
		wanted_ = sequence;
	}
	changed_.notify_all();
}

int LogKeeper::wait(std::uint64_t sequence) noexcept
{
	want(sequence);
	std::unique_lock guard(lock_);
	changed_.wait(guard, [&] { return log_.committed() >= sequence || log_.error(); });
	return log_.committed() >= sequence ? 0 : log_.error();
}

void LogKeeper::run(const std::stop_token &stop)
{
	std::unique_lock guard(lock_);
	while (!stop.stop_requested()) {
		changed_.wait_for(
			guard, stop, check_interval, [&] { return wanted_ > log_.committed() && !log_.error(); });
		const bool commits = wanted_ > log_.committed();
		guard.unlock();
		if (commits)
			(void)log_.commit(); /* waiting threads see error() */
		maintain();
		guard.lock();
		changed_.notify_all(); /* always: a compaction commits as well */
	}
}

void LogKeeper::maintain()
{
	/* Without a segment ahead, append() makes one, and reports errors. */
	const auto now = std::chrono::steady_clock::now();
	if (now >= prepares_ && log_.prepare())
		prepares_ = now + room_interval;
	if (log_.error() || log_.segments() <= compact_above_)
		return;
	/* A failed compaction leaves the log as it was. */
	const Result<std::size_t> copied = log_.compact();
	/* Only the copies count: other threads have filled more segments meanwhile, which the next compaction removes.
	 */
	compact_above_ = copied ? std::max(least_, 2 * (*copied / log_.segment_bytes() + 1)) : log_.segments();
}

} // namespace prism::gam
