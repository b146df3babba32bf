/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "metered_client.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <span>

namespace prism::apps
{

namespace
{

using Clock = std::chrono::steady_clock;

/* In the order of OperationKind and Outcome */
constexpr std::array<const char *, 3> kinds{"get", "put", "delete"};
constexpr std::array<const char *, outcome_count> outcomes{"ok", "not_found", "full", "failed", "unknown"};

/** Written by the client's thread, read by any thread. */
struct KindCounts {
	std::array<std::atomic<std::uint64_t>, outcomes.size()> ended{};
	Histogram durations{buckets::durations};
	Histogram round_trips{buckets::small_numbers};

	void add(const Operation &operation, Clock::duration took) noexcept
	{
		ended[static_cast<std::size_t>(operation.outcome)].fetch_add(1, std::memory_order_relaxed);
		if (has_failed(operation.outcome))
			return;
		durations.add(took);
		round_trips.add(operation.round_trips);
	}
};

} // namespace

struct ClientMetrics::Counts {
	std::array<KindCounts, kinds.size()> of_kind;
};

/** Replaces the caller's context in each operation as long as it is under way. */
class ClientMetrics::MeteredClient final : public StoreClient
{
public:
	MeteredClient(std::unique_ptr<StoreClient> client, Counts &counts)
		: client_(std::move(client)), counts_(counts), started_(client_->depth())
	{
		for (Started &started : started_)
			idle_.push_back(&started);
	}

	[[nodiscard]] std::size_t depth() const noexcept override { return client_->depth(); }

	int start(Operation &operation) noexcept override
	{
		if (idle_.empty())
			return EAGAIN;
		Started &started = *idle_.back();
		started = {operation.context, Clock::now()};
		operation.context = &started;
		if (const int error = client_->start(operation)) {
			operation.context = started.context;
			return error;
		}
		idle_.pop_back();
		return 0;
	}

	std::size_t poll(std::span<Operation *> completed) noexcept override
	{
		const std::size_t ended = client_->poll(completed);
		if (!ended)
			return 0;
		const Clock::time_point now = Clock::now();
		for (Operation *const operation : completed.first(ended)) {
			Started *const started = static_cast<Started *>(operation->context);
			operation->context = started->context;
			counts_.of_kind[static_cast<std::size_t>(operation->kind)].add(*operation, now - started->at);
			idle_.push_back(started);
		}
		return ended;
	}

	[[nodiscard]] bool has_ended() const noexcept override { return client_->has_ended(); }

private:
	struct Started {
		void *context = nullptr; /* the caller's */
		Clock::time_point at;
	};

	const std::unique_ptr<StoreClient> client_;
	Counts &counts_;
	std::vector<Started> started_;
	std::vector<Started *> idle_;
};

ClientMetrics::ClientMetrics() = default;
ClientMetrics::~ClientMetrics() = default;

std::unique_ptr<StoreClient> ClientMetrics::metered(std::unique_ptr<StoreClient> client)
{
	const std::lock_guard guard(lock_);
	counts_.push_back(std::make_unique<Counts>());
	return std::make_unique<MeteredClient>(std::move(client), *counts_.back());
}

void ClientMetrics::collect(std::vector<Metric> &metrics) const
{
	const std::lock_guard guard(lock_);
	for (std::size_t kind = 0; kind < kinds.size(); kind++) {
		const Labels labels{{"operation", kinds[kind]}};
		std::array<std::uint64_t, outcomes.size()> ended{};
		Histogram durations(buckets::durations);
		Histogram round_trips(buckets::small_numbers);
		for (const auto &counts : counts_) {
			const KindCounts &of_kind = counts->of_kind[kind];
			for (std::size_t outcome = 0; outcome < ended.size(); outcome++)
				ended[outcome] += of_kind.ended[outcome].load(std::memory_order_relaxed);
			durations += of_kind.durations;
			round_trips += of_kind.round_trips;
		}
		for (std::size_t outcome = 0; outcome < ended.size(); outcome++)
			metrics.push_back({Metric::Kind::counter, "prism_client_operations_total",
				"Operations of clients that have ended", static_cast<double>(ended[outcome]),
				{labels[0], {"outcome", outcomes[outcome]}}});
		metrics.push_back(histogram_metric("prism_client_operation_seconds",
			"Latency of operations that did not fail, as the client sees it", durations, labels));
		metrics.push_back(histogram_metric("prism_client_round_trips",
			"Round trips of operations that did not fail, with those of their retries", round_trips,
			labels));
	}
}

} // namespace prism::apps
