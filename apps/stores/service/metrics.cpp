/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "metrics.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <map>
#include <mutex>

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>
#include <prometheus/text_serializer.h>

#include "common/device_counters.hpp"
#include "service/http_server.hpp"

namespace prism::apps
{

namespace
{

prometheus::MetricType type_of(Metric::Kind kind)
{
	switch (kind) {
	case Metric::Kind::counter:
		return prometheus::MetricType::Counter;
	case Metric::Kind::gauge:
		return prometheus::MetricType::Gauge;
	case Metric::Kind::histogram:
		break;
	}
	return prometheus::MetricType::Histogram;
}

/**
 * Returns the sample. In Prometheus's format each bucket includes all smaller ones, and the last has no upper limit.
 */
prometheus::ClientMetric::Histogram sample_of(const Histogram &histogram)
{
	const Buckets &buckets = histogram.buckets();
	prometheus::ClientMetric::Histogram sample;
	std::uint64_t so_far = 0;
	for (std::size_t i = 0; i <= buckets.limits.size(); i++) {
		so_far += histogram.count_of(i);
		const double limit = i < buckets.limits.size() ? static_cast<double>(buckets.limits[i]) * buckets.unit
							       : std::numeric_limits<double>::infinity();
		sample.bucket.push_back({so_far, limit});
	}
	sample.sample_count = so_far;
	sample.sample_sum = static_cast<double>(histogram.sum()) * buckets.unit;
	return sample;
}

prometheus::ClientMetric sample_of(const Metric &metric)
{
	prometheus::ClientMetric sample;
	for (const auto &[name, value] : metric.labels)
		sample.label.push_back({name, value});
	if (metric.histogram)
		sample.histogram = sample_of(*metric.histogram);
	else if (metric.kind == Metric::Kind::counter)
		sample.counter.value = metric.value;
	else
		sample.gauge.value = metric.value;
	return sample;
}

/** Calls the sources on each request of Prometheus. */
class Sources
{
public:
	void add(MetricsEndpoint::Source source, const Labels &labels)
	{
		const std::lock_guard guard(lock_);
		sources_.emplace_back(std::move(source), labels);
	}

	void clear()
	{
		const std::lock_guard guard(lock_);
		sources_.clear();
	}

	[[nodiscard]] std::vector<prometheus::MetricFamily> collect() const
	{
		std::map<std::string, prometheus::MetricFamily> families;
		const std::lock_guard guard(lock_);
		for (const auto &[source, labels] : sources_) {
			std::vector<Metric> metrics;
			source(metrics);
			for (Metric &metric : metrics) {
				metric.labels.insert(metric.labels.begin(), labels.begin(), labels.end());
				prometheus::MetricFamily &family = families[metric.name];
				family.name = metric.name;
				family.help = metric.help;
				family.type = type_of(metric.kind);
				family.metric.push_back(sample_of(metric));
			}
		}
		std::vector<prometheus::MetricFamily> all;
		for (auto &[name, family] : families)
			all.push_back(std::move(family));
		return all;
	}

private:
	mutable std::mutex lock_;
	std::vector<std::pair<MetricsEndpoint::Source, Labels>> sources_;
};

/** Returns @p host, from [HOST]:PORT, without the brackets of an IPv6 address. */
std::string without_brackets(const std::string &host)
{
	return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

} // namespace

struct MetricsEndpoint::Implementation {
	[[nodiscard]] std::string text() const { return prometheus::TextSerializer().Serialize(sources.collect()); }

	Sources sources;
	std::unique_ptr<HttpServer> server; /* declared last: its thread calls the sources */
};

std::string check_metrics_address(const std::string &text)
{
	const std::size_t colon = text.rfind(':');
	const std::string port = text.substr(colon == std::string::npos ? 0 : colon + 1);
	std::uint16_t number = 0;
	const auto [rest, error] = std::from_chars(port.data(), port.data() + port.size(), number);
	const bool good = colon != 0 && error == std::errc{} && rest == port.data() + port.size();
	return good ? std::string() : "'" + text + "' is no address: write HOST:PORT or PORT, the port 0 to 65535";
}

Result<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::create(const std::string &address)
{
	if (const std::string wrong = check_metrics_address(address); !wrong.empty())
		return make_error(EINVAL, "cannot serve metrics", wrong);
	auto made = std::make_unique<Implementation>();
	const std::size_t colon = address.rfind(':');
	const std::string host = colon == std::string::npos ? std::string() : address.substr(0, colon);
	const std::string port = address.substr(colon == std::string::npos ? 0 : colon + 1);
	Result<std::unique_ptr<HttpServer>> server =
		HttpServer::create(without_brackets(host), static_cast<std::uint16_t>(std::stoul(port)), "/metrics",
			[&sources = *made] { return sources.text(); });
	const bool is_address = !server && (server.error().code == EADDRINUSE || server.error().code == EADDRNOTAVAIL);
	if (!server && !is_address)
		return Error{
			server.error().code, "cannot serve metrics at '" + address + "': " + server.error().message};
	if (!server)
		return Error{EADDRINUSE, "cannot serve metrics at '" + address +
						 "': the port is taken, or no interface of this host has the address; "
						 "choose another (--metrics HOST:PORT or PORT)"};
	made->server = *std::move(server);
	return std::unique_ptr<MetricsEndpoint>(new MetricsEndpoint(std::move(made))); /* private constructor */
}

MetricsEndpoint::MetricsEndpoint(std::unique_ptr<Implementation> implementation)
	: implementation_(std::move(implementation))
{
}

MetricsEndpoint::~MetricsEndpoint()
{
	implementation_->sources.clear();
}

std::uint16_t MetricsEndpoint::port() const
{
	return implementation_->server->port();
}

void MetricsEndpoint::add(Source source, const Labels &labels)
{
	implementation_->sources.add(std::move(source), labels);
}

void MetricsEndpoint::add_device(const Context &context)
{
	const auto tell = [context](std::vector<Metric> &metrics) {
		for (const prismdv_counter &counter : device_counters(context))
			metrics.push_back({Metric::Kind::counter, "prism_device_total",
				"What the device counts, by the names of prismdv_query_counters(3)",
				static_cast<double>(counter.value), {{"counter", counter.name}}});
	};
	add(tell, {{"device", context.name()}});
}

} // namespace prism::apps
