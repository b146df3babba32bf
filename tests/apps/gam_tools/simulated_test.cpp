/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes in virtual time: the time of a case is what one computes by hand, and its messages are those of the table. */
#include "bench/gam/simulated.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace
{

using namespace prism::gam;
using namespace prism::gam::micro;
using prism::gam::simulated::Hardware;

/** Returns hardware in which no sum of some costs equals a sum of others. */
Hardware odd_hardware()
{
	Hardware hardware;
	hardware.hop = 1.009;
	hardware.loopback = 0.503;
	hardware.packet = 0.083;
	hardware.request = 0.211;
	hardware.message = 0.307;
	hardware.completion = 0.199;
	hardware.post = 0.101;
	hardware.hit = 0.061;
	return hardware;
}

RunOptions options_of(Protocol protocol, std::size_t nodes)
{
	RunOptions options;
	options.cluster.simulated = true;
	options.cluster.protocol = protocol;
	options.cluster.nodes = nodes;
	return options;
}

RunResult run(const RunOptions &options, const Hardware &hardware = {})
{
	prism::Result<RunResult> result = run_simulated(options, hardware);
	EXPECT_TRUE(result) << result.error().message;
	EXPECT_TRUE(result->clean());
	EXPECT_EQ(result->stats.refused, 0U);
	return *std::move(result);
}

/** Cost of a case: how often each cost is on its critical path, and the transmissions there. */
struct Row {
	const char *name;
	Case single;
	Protocol protocol;
	bool forwards;
	std::size_t nodes;
	/* In total */
	std::uint64_t messages, events, requests;
	/* On the critical path */
	unsigned hops, packets, requests_there, messages_there, completions, posts;
	struct Transmission {
		std::size_t bytes, packets;
	};
	std::vector<Transmission> transmissions;
};

constexpr std::size_t header = Message::header_size, whole = Message::max_size;
constexpr std::size_t address = 16, cas = address + 4 * 32, entry = 32, pointer = 8;

const std::vector<Row> rows = {
	{"clean_miss", Case::clean_miss, Protocol::directory, false, 2, 2, 1, 0, 2, 2, 0, 2, 0, 2,
		{{header, 1}, {whole, 1}}},
	{"write_miss", Case::write_miss, Protocol::directory, false, 2, 2, 1, 0, 2, 2, 0, 2, 0, 2,
		{{header, 1}, {whole, 1}}},
	{"write_shared_by_1", Case::write_shared, Protocol::directory, false, 3, 4, 2, 0, 4, 4, 0, 4, 0, 4,
		{{header, 1}, {header, 1}, {header, 1}, {whole, 1}}},
	/* The home posts two invalidations one after the other */
	{"write_shared_by_2", Case::write_shared, Protocol::directory, false, 4, 6, 3, 0, 4, 4, 0, 5, 0, 4,
		{{header, 1}, {header, 1}, {header, 1}, {whole, 1}}},
	/* READ, FETCH_SHARED, data, data */
	{"dirty_miss", Case::dirty_miss, Protocol::directory, false, 3, 4, 2, 0, 4, 4, 0, 4, 0, 4,
		{{header, 1}, {header, 1}, {whole, 1}, {whole, 1}}},
	/* READ, READ_FORWARD, data */
	{"dirty_miss_forwarded", Case::dirty_miss, Protocol::directory, true, 3, 4, 2, 0, 3, 3, 0, 3, 0, 3,
		{{header, 1}, {header, 1}, {whole, 1}}},

	/* The buffers are null pointers, so READs bring nothing */
	{"clean_miss_latch", Case::clean_miss, Protocol::latch, false, 2, 0, 0, 2, 2, 2, 2, 0, 1, 1,
		{{cas + address, 2}, {entry, 2}}},
	{"write_miss_latch", Case::write_miss, Protocol::latch, false, 2, 0, 0, 2, 2, 2, 2, 0, 1, 1,
		{{cas + address, 2}, {entry, 2}}},
	/* The chain; INVALIDATE, ack */
	{"write_shared_by_1_latch", Case::write_shared, Protocol::latch, false, 3, 2, 0, 2, 4, 4, 2, 2, 1, 3,
		{{cas + address, 2}, {entry, 2}, {header, 1}, {header, 1}}},
	/* The chain, which misses; REQUEST; ALLOCATE and two CAS; GRANT */
	{"dirty_miss_latch", Case::dirty_miss, Protocol::latch, false, 3, 2, 0, 5, 6, 7, 5, 2, 2, 4,
		{{cas + address, 2}, {entry, 2}, {header, 1}, {address + block_size + 2 * cas, 3},
			{pointer + 2 * entry, 3}, {whole, 1}}},
};

class CaseTest : public testing::TestWithParam<Row>
{
};

TEST_P(CaseTest, TakesWhatOneComputes)
{
	const Row &row = GetParam();
	const Hardware hardware = odd_hardware();
	RunOptions options = options_of(row.protocol, row.nodes);
	options.cluster.forwards = row.forwards;
	options.single = row.single;
	options.operations = 20;
	const RunResult result = run(options, hardware);

	double expected = hardware.hit + row.hops * hardware.hop + row.packets * hardware.packet +
			  row.requests_there * hardware.request + row.messages_there * hardware.message +
			  row.completions * hardware.completion + row.posts * hardware.post;
	for (const auto &[bytes, packets] : row.transmissions)
		expected += static_cast<double>(hardware.on_link(bytes, packets).count()) / ns_per_us;
	EXPECT_NEAR(result.all_latencies().min(), expected, 0.0001);
	EXPECT_NEAR(result.all_latencies().max(), expected, 0.0001);

	EXPECT_EQ(result.operations, 20U);
	EXPECT_EQ(result.stats.messages, 20 * row.messages);
	EXPECT_EQ(result.stats.events, 20 * row.events);
	EXPECT_EQ(result.stats.requests, 20 * row.requests);
}

INSTANTIATE_TEST_SUITE_P(
	Simulated, CaseTest, testing::ValuesIn(rows), [](const auto &row) { return std::string(row.param.name); });

/** Checks evictions: messages, events at the home, requests. */
TEST(SimulatedTest, EvictionsSendWhatTheTableSays)
{
	const auto counts = [](Protocol protocol, Case single) {
		RunOptions options = options_of(protocol, 2);
		options.single = single;
		options.operations = 50;
		const CoherenceStats stats = run(options).stats;
		return std::array{stats.messages, stats.events, stats.requests};
	};
	EXPECT_EQ(counts(Protocol::directory, Case::evict_shared), (std::array<std::uint64_t, 3>{50, 50, 0}));
	EXPECT_EQ(counts(Protocol::directory, Case::evict_dirty), (std::array<std::uint64_t, 3>{100, 50, 0}));
	EXPECT_EQ(counts(Protocol::latch, Case::evict_shared), (std::array<std::uint64_t, 3>{0, 0, 0}));
	EXPECT_EQ(counts(Protocol::latch, Case::evict_dirty), (std::array<std::uint64_t, 3>{0, 0, 100}));
}

TEST(SimulatedTest, AHitTakesTheHitsTime)
{
	for (const Case single : {Case::read_hit, Case::write_hit}) {
		RunOptions options = options_of(Protocol::latch, 2);
		options.single = single;
		options.operations = 100;
		const RunResult result = run(options);
		EXPECT_EQ(result.stats.hits, 100U);
		EXPECT_NEAR(result.all_latencies().max(), Hardware().hit, 0.0001);
	}
}

/* Under the latch protocol a node's own blocks are behind its own NIC. */
TEST(SimulatedTest, OwnBlocksByTheLoopback)
{
	const Hardware hardware = odd_hardware();
	RunOptions options = options_of(Protocol::latch, 2);
	options.workload.remote = 0;
	options.workload.blocks = 1;
	options.workload.reads = 1;
	options.operations = 1;
	const double expected = hardware.hit + hardware.post + 2 * hardware.loopback + 2 * hardware.request +
				2 * hardware.packet + hardware.completion;
	EXPECT_NEAR(run(options, hardware).reads.max(), expected, 0.0001);
}

RunOptions small_workload(Protocol protocol, std::size_t nodes)
{
	RunOptions options = options_of(protocol, nodes);
	options.workload.blocks = 128;
	options.workload.shared = 0.5;
	options.cluster.cache = 0.5;
	options.threads = 2;
	options.warm_up = 0.0005;
	options.duration = 0.001;
	return options;
}

TEST(SimulatedTest, TheSameSeedGivesTheSameRun)
{
	for (const Protocol protocol : {Protocol::directory, Protocol::latch}) {
		RunOptions options = small_workload(protocol, 8);
		const auto json = [&options] { return run(options).to_json().dump(); };
		const std::string first = json();
		EXPECT_EQ(json(), first);
		options.workload.seed++;
		EXPECT_NE(json(), first);
	}
}

TEST(SimulatedTest, EachOperationOfEachConsistencyEnds)
{
	for (const Protocol protocol : {Protocol::directory, Protocol::latch}) {
		for (const Operation operation :
			{Operation::read_write, Operation::lock, Operation::lock_access, Operation::try_lock}) {
			for (const Consistency consistency : {Consistency::pso, Consistency::tso, Consistency::sc}) {
				RunOptions options = small_workload(protocol, 4);
				options.workload.blocks = 8;
				options.workload.shared = 1;
				options.cluster.cache = 1;
				options.workload.operation = operation;
				options.cluster.consistency = consistency;
				options.duration = options.warm_up = 0;
				options.operations = 50;
				EXPECT_EQ(run(options).operations, 400U);
			}
		}
	}
}

TEST(SimulatedTest, UncachedNodesHitNothingThatIsRemote)
{
	for (const Protocol protocol : {Protocol::directory, Protocol::latch}) {
		RunOptions options = small_workload(protocol, 3);
		options.workload.shared = 0;
		options.cluster.cached = false;
		EXPECT_EQ(run(options).stats.hits, 0U);
	}
}

/* Checks that a home that is always busy limits the rate. */
TEST(SimulatedTest, AHomeThatIsSlowIsTheLimit)
{
	Hardware slow;
	slow.message = 5;
	RunOptions options = small_workload(Protocol::directory, 4);
	options.workload.shared = 0;
	options.workload.reads = 0;
	options.duration = 0.01;
	const RunResult of_directory = run(options, slow);
	EXPECT_GT(of_directory.spread->busiest_processor, 0.95);
	EXPECT_LE(of_directory.spread->busiest_processor, 1.001);
	options.cluster.protocol = Protocol::latch;
	const RunResult of_latch = run(options, slow);
	EXPECT_LT(of_latch.spread->busiest_processor, 0.8);
	EXPECT_GT(of_latch.rate, 2 * of_directory.rate);
}

TEST(SimulatedTest, ASlowNicIsTheLimitOfTheLatchProtocol)
{
	Hardware slow;
	slow.request = 5;
	RunOptions options = small_workload(Protocol::latch, 4);
	options.workload.shared = options.workload.reads = 0;
	options.workload.blocks = 4096;
	options.cluster.cache = 1;
	options.warm_up = 0;
	options.duration = 0.01;
	const RunResult result = run(options, slow);
	EXPECT_GT(result.spread->busiest_nic, 0.9);
	EXPECT_LE(result.spread->busiest_nic, 1.001);
}

/* Checks that work on unshared blocks scales with the nodes. */
TEST(SimulatedTest, UnsharedWorkScales)
{
	for (const Protocol protocol : {Protocol::directory, Protocol::latch}) {
		RunOptions options = small_workload(protocol, 2);
		options.workload.shared = 0;
		const double of_two = run(options).rate;
		options.cluster.nodes = 16;
		const RunResult of_many = run(options);
		EXPECT_NEAR(of_many.rate / of_two, 8, 1.5);
		EXPECT_GT(of_many.spread->fairness(), 0.7);
	}
}

TEST(SimulatedTest, WritesThatOverlapAreFaster)
{
	RunOptions options = small_workload(Protocol::directory, 4);
	options.threads = 1;
	options.workload.reads = 0;
	options.workload.shared = 0;
	const double of_pso = run(options).rate;
	options.cluster.consistency = Consistency::sc;
	EXPECT_GT(of_pso, 1.6 * run(options).rate);
}

} // namespace
