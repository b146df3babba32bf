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

/**
 * A service that a server program runs: a store, or a part of one. serve() on one thread, the rest as each function
 * says.
 */
class Service
{
public:
	virtual ~Service() = default;

	/** Returns the TCP port that clients connect to. Any thread. */
	[[nodiscard]] virtual std::uint16_t port() const noexcept = 0;
	/** Serves until it is stopped or drained. Call it once. Errors: those of the device, which end the store. */
	virtual Result<void> serve() = 0;
	/**
	 * Makes serve() return when the clients' operations under way have ended, at most after @p limit: new clients
	 * are refused, those that are connected are told and begin nothing more. Any thread.
	 */
	virtual void drain(std::chrono::milliseconds limit) noexcept = 0;
	/** Makes serve() return at once. Any thread. */
	virtual void stop() noexcept = 0;
	/** Returns all figures as JSON. Call it after serve() has returned. */
	[[nodiscard]] virtual std::string final_stats() = 0;
	/** Appends current figures. Any thread. */
	virtual void collect(std::vector<Metric> &metrics) const = 0;
};

/** Appends the metrics of connections that all servers have: accepted so far, open now, and refused. */
void collect_connections(
	std::vector<Metric> &metrics, std::uint64_t accepted, std::uint64_t open, std::uint64_t refused);

} // namespace prism::apps
