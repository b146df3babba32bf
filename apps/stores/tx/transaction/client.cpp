/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "client.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/recent_clock.hpp"

namespace prism::tx
{

namespace
{

/* Interval at which a job that waits for a connection checks for it */
constexpr Time between_looks = std::chrono::milliseconds(1);

} // namespace

TransactionClient::TransactionClient(std::size_t depth, const RetryOptions &options)
	: options_(options), lanes_(depth),
	  random_(static_cast<std::minstd_rand::result_type>(options.seed % std::minstd_rand::modulus))
{
	for (std::uint32_t lane = static_cast<std::uint32_t>(depth); lane-- > 0;)
		idle_.push_back(lane);
	ended_.reserve(depth);
}

Time TransactionClient::now() const noexcept
{
	return RecentClock::now().time_since_epoch();
}

int TransactionClient::start(Job &job) noexcept
{
	if (idle_.empty())
		return EAGAIN;
	const std::uint32_t number = idle_.back();
	idle_.pop_back();
	Lane &lane = lanes_[number];
	job.error = 0;
	job.attempts = 0;
	job.stamp = {};
	lane.job = &job;
	lane.task.emplace(run_job(number, job));
	lane.task->start();
	if (!lane.task->done()) {
		next_timer_ = std::min(next_timer_, lane.waiter.wake_at);
		return 0;
	}
	lane.task.reset();
	idle_.push_back(number);
	ended_.push_back(std::exchange(lane.job, nullptr));
	return 0;
}

void TransactionClient::resume(std::uint32_t number) noexcept
{
	Lane &lane = lanes_[number];
	if (!lane.waiter.resume())
		return;
	next_timer_ = std::min(next_timer_, lane.waiter.wake_at);
	if (!lane.task || !lane.task->done())
		return;
	lane.task.reset();
	idle_.push_back(number);
	ended_.push_back(std::exchange(lane.job, nullptr));
}

/** Returns the lane of a job that is under way. */
std::uint32_t TransactionClient::lane_of(const Job &job) const noexcept
{
	return static_cast<std::uint32_t>(std::ranges::find(lanes_, &job, &Lane::job) - lanes_.begin());
}

void TransactionClient::look_at_clock() noexcept
{
	if (next_timer_ == Time::max())
		return;
	const Time time = now();
	if (time < next_timer_)
		return;
	next_timer_ = Time::max();
	for (std::uint32_t lane = 0; lane < lanes_.size(); lane++) {
		if (lanes_[lane].waiter.waits() && lanes_[lane].waiter.wake_at <= time)
			resume(lane);
		next_timer_ = std::min(next_timer_, lanes_[lane].waiter.wake_at);
	}
}

std::size_t TransactionClient::poll(std::span<Job *> completed) noexcept
{
	drive();
	look_at_clock();
	const std::size_t count = std::min(completed.size(), ended_.size());
	std::copy_n(ended_.begin(), count, completed.begin());
	ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(count));
	return count;
}

Outcome TransactionClient::run(Job &job) noexcept
{
	while (start(job) == EAGAIN)
		drive();
	for (;;) {
		drive();
		look_at_clock();
		const auto found = std::find(ended_.begin(), ended_.end(), &job);
		if (found == ended_.end())
			continue;
		ended_.erase(found);
		return job.outcome;
	}
}

void TransactionClient::abandon() noexcept
{
	for (Lane &lane : lanes_) {
		lane.waiter = {};
		lane.task.reset();
	}
}

Time TransactionClient::pause(unsigned attempts) noexcept
{
	const Time longest = std::min(options_.first_pause * (1U << std::min(attempts, 20U)), options_.longest_pause);
	return Time(std::uniform_int_distribution<Time::rep>(0, longest.count())(random_));
}

apps::Task<void> TransactionClient::run_job(std::uint32_t number, Job &job)
{
	Transaction &attempt = transaction(number);
	const Time deadline = now() + options_.timeout;
	for (;;) {
		job.attempts++;
		const std::uint64_t changes = connection_changes();
		co_await attempt.begin();
		job.outcome = Outcome::rolled_back;
		job.error = co_await job.body(attempt);
		if (job.error) {
			co_await attempt.roll_back();
		} else {
			job.outcome = co_await attempt.commit();
			job.error = attempt.error();
		}
		job.round_trips = attempt.round_trips();
		job.stamp = attempt.stamp();
		const bool conflict = job.outcome == Outcome::conflict ||
				      (job.outcome == Outcome::rolled_back && job.error == EAGAIN);
		if (conflict) {
			conflicts_++;
			job.outcome = Outcome::conflict;
			job.error = attempt.error() ? attempt.error() : EAGAIN;
		}
		const bool changed_nothing = job.outcome == Outcome::failed || job.outcome == Outcome::rolled_back;
		if (changed_nothing && job.error == EHOSTUNREACH && job.max_attempts != 1 && now() < deadline &&
			(reconnects() || changes != connection_changes())) {
			job.attempts--; /* no other transaction was in its way */
			attempt.forget();
			co_await Event{lanes_[number].waiter, now() + between_looks};
			continue;
		}
		if (!conflict || job.attempts == job.max_attempts || now() >= deadline) {
			attempt.forget();
			co_return;
		}
		co_await Event{lanes_[number].waiter, now() + pause(job.attempts)};
	}
}

} // namespace prism::tx
