/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "service/metrics.hpp"

namespace prism::apps
{

/** What a server program runs: a store, or a part of one. serve() on one thread, the rest as each function says. */
class Service
{
public:
	virtual ~Service() = default;

	/** The TCP port that clients connect to. Any thread. */
	[[nodiscard]] virtual std::uint16_t port() const noexcept = 0;
	/** Serves until it is stopped or drained. Once. Errors: of the device, which end the store. */
	virtual Result<void> serve() = 0;
	/**
	 * Has serve() return when what clients have under way has ended, at most after @p limit: new clients are
	 * refused, those that are connected are told and begin nothing more. Any thread.
	 */
	virtual void drain(std::chrono::milliseconds limit) noexcept = 0;
	/** Has serve() return at once. Any thread. */
	virtual void stop() noexcept = 0;
	/** All figures as JSON. When serve() has returned. */
	[[nodiscard]] virtual std::string final_stats() = 0;
	/** Figures of about this moment. Any thread. */
	virtual void collect(std::vector<Metric> &metrics) const = 0;
};

/** Appends what servers of every kind tell of their connections: accepted so far, open now, and refused. */
void collect_connections(
	std::vector<Metric> &metrics, std::uint64_t accepted, std::uint64_t open, std::uint64_t refused);

} // namespace prism::apps
