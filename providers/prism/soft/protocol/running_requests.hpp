/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Which requests are under way in the device contexts of one process. A grace period (docs/semantics.md S.7.3) waits
 * for those of all of them, as a program may register the same memory with several. Time is counted in epochs: whoever
 * begins a grace period ends one, and waits until no request of it or of an older one is under way.
 */
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "hand_outs.hpp"

namespace prism::soft
{

using RequestEpoch = std::uint64_t;
inline constexpr RequestEpoch no_request = std::numeric_limits<RequestEpoch>::max();

class RunningRequests;

/** What the grace periods of a process have in common. Thread-safe. */
class RequestEpochs
{
public:
	/**
	 * Of this process's device contexts. Those of a child begin anew: threads that it does not have may be in the
	 * midst of requests, or hold locks. Never destroyed, as threads may run until the process ends.
	 */
	static RequestEpochs &of_process();

	HandOuts hand_outs;

	[[nodiscard]] RequestEpoch current() const { return current_.load(); }
	/** Requests that begin from now on are in a later epoch than the one that is answered. */
	RequestEpoch end_current() { return current_.fetch_add(1); }
	/** The oldest epoch of which a request is under way in an engine other than @p own, or no_request. */
	[[nodiscard]] RequestEpoch oldest_beside(const RunningRequests &own);

private:
	friend class RunningRequests;

	std::atomic<RequestEpoch> current_{1};
	std::mutex lock_;
	std::vector<const RunningRequests *> engines_;
};

/** Those of one engine, whose caller serialises the calls. */
class RunningRequests
{
public:
	explicit RunningRequests(RequestEpochs &epochs);
	~RunningRequests();
	RunningRequests(const RunningRequests &) = delete;
	RunningRequests &operator=(const RunningRequests &) = delete;

	RequestEpochs &epochs;

	/** Before requests are executed. One exchange for all of them up to leave(), as that is what others pay for. */
	void enter();
	/** After them. @param oldest epoch of those that stay under way, or no_request */
	void leave(RequestEpoch oldest);
	/** As leave(), when one that stayed under way has ended outside of enter() and leave(); inside it waits for
	 * that. */
	void keep(RequestEpoch oldest);
	/** Of the requests that begin now */
	[[nodiscard]] RequestEpoch epoch() const { return epoch_; }

private:
	friend class RequestEpochs;

	static constexpr std::size_t cache_line = 64;
	alignas(cache_line) std::atomic<RequestEpoch> oldest_{no_request};
	RequestEpoch epoch_ = 0;
	bool entered_ = false;
};

} // namespace prism::soft
