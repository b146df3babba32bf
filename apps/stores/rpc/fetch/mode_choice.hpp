/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* RFP's choice between fetching a response and having it sent, of one kind of call at one client. */
#pragma once

#include "rpc/protocol/frame.hpp"

#include <chrono>
#include <cstdint>

namespace prism::rpc::fetch
{

/** The choice. Sans-I/O; not thread-safe. */
class ModeChoice
{
public:
	/** R and K of the paper: see FetchOptions. */
	ModeChoice(std::uint32_t retries, std::uint32_t slow_calls) noexcept
		: retries_(retries), slow_calls_(slow_calls)
	{
	}

	[[nodiscard]] Mode mode() const noexcept { return mode_; }

	/**
	 * Counts a failed READ, the @p failed -th of a call that is fetched. Returns true if this is the K-th slow call
	 * in a row: it is then the first that asks for a reply.
	 */
	bool failed(std::uint32_t failed) noexcept
	{
		if (failed != retries_ + 1 || mode_ == Mode::reply)
			return false;
		if (++slow_ < slow_calls_)
			return false;
		mode_ = Mode::reply;
		quick_ = 0;
		return true;
	}

	/** Counts a call that was fetched after @p failed failed READs; each READ takes about @p fetch_time. */
	void fetched(std::uint32_t failed, std::chrono::nanoseconds fetch_time) noexcept
	{
		if (failed <= retries_)
			slow_ = 0;
		if (fetch_time_ == std::chrono::nanoseconds(0))
			fetch_time_ = fetch_time;
		fetch_time_ += (fetch_time - fetch_time_) / 8;
	}

	/**
	 * Counts a reply, for which the server took @p server_time. Returns true if calls are fetched from now on. K
	 * replies in a row must have taken less than half of the time of R READs, so that clients do not switch back
	 * and forth near the limit.
	 */
	bool replied(std::chrono::nanoseconds server_time) noexcept
	{
		if (mode_ == Mode::fetch)
			return false;
		const bool quick = 2 * server_time < retries_ * fetch_time_;
		quick_ = quick ? quick_ + 1 : 0;
		if (quick_ < slow_calls_)
			return false;
		mode_ = Mode::fetch;
		slow_ = 0;
		return true;
	}

private:
	std::uint32_t retries_;
	std::uint32_t slow_calls_;
	Mode mode_ = Mode::fetch;
	std::uint32_t slow_ = 0;  /* slow calls in a row */
	std::uint32_t quick_ = 0; /* quick replies in a row */
	std::chrono::nanoseconds fetch_time_{0};
};

} // namespace prism::rpc::fetch
