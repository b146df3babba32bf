/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/store_client.hpp"
#include "rs/volume/volume_client.hpp"
#include "service/metrics.hpp"

namespace prism::rs
{

/** The replicas of a volume that serve, as its client saw them in its last poll(). Any thread. */
class ReplicaStates
{
public:
	explicit ReplicaStates(std::size_t replicas) : serves_(replicas) {}

	/** Notes the states. On the thread of @p client. */
	void note(const VolumeClient &client) noexcept
	{
		for (unsigned replica = 0; replica < serves_.size(); replica++)
			serves_[replica].store(client.session().serves(replica), std::memory_order_relaxed);
	}

	void collect(std::vector<apps::Metric> &metrics) const
	{
		for (std::size_t replica = 0; replica < serves_.size(); replica++)
			metrics.push_back({apps::Metric::Kind::gauge, "prism_client_replica_serving",
				"1: the replica serves this client; 0: it is away or being repaired",
				serves_[replica].load(std::memory_order_relaxed) ? 1.0 : 0.0,
				{{"replica", std::to_string(replica)}}});
	}

private:
	std::vector<std::atomic<bool>> serves_;
};

/** A volume's client that notes the serving replicas, as other threads may not ask it. */
class WatchedClient final : public apps::StoreClient
{
public:
	/** @p states must outlive this object. */
	WatchedClient(std::unique_ptr<VolumeClient> client, ReplicaStates &states)
		: client_(std::move(client)), states_(states)
	{
		states_.note(*client_);
	}

	[[nodiscard]] std::size_t depth() const noexcept override { return client_->depth(); }
	int start(apps::Operation &operation) noexcept override { return client_->start(operation); }
	std::size_t poll(std::span<apps::Operation *> completed) noexcept override
	{
		const std::size_t ended = client_->poll(completed);
		states_.note(*client_);
		return ended;
	}

private:
	const std::unique_ptr<VolumeClient> client_;
	ReplicaStates &states_;
};

} // namespace prism::rs
