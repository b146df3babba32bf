/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "tx/transaction/transaction.hpp"

namespace prism::tx
{

using apps::Event;
using apps::Waiter;

struct RetryOptions {
	Time timeout = std::chrono::seconds(5); /**< of one job with all its attempts */
	/** The longest pause after a first conflict; it doubles with each, up to the last one's. Random in between. */
	Time first_pause = std::chrono::microseconds(4);
	Time longest_pause = std::chrono::milliseconds(1);
	std::uint64_t seed = 1; /**< of the pauses */
};

/**
 * Runs transactions on lanes, one at a time on each. Systems derive from it, and the simulator. One thread at a time;
 * the data path does not throw.
 */
class TransactionClient
{
public:
	virtual ~TransactionClient() = default;
	TransactionClient(const TransactionClient &) = delete;
	TransactionClient &operator=(const TransactionClient &) = delete;

	/** How many jobs may be under way at once. */
	[[nodiscard]] std::size_t depth() const noexcept { return lanes_.size(); }

	/** Begins @p job. 0, or EAGAIN (depth() are under way: poll). */
	int start(Job &job) noexcept;

	/** Drives what is under way, without waiting, and hands back jobs that have ended: at most completed.size(). */
	std::size_t poll(std::span<Job *> completed) noexcept;

	/** Runs @p job and waits for its end, driving all others. The outcome. */
	Outcome run(Job &job) noexcept;

	/* For a body whose steps come from outside: one that goes on when its caller wants it to, not when an answer
	 * comes */

	/** What such a body of @p job awaits: wake(), or nothing; it is to look whether there is a step. */
	[[nodiscard]] Event asleep(const Job &job) noexcept { return {waiter(lane_of(job))}; }
	/** The body of @p job, which awaits asleep(), goes on. */
	void wake(const Job &job) noexcept { resume(lane_of(job)); }

	/** Whatever it begins from now on fails at once, for ever: it has lost what it cannot have again. */
	[[nodiscard]] virtual bool has_ended() const noexcept { return false; }

	/** Jobs whose commit met others, and was tried again: since the beginning. */
	[[nodiscard]] std::uint64_t conflicts() const noexcept { return conflicts_; }

protected:
	TransactionClient(std::size_t depth, const RetryOptions &options);

	/** Posts what is to be posted, takes what has come, and calls resume() for the lanes that it is for. */
	virtual void drive() noexcept = 0;
	[[nodiscard]] virtual Transaction &transaction(std::uint32_t lane) noexcept = 0;
	[[nodiscard]] virtual Time now() const noexcept;
	/** A lost connection may be there again soon: jobs that have failed for want of it, and changed nothing, wait.
	 */
	[[nodiscard]] virtual bool reconnects() const noexcept { return false; }
	/** How often a connection was lost or made again so far. */
	[[nodiscard]] virtual std::uint64_t connection_changes() const noexcept { return 0; }

	[[nodiscard]] Waiter &waiter(std::uint32_t lane) noexcept { return lanes_[lane].waiter; }
	/** Resumes the coroutine of @p lane, if it waits. */
	void resume(std::uint32_t lane) noexcept;
	/** For destructors of derived classes: what is under way ends where it is. */
	void abandon() noexcept;

private:
	struct Lane {
		Waiter waiter;
		Job *job = nullptr;
		std::optional<apps::Task<void>> task;
	};

	[[nodiscard]] std::uint32_t lane_of(const Job &job) const noexcept;
	apps::Task<void> run_job(std::uint32_t lane, Job &job);
	Time pause(unsigned attempts) noexcept;
	void look_at_clock() noexcept;

	const RetryOptions options_;
	std::vector<Lane> lanes_;
	std::vector<std::uint32_t> idle_;
	std::vector<Job *> ended_;
	std::minstd_rand random_;
	Time next_timer_ = Time::max();
	std::uint64_t conflicts_ = 0;
};

} // namespace prism::tx
