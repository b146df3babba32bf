/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The time to look for a response that the server does not announce. */
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace prism::rpc
{

/**
 * Predictor of the time after a request at which the first READ for its response is worth its packets. The times that
 * servers tell are averaged with decay. The delay of queues is learnt: each failed READ makes the wait a little longer,
 * each success at the first try a little shorter.
 */
class Pace
{
public:
	using Nanoseconds = std::chrono::nanoseconds;

	explicit Pace(bool on) noexcept : on_(on) {}

	[[nodiscard]] Nanoseconds wait() const noexcept
	{
		return on_ ? Nanoseconds(average_ + slack_) : Nanoseconds(0);
	}

	/**
	 * Returns the time to wait after a failed READ for a request of age @p age: a quarter of the age. So a call
	 * needs a number of READs logarithmic in its time, and its response is found at most so much later.
	 */
	[[nodiscard]] static Nanoseconds wait_again(Nanoseconds age) noexcept
	{
		return std::min<Nanoseconds>(age / 4, std::chrono::milliseconds(1));
	}

	/** Updates the prediction with a call for which the server took @p time, after @p failed READs. */
	void answered(Nanoseconds time, std::uint32_t failed) noexcept
	{
		average_ += (time.count() - average_) / 8;
		slack_ = std::clamp(slack_ + (failed ? step : -slack_ / 64 - 1), std::int64_t{0}, most);
	}

private:
	static constexpr std::int64_t step = 200;       /* ns */
	static constexpr std::int64_t most = 1'000'000; /* ns */

	bool on_;
	std::int64_t average_ = 0;
	std::int64_t slack_ = 0;
};

} // namespace prism::rpc
