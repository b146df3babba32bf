/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "metrics.hpp"

#include <infiniband/prismdv.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace prism::apps
{

namespace
{

/* One answers, one takes the next request. */
constexpr std::size_t threads = 2;

prometheus::MetricType type_of(Metric::Kind kind)
{
	return kind == Metric::Kind::counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
}

prometheus::ClientMetric sample_of(const Metric &metric)
{
	prometheus::ClientMetric sample;
	for (const auto &[name, value] : metric.labels)
		sample.label.push_back({name, value});
	if (metric.kind == Metric::Kind::counter)
		sample.counter.value = metric.value;
	else
		sample.gauge.value = metric.value;
	return sample;
}

/** Asks the sources whenever Prometheus asks. */
class Sources final : public prometheus::Collectable
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

	[[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override
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

/** 1, 2 and 5 of each power of ten: seconds. */
prometheus::Histogram::BucketBoundaries latency_buckets()
{
	prometheus::Histogram::BucketBoundaries buckets;
	for (const double power : {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0}) {
		for (const double digit : {1.0, 2.0, 5.0})
			buckets.push_back(digit * power);
	}
	buckets.push_back(100);
	return buckets;
}

std::map<std::string, std::string> map_of(const Labels &labels)
{
	return {labels.begin(), labels.end()};
}

} // namespace

struct LatencyMetric::Implementation {
	prometheus::Histogram &histogram;
};

LatencyMetric::LatencyMetric(std::unique_ptr<Implementation> implementation)
	: implementation_(std::move(implementation))
{
}

LatencyMetric::~LatencyMetric() = default;

void LatencyMetric::observe(std::chrono::nanoseconds took) noexcept
{
	implementation_->histogram.Observe(std::chrono::duration<double>(took).count());
}

struct MetricsEndpoint::Implementation {
	explicit Implementation(const std::string &address) : exposer(address, threads)
	{
		exposer.RegisterCollectable(sources);
		exposer.RegisterCollectable(registry);
	}

	std::shared_ptr<Sources> sources = std::make_shared<Sources>();
	std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
	std::vector<std::unique_ptr<LatencyMetric>> latencies;
	prometheus::Exposer exposer;
};

Result<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::create(const std::string &address)
{
	/* The library throws, and names no cause. */
	try {
		return std::unique_ptr<MetricsEndpoint>(
			new MetricsEndpoint(std::make_unique<Implementation>(address))); /* private constructor */
	} catch (const std::exception &) {
		return make_error(EADDRINUSE, "cannot serve metrics at '" + address + "'",
			"name a free port, as HOST:PORT or PORT, of an address of this host");
	}
}

MetricsEndpoint::MetricsEndpoint(std::unique_ptr<Implementation> implementation)
	: implementation_(std::move(implementation))
{
}

MetricsEndpoint::~MetricsEndpoint()
{
	implementation_->sources->clear();
}

std::uint16_t MetricsEndpoint::port() const
{
	return static_cast<std::uint16_t>(implementation_->exposer.GetListeningPorts().at(0));
}

void MetricsEndpoint::add(Source source, const Labels &labels)
{
	implementation_->sources->add(std::move(source), labels);
}

LatencyMetric &MetricsEndpoint::add_latency(const std::string &name, const std::string &help, const Labels &labels)
{
	prometheus::Histogram &histogram = prometheus::BuildHistogram()
						   .Name(name)
						   .Help(help)
						   .Register(*implementation_->registry)
						   .Add(map_of(labels), latency_buckets());
	auto made = std::make_unique<LatencyMetric::Implementation>(LatencyMetric::Implementation{histogram});
	implementation_->latencies.emplace_back(new LatencyMetric(std::move(made))); /* private constructor */
	return *implementation_->latencies.back();
}

void MetricsEndpoint::add_device(const Context &context)
{
	const auto tell = [context](std::vector<Metric> &metrics) {
		const ssize_t count = prismdv_query_counters(context.raw(), nullptr, 0);
		std::vector<prismdv_counter> counters(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
		if (prismdv_query_counters(context.raw(), counters.data(), counters.size()) < 0)
			return;
		for (const prismdv_counter &counter : counters)
			metrics.push_back({Metric::Kind::counter, "prism_device_total",
				"What the device counts, by the names of prismdv_query_counters(3)",
				static_cast<double>(counter.value), {{"counter", counter.name}}});
	};
	add(tell, {{"device", context.name()}});
}

} // namespace prism::apps
