/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Metrics of a server or a long-running client for Prometheus (docs/operations.md lists them). Only metrics.cpp
 * includes prometheus-cpp.
 */
#pragma once

#include <prism/device.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "service/histogram.hpp"

namespace prism::apps
{

/** Names and values, such as {"shard", "3"}. */
using Labels = std::vector<std::pair<std::string, std::string>>;

/** A value at one moment. */
struct Metric {
	enum class Kind : std::uint8_t {
		counter, /**< only grows; its name ends in _total */
		gauge,
		histogram,
	};

	Kind kind = Kind::gauge;
	std::string name;
	std::string help; /**< the same for all metrics of a name */
	double value = 0; /**< of a counter or gauge */
	Labels labels;
	std::optional<Histogram> histogram = std::nullopt;
};

/** Returns the current state of @p histogram as a metric. */
inline Metric histogram_metric(std::string name, std::string help, const Histogram &histogram, Labels labels = {})
{
	return {Metric::Kind::histogram, std::move(name), std::move(help), 0, std::move(labels), histogram};
}

/** Returns what is wrong with @p text as such an address; empty if nothing is. For options. */
std::string check_metrics_address(const std::string &text);

/** An HTTP server at which Prometheus finds metrics as /metrics. HttpServer has the limits for strangers. */
class MetricsEndpoint
{
public:
	/** Appends the current values; from the thread of the endpoint. */
	using Source = std::function<void(std::vector<Metric> &)>;

	/**
	 * Listens at @p address, "HOST:PORT" or "PORT", with a thread of its own. Errors: EINVAL (not such an address),
	 * EADDRINUSE (or one that this host does not have).
	 */
	static Result<std::unique_ptr<MetricsEndpoint>> create(const std::string &address);
	/** Sources are not called any more afterwards. */
	~MetricsEndpoint();
	MetricsEndpoint(const MetricsEndpoint &) = delete;
	MetricsEndpoint &operator=(const MetricsEndpoint &) = delete;

	[[nodiscard]] std::uint16_t port() const;

	/**
	 * Adds a source. All its metrics get @p labels too. Everything that @p source uses must outlive this object.
	 */
	void add(Source source, const Labels &labels = {});
	/** Adds the counters of @p context's device, as prismdv_query_counters(3) has them. */
	void add_device(const Context &context);

private:
	struct Implementation;
	explicit MetricsEndpoint(std::unique_ptr<Implementation> implementation);

	std::unique_ptr<Implementation> implementation_;
};

} // namespace prism::apps
