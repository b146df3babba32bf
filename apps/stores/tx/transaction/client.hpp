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
	/**
	 * Longest pause after a first conflict; it doubles with each further one, up to longest_pause. A pause is
	 * random from 0 to that.
	 */
	Time first_pause = std::chrono::microseconds(4);
	Time longest_pause = std::chrono::milliseconds(1);
	std::uint64_t seed = 1; /**< seed of the pauses */
};

/**
 * Runs transactions on lanes, one at a time on each. The stores and the simulator derive from it. Used by one thread at
 * a time; the data path does not throw.
 */
class TransactionClient
{
public:
	virtual ~TransactionClient() = default;
	TransactionClient(const TransactionClient &) = delete;
	TransactionClient &operator=(const TransactionClient &) = delete;

	/** Returns the number of jobs that may be under way at once. */
	[[nodiscard]] std::size_t depth() const noexcept { return lanes_.size(); }

	/** Begins @p job. Returns 0, or EAGAIN if depth() jobs are under way: poll. */
	int start(Job &job) noexcept;

	/**
	 * Drives all jobs under way, without waiting, and hands back jobs that have ended: at most completed.size().
	 */
	std::size_t poll(std::span<Job *> completed) noexcept;

	/** Runs @p job and waits for its end, driving all others. Returns its outcome. */
	Outcome run(Job &job) noexcept;

	/* For a body with steps from outside, which resumes when its caller wants it to, not when an answer comes */

	/**
	 * Returns the event that such a body of @p job awaits: it resumes after wake(), or for no reason, and must
	 * check whether there is a step.
	 */
	[[nodiscard]] Event asleep(const Job &job) noexcept { return {waiter(lane_of(job))}; }
	/** Resumes the body of @p job, which awaits asleep(). */
	void wake(const Job &job) noexcept { resume(lane_of(job)); }

	/**
	 * Returns true if all jobs started from now on fail at once, for ever: the client has lost a resource that it
	 * cannot get back.
	 */
	[[nodiscard]] virtual bool has_ended() const noexcept { return false; }

	/** Returns the number of attempts so far that ended with a conflict. */
	[[nodiscard]] std::uint64_t conflicts() const noexcept { return conflicts_; }

protected:
	TransactionClient(std::size_t depth, const RetryOptions &options);

	/** Posts requests, takes completions, and calls resume() for the lanes that they belong to. */
	virtual void drive() noexcept = 0;
	[[nodiscard]] virtual Transaction &transaction(std::uint32_t lane) noexcept = 0;
	[[nodiscard]] virtual Time now() const noexcept;
	/**
	 * Returns true if a lost connection may soon be there again: jobs that failed for want of it, and changed
	 * nothing, then wait.
	 */
	[[nodiscard]] virtual bool reconnects() const noexcept { return false; }
	/** Returns the number of connections lost or made again so far. */
	[[nodiscard]] virtual std::uint64_t connection_changes() const noexcept { return 0; }

	[[nodiscard]] Waiter &waiter(std::uint32_t lane) noexcept { return lanes_[lane].waiter; }
	/** Resumes the coroutine of @p lane, if it waits. */
	void resume(std::uint32_t lane) noexcept;
	/** Destroys the coroutines of all jobs under way. For destructors of derived classes. */
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
