/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rpc/server/server.hpp"
#include "service/service.hpp"

namespace prism::rpc
{

/** Appends the metrics of servers of calls. */
inline void collect_calls(std::vector<apps::Metric> &metrics, const ServerStats &stats)
{
	const auto count = [&metrics](const char *name, const char *help, std::uint64_t value) {
		metrics.push_back({apps::Metric::Kind::counter, name, help, static_cast<double>(value), {}});
	};
	apps::collect_connections(metrics, stats.connections, stats.open, stats.refused);
	count("prism_calls_total", "Calls that were executed", stats.requests);
	metrics.push_back(apps::histogram_metric("prism_call_seconds",
		"Time that a worker was busy with a call, without network and queues", stats.handling));
	count("prism_calls_malformed_total", "Messages for which a connection was closed", stats.malformed);
	count("prism_connections_vanished_total", "Connections that failed in the device", stats.vanished);
}

/** A store of calls as a program serves it. Server: has run(), stop(), and stats() that contain ServerStats. */
template <typename Server>
class CallService final : public apps::Service
{
public:
	using Collect = std::function<void(std::vector<apps::Metric> &, const Server &)>;

	/** @p tell: returns all figures as JSON. @p collect: appends the metrics of the store itself, if it has any. */
	CallService(
		std::unique_ptr<Server> server, std::function<std::string(const Server &)> tell,
		Collect collect = [](auto &, const auto &) {})
		: server_(std::move(server)), tell_(std::move(tell)), collect_(std::move(collect))
	{
	}

	[[nodiscard]] std::uint16_t port() const noexcept override { return server_->port(); }
	Result<void> serve() override { return server_->run(); }
	/** Stops the server, which first answers the calls that have arrived. */
	void drain(std::chrono::milliseconds) noexcept override { server_->stop(); }
	void stop() noexcept override { server_->stop(); }
	[[nodiscard]] std::string final_stats() override { return tell_(*server_); }
	void collect(std::vector<apps::Metric> &metrics) const override
	{
		collect_calls(metrics, server_->stats().server);
		collect_(metrics, *server_);
	}

private:
	const std::unique_ptr<Server> server_;
	const std::function<std::string(const Server &)> tell_;
	const Collect collect_;
};

} // namespace prism::rpc
