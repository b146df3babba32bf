/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "common/store_client.hpp"
#include "service/metrics.hpp"

namespace prism::apps
{

/**
 * What the clients of a program have done, for its MetricsEndpoint. Only clients can tell how long operations on a
 * one-sided store take, as its server does not see them. Any thread.
 */
class ClientMetrics
{
public:
	ClientMetrics();
	/** All metered clients are gone by then. */
	~ClientMetrics();
	ClientMetrics(const ClientMetrics &) = delete;
	ClientMetrics &operator=(const ClientMetrics &) = delete;

	/** A client that does what @p client does, and counts it here. As to threads and errors, it is like @p client.
	 */
	[[nodiscard]] std::unique_ptr<StoreClient> metered(std::unique_ptr<StoreClient> client);

	/** Appends the sums of all clients, those that are gone too. */
	void collect(std::vector<Metric> &metrics) const;

private:
	struct Counts;
	class MeteredClient;

	mutable std::mutex lock_;
	std::vector<std::unique_ptr<Counts>> counts_; /* one for each client */
};

} // namespace prism::apps
