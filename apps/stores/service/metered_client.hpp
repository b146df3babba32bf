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
 * Counts of the operations of a program's clients, for its MetricsEndpoint. Only clients know the durations of
 * operations on a one-sided store, as its server does not see them. Any thread.
 */
class ClientMetrics
{
public:
	ClientMetrics();
	/** All metered clients must be gone by then. */
	~ClientMetrics();
	ClientMetrics(const ClientMetrics &) = delete;
	ClientMetrics &operator=(const ClientMetrics &) = delete;

	/**
	 * Returns a client that passes all operations to @p client, and counts them here. Its rules for threads and
	 * errors are those of @p client.
	 */
	[[nodiscard]] std::unique_ptr<StoreClient> metered(std::unique_ptr<StoreClient> client);

	/** Appends the sums of all clients, including those that are gone. */
	void collect(std::vector<Metric> &metrics) const;

private:
	struct Counts;
	class MeteredClient;

	mutable std::mutex lock_;
	std::vector<std::unique_ptr<Counts>> counts_; /* one for each client */
};

} // namespace prism::apps
