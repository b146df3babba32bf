/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* When to look for a response that the server does not announce. */
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace prism::rpc
{

/**
 * How long after a request the first READ for its response is worth its packets. The time that servers tell is a moving
 * average; what queues add to it is learnt: each failed READ makes the wait a little longer, each success at the first
 * try a little shorter.
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
	 * How long to wait behind a READ that failed, the request being @p age old: a quarter of that, so that a call
	 * costs READs by the logarithm of its time, and its response is found at most so much later.
	 */
	[[nodiscard]] static Nanoseconds wait_again(Nanoseconds age) noexcept
	{
		return std::min<Nanoseconds>(age / 4, std::chrono::milliseconds(1));
	}

	/** A call was answered, for which the server took @p time, after @p failed READs. */
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
