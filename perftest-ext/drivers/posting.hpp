/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Posting lists of requests and taking their completions, for both drivers. */
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/clock.hpp"
#include "operations/contestant.hpp"

namespace prism::perftest
{

/** Requests of one QP to be posted with one doorbell. */
class PostList
{
public:
	explicit PostList(ibv_qp *target) : qp_(target) {}

	/** Adds a step; its last request completes with @p wr_id if @p signalled, the others never do. */
	void add(std::span<Request> requests, std::uint64_t wr_id, bool signalled)
	{
		for (Request &request : requests) {
			ibv_send_wr &wr = request.wr();
			wr.send_flags &= ~static_cast<unsigned>(IBV_SEND_SIGNALED);
			wr.next = nullptr;
			if (last_)
				last_->next = &wr;
			else
				first_ = &wr;
			last_ = &wr;
		}
		last_->wr_id = wr_id;
		if (signalled)
			last_->send_flags |= IBV_SEND_SIGNALED;
	}

	/** Posts what was added; throws Error if the device refuses. */
	void post()
	{
		if (!first_)
			return;
		ibv_send_wr *bad = nullptr;
		const int error = ibv_post_send(qp_, first_, &bad);
		if (error)
			refuse(error, bad);
		first_ = last_ = nullptr;
	}

private:
	[[noreturn]] static void refuse(int error, const ibv_send_wr *bad);

	ibv_qp *qp_;
	ibv_send_wr *first_ = nullptr;
	ibv_send_wr *last_ = nullptr;
};

/** Takes completions from a CQ, and gives up when none comes for a long time. */
class CompletionPoller
{
public:
	explicit CompletionPoller(ibv_cq *polled) : cq_(polled) {}

	/** Returns at least one completion, all of successful requests; throws Error otherwise. */
	std::span<const ibv_wc> poll()
	{
		int count = 0;
		for (std::uint32_t empty = 0; count == 0; empty++) {
			count = ibv_poll_cq(cq_, static_cast<int>(completions_.size()), completions_.data());
			if ((empty & looks_at_clock) == looks_at_clock)
				check_patience();
		}
		if (count < 0)
			throw Error("the completion queue cannot be polled any more");
		silent_since_ = 0;
		const std::span<const ibv_wc> found(completions_.data(), static_cast<std::size_t>(count));
		for (const ibv_wc &completion : found)
			if (completion.status != IBV_WC_SUCCESS)
				fail(completion);
		return found;
	}

private:
	static constexpr std::uint32_t looks_at_clock = (1 << 16) - 1;

	void check_patience();
	[[noreturn]] static void fail(const ibv_wc &completion);

	ibv_cq *cq_;
	std::array<ibv_wc, 64> completions_{};
	std::uint64_t silent_since_ = 0; /* 0: not silent for long */
};

/** Throws Error, for Outcome::wrong, or for a status that contradicts the results. */
[[noreturn]] void report_fault(const Contestant &contestant, std::uint32_t job, std::uint32_t status);

/** Limits the repetition of jobs that found the free list empty, until the server has reposted buffers. */
class EmptyListPatience
{
public:
	/** Notes that a job succeeded. */
	void success() { since_ = 0; }

	/** Notes that a job found the list empty; throws Error if that has lasted too long. */
	void retry();

	[[nodiscard]] std::uint64_t retries() const { return count_; }

private:
	std::uint64_t since_ = 0;
	std::uint64_t count_ = 0;
};

} // namespace prism::perftest
