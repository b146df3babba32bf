/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Metrics of a client by ClientMetrics, which its caller does not notice. */
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <string>

#include "service/metered_client.hpp"

namespace
{

using namespace prism::apps;

/** Client whose operations end when the test says so. */
class ScriptedClient final : public StoreClient
{
public:
	[[nodiscard]] std::size_t depth() const noexcept override { return 2; }
	int start(Operation &operation) noexcept override
	{
		if (refuse)
			return refuse;
		under_way.push_back(&operation);
		return 0;
	}
	std::size_t poll(std::span<Operation *> completed) noexcept override
	{
		std::size_t count = 0;
		for (; count < completed.size() && !under_way.empty() && to_end; to_end--) {
			under_way.front()->outcome = outcome;
			under_way.front()->round_trips = round_trips;
			completed[count++] = under_way.front();
			under_way.pop_front();
		}
		return count;
	}

	int refuse = 0;
	unsigned to_end = 0;
	Outcome outcome = Outcome::ok;
	std::uint32_t round_trips = 1;
	std::deque<Operation *> under_way;
};

class Metered : public testing::Test
{
protected:
	Metered()
	{
		auto made = std::make_unique<ScriptedClient>();
		inner = made.get();
		client = metrics.metered(std::move(made));
	}

	Operation operation(OperationKind kind)
	{
		Operation made;
		made.kind = kind;
		made.context = this;
		return made;
	}

	void run(OperationKind kind, Outcome outcome, std::uint32_t round_trips = 1)
	{
		Operation one = operation(kind);
		ASSERT_EQ(client->start(one), 0);
		inner->outcome = outcome;
		inner->round_trips = round_trips;
		inner->to_end = 1;
		std::array<Operation *, 4> ended{};
		ASSERT_EQ(client->poll(ended), 1u);
		EXPECT_EQ(ended[0], &one);
		EXPECT_EQ(one.context, this) << "the caller's context comes back";
	}

	/** Returns the metric with these labels. */
	Metric find(const std::string &name, const Labels &labels)
	{
		std::vector<Metric> all;
		metrics.collect(all);
		const auto found = std::ranges::find_if(
			all, [&](const Metric &metric) { return metric.name == name && metric.labels == labels; });
		EXPECT_NE(found, all.end()) << name;
		return found == all.end() ? Metric{} : *found;
	}
	double ended(const char *operation, const char *outcome)
	{
		return find("prism_client_operations_total", {{"operation", operation}, {"outcome", outcome}}).value;
	}

	ClientMetrics metrics;
	ScriptedClient *inner = nullptr; /* of client */
	std::unique_ptr<StoreClient> client;
};

TEST_F(Metered, OperationsAreCountedByTheirOutcome)
{
	run(OperationKind::get, Outcome::ok);
	run(OperationKind::get, Outcome::not_found);
	run(OperationKind::put, Outcome::ok, 3);
	run(OperationKind::put, Outcome::full);
	run(OperationKind::put, Outcome::failed, 7);
	run(OperationKind::put, Outcome::unknown, 7);
	run(OperationKind::erase, Outcome::ok);
	EXPECT_EQ(ended("get", "ok"), 1);
	EXPECT_EQ(ended("get", "not_found"), 1);
	EXPECT_EQ(ended("put", "ok"), 1);
	EXPECT_EQ(ended("put", "full"), 1);
	EXPECT_EQ(ended("put", "failed"), 1);
	EXPECT_EQ(ended("put", "unknown"), 1);
	EXPECT_EQ(ended("delete", "ok"), 1);
	const Metric puts = find("prism_client_round_trips", {{"operation", "put"}});
	EXPECT_EQ(puts.histogram->count(), 2u) << "without those that failed";
	EXPECT_EQ(puts.histogram->sum(), 4u);
	EXPECT_EQ(find("prism_client_operation_seconds", {{"operation", "put"}}).histogram->count(), 2u);
}

TEST_F(Metered, LatencyIsThatOfEachOperation)
{
	using namespace std::chrono_literals;
	const auto before = std::chrono::steady_clock::now();
	Operation one = operation(OperationKind::get);
	Operation two = operation(OperationKind::get);
	ASSERT_EQ(client->start(one), 0);
	ASSERT_EQ(client->start(two), 0);
	std::array<Operation *, 4> ended{};
	inner->to_end = 2;
	ASSERT_EQ(client->poll(ended), 2u);
	const auto all = std::chrono::steady_clock::now() - before;
	const Metric gets = find("prism_client_operation_seconds", {{"operation", "get"}});
	EXPECT_EQ(gets.histogram->count(), 2u);
	EXPECT_LE(std::chrono::nanoseconds(gets.histogram->sum()), 2 * all);
	EXPECT_GT(gets.histogram->sum(), 0u);
}

TEST_F(Metered, WhatDoesNotBeginIsNotCounted)
{
	Operation one = operation(OperationKind::get);
	inner->refuse = EINVAL;
	EXPECT_EQ(client->start(one), EINVAL);
	EXPECT_EQ(one.context, this);
	inner->refuse = 0;
	Operation two = one;
	Operation three = one;
	EXPECT_EQ(client->start(one), 0);
	EXPECT_EQ(client->start(two), 0);
	EXPECT_EQ(client->start(three), EAGAIN) << "two are under way";
	EXPECT_EQ(three.context, this);
	EXPECT_EQ(ended("get", "ok"), 0);
}

TEST_F(Metered, ClientsAreSummedUpAndStayWhenTheyAreGone)
{
	run(OperationKind::get, Outcome::ok);
	auto made = std::make_unique<ScriptedClient>();
	inner = made.get();
	client = metrics.metered(std::move(made));
	run(OperationKind::get, Outcome::ok);
	client.reset();
	EXPECT_EQ(ended("get", "ok"), 2);
}

} // namespace
