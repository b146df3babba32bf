/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests under way in the device contexts of one process. A grace period (docs/semantics.md S.7.3) waits for those of
 * all contexts, as a program may register the same memory with several. Time is counted in epochs: beginning a grace
 * period ends an epoch, and the period lasts until no request of that epoch or of an older one is under way.
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

/** State that all grace periods of a process share. Thread-safe. */
class RequestEpochs
{
public:
	/**
	 * Returns that of this process's device contexts. A child starts with a new one: threads that it does not have
	 * may have been executing requests, or holding locks. Never destroyed, as threads may run until the process
	 * ends.
	 */
	static RequestEpochs &of_process();

	HandOuts hand_outs;

	[[nodiscard]] RequestEpoch current() const { return current_.load(); }
	/** Ends the current epoch and returns it: later requests are in a later epoch. */
	RequestEpoch end_current() { return current_.fetch_add(1); }
	/** Returns the oldest epoch with a request under way in an engine other than @p own, or no_request. */
	[[nodiscard]] RequestEpoch oldest_beside(const RunningRequests &own);

private:
	friend class RunningRequests;

	std::atomic<RequestEpoch> current_{1};
	std::mutex lock_;
	std::vector<const RunningRequests *> engines_;
};

/** Requests of one engine, whose caller serialises the calls. */
class RunningRequests
{
public:
	explicit RunningRequests(RequestEpochs &epochs);
	~RunningRequests();
	RunningRequests(const RunningRequests &) = delete;
	RunningRequests &operator=(const RunningRequests &) = delete;

	RequestEpochs &epochs;

	/** Marks requests as under way, before they are executed. Costs other cores one exchange for all requests up
	 * to leave(). */
	void enter();
	/** Ends that, after them. @param oldest epoch of the requests that stay under way, or no_request */
	void leave(RequestEpoch oldest);
	/** As leave(), when a request that stayed under way has ended outside of enter() and leave(). Between these
	 * it does nothing: leave() follows. */
	void keep(RequestEpoch oldest);
	/** Returns the epoch of requests that begin now. */
	[[nodiscard]] RequestEpoch epoch() const { return epoch_; }

private:
	friend class RequestEpochs;

	static constexpr std::size_t cache_line = 64;
	alignas(cache_line) std::atomic<RequestEpoch> oldest_{no_request};
	RequestEpoch epoch_ = 0;
	bool entered_ = false;
};

} // namespace prism::soft
