/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "cycles.hpp"

#include <array>
#include <set>

#include "graph.hpp"
#include "small_history.hpp"

namespace
{

using namespace prism;
using namespace prism::serializability;

constexpr auto registers = HistoryKind::registers;
constexpr auto lists = HistoryKind::lists;

Draft list(std::uint64_t key, std::initializer_list<Value> values)
{
	return Draft{}.read_list(key, std::vector(values));
}

void expect_only(const Small &small, const std::string &name, const CycleOptions &options = {})
{
	const Findings findings = small.searched(options);
	EXPECT_EQ(findings.total(), 1U) << text_of(findings);
	EXPECT_TRUE(findings.has(name)) << name << ", but " << text_of(findings);
}

TEST(Graph, ComponentsAreThoseThatReachEachOther)
{
	test::Random random(1);
	constexpr std::uint32_t nodes = 12;
	for (int round = 0; round < 2000; round++) {
		std::vector<Edge> edges(random.below(30));
		std::array<std::array<bool, nodes>, nodes> reaches{};
		for (Edge &edge : edges) {
			edge = {static_cast<std::uint32_t>(random.below(nodes)),
				static_cast<std::uint32_t>(random.below(nodes)), 0,
				random.chance(80) ? Dependency::ww : Dependency::rw};
			if (edge.why == Dependency::ww)
				reaches[edge.from][edge.to] = true;
		}
		for (std::uint32_t k = 0; k < nodes; k++)
			for (std::uint32_t i = 0; i < nodes; i++)
				for (std::uint32_t j = 0; j < nodes; j++)
					reaches[i][j] = reaches[i][j] || (reaches[i][k] && reaches[k][j]);
		std::set<std::set<std::uint32_t>> expected, found;
		for (std::uint32_t i = 0; i < nodes; i++) {
			std::set<std::uint32_t> component{i};
			for (std::uint32_t j = 0; j < nodes; j++) {
				if (reaches[i][j] && reaches[j][i])
					component.insert(j);
			}
			if (component.size() > 1)
				expected.insert(component);
		}
		Graph graph(nodes, edges);
		const Dependencies along = Dependencies{} | Dependency::ww;
		for (const auto &component : graph.components(along))
			found.emplace(component.begin(), component.end());
		ASSERT_EQ(found, expected);
		/* Search in a part of the nodes only, and again. */
		for (const auto &component : expected) {
			const std::vector<std::uint32_t> among(component.begin(), component.end());
			ASSERT_EQ(graph.components(along, among).size(), 1U);
		}
	}
}

TEST(Graph, AWayOfAMillionNodes)
{
	constexpr std::uint32_t nodes = 1'000'000;
	std::vector<Edge> edges;
	for (std::uint32_t i = 0; i < nodes; i++)
		edges.push_back({i, (i + 1) % nodes, 0, Dependency::wr});
	Graph graph(nodes, std::move(edges));
	const auto components = graph.components(Dependencies{} | Dependency::wr);
	ASSERT_EQ(components.size(), 1U);
	EXPECT_EQ(components[0].size(), nodes);
}

TEST(Cycles, NothingToFind)
{
	Small small(lists);
	small.add(Draft{}.append(1, 10).append(2, 10));
	small.add(list(1, {10}).append(1, 20).append(1, 21).read_list(1, std::array<Value, 3>{10, 20, 21}));
	small.add(list(1, {10, 20, 21}).read_list(2, std::array<Value, 1>{10}));
	small.add(Draft{}.append(1, 40), Outcome::aborted);
	small.add(Draft{}.append(1, 50), Outcome::unknown);
	EXPECT_EQ(small.searched({.real_time = true}).total(), 0U) << text_of(small.searched({.real_time = true}));
	small.add(list(1, {10, 20, 21, 50}));
	EXPECT_EQ(small.searched({.real_time = true}).total(), 0U);
}

TEST(Cycles, G0)
{
	Small small(lists);
	small.add(Draft{}.append(1, 10).append(2, 10));
	small.add(Draft{}.append(1, 20).append(2, 20));
	small.add(list(1, {10, 20}));
	small.add(list(2, {20, 10}));
	expect_only(small, "G0");
}

TEST(Cycles, G1)
{
	Small small(lists);
	small.add(Draft{}.append(1, 10), Outcome::aborted);
	small.add(list(1, {10}));
	expect_only(small, "G1a (aborted read)");

	Small between(lists);
	between.add(Draft{}.append(1, 10).append(1, 11));
	between.add(list(1, {10}));
	Findings findings = between.searched();
	EXPECT_TRUE(findings.has("G1b (intermediate read)")) << text_of(findings);

	Small circular(lists);
	circular.add(list(2, {20}).append(1, 10));
	circular.add(list(1, {10}).append(2, 20));
	expect_only(circular, "G1c");

	Small all(registers);
	all.add(Draft{}.write(1, 10), Outcome::aborted);
	all.add(Draft{}.read(1, 10));
	all.add(Draft{}.write(2, 30).write(2, 31));
	all.add(Draft{}.read(2, 30));
	all.add(Draft{}.read(4, 60).write(3, 50));
	all.add(Draft{}.read(3, 50).write(4, 60));
	findings = all.searched();
	EXPECT_EQ(findings.total(), 3U) << text_of(findings);
	for (const char *name : {"G1a (aborted read)", "G1b (intermediate read)", "G1c"})
		EXPECT_TRUE(findings.has(name)) << name;
}

TEST(Cycles, GSingle)
{
	Small small(lists);
	small.add(Draft{}.append(1, 10).append(2, 10));
	small.add(list(1, {10}).read_list(2, {}));
	expect_only(small, "G-single");
	/* No transaction has ever read the second list with an element in it: it was lost. */
	EXPECT_NE(text_of(small.searched()).find("-- rw key 0x2 -->"), std::string::npos) << text_of(small.searched());

	Small of_registers(registers);
	of_registers.add(Draft{}.read(1, absent).write(1, 10).read(2, absent).write(2, 10));
	of_registers.add(Draft{}.read(1, 10).read(2, absent));
	expect_only(of_registers, "G-single");
}

TEST(Cycles, G2)
{
	for (const HistoryKind kind : {registers, lists}) {
		const bool of_lists = kind == lists;
		Small small(kind);
		for (const std::uint64_t key : {1, 2}) {
			Draft draft;
			for (const std::uint64_t read : {1, 2})
				of_lists ? draft.read_list(read, {}) : draft.read(read, absent);
			small.add(of_lists ? draft.append(key, 10) : draft.write(key, 10));
		}
		expect_only(small, "G2");
	}
}

TEST(Cycles, LostUpdate)
{
	Small small(registers);
	small.add(Draft{}.write(1, 10));
	small.add(Draft{}.read(1, 10).write(1, 20));
	small.add(Draft{}.read(1, 10).write(1, 30));
	const Findings findings = small.searched();
	EXPECT_TRUE(findings.has("lost update"));
	EXPECT_TRUE(findings.has("G2"));
}

TEST(Cycles, ListsThatAreNone)
{
	Small twice(lists);
	twice.add(Draft{}.append(1, 10));
	twice.add(list(1, {10, 10}));
	EXPECT_TRUE(twice.searched().has("duplicate element"));

	Small two_orders(lists);
	two_orders.add(Draft{}.append(1, 10));
	two_orders.add(Draft{}.append(1, 20));
	two_orders.add(list(1, {10, 20}));
	two_orders.add(list(1, {20}));
	expect_only(two_orders, "incompatible order");

	Small nowhere(lists);
	nowhere.add(list(1, {10}));
	expect_only(nowhere, "value from nowhere");
}

TEST(Cycles, WithinATransaction)
{
	Small small(registers);
	small.add(Draft{}.write(1, 10).read(1, absent));
	small.add(Draft{}.read(2, absent).read(2, 30));
	small.add(Draft{}.write(2, 30));
	small.add(Draft{}.read(3, 40).write(3, 40));
	const Findings findings = small.searched();
	for (const char *name : {"own write not seen", "unrepeatable read", "own write seen too early"})
		EXPECT_TRUE(findings.has(name)) << name << text_of(findings);

	Small of_lists(lists);
	of_lists.add(Draft{}.append(1, 10).read_list(1, {}));
	of_lists.add(Draft{}.read_list(2, {}).read_list(2, std::array<Value, 1>{30}));
	of_lists.add(Draft{}.append(2, 30));
	EXPECT_TRUE(of_lists.searched().has("own write not seen"));
	EXPECT_TRUE(of_lists.searched().has("unrepeatable read"));
}

/* All transactions in between are in one component with it. */
TEST(Cycles, AReadOfLongAgo)
{
	constexpr std::uint64_t count = 200'000;
	Small small(registers);
	for (std::uint64_t i = 0; i < count; i++)
		small.add(Draft{}.read(1, i).write(1, i + 1)).client = 1;
	small.add(Draft{}.read(1, 1)).client = 1;
	expect_only(small, "G-single-session");
}

TEST(Cycles, SessionsAndRealTimeAreAsked)
{
	Small small(registers);
	small.add(Draft{}.read(1, absent).write(1, 10));
	small.add(Draft{}.read(1, absent));
	EXPECT_EQ(small.searched().total(), 0U);
	expect_only(small, "G-single-realtime", {.real_time = true});
	/* They overlap. */
	small.drafts()[1].invoked = 15;
	EXPECT_EQ(small.searched({.real_time = true}).total(), 0U);

	small.drafts()[1].client = small.drafts()[0].client;
	expect_only(small, "G-single-session");
	EXPECT_EQ(small.searched({.sessions = false}).total(), 0U);
	/* A transaction of unknown outcome may happen later than the next one of its client. */
	small.drafts()[0].outcome = Outcome::unknown;
	small.add(Draft{}.read(1, 10));
	EXPECT_EQ(small.searched({.real_time = true}).total(), 0U) << text_of(small.searched({.real_time = true}));
}

TEST(Cycles, UnknownIsAllOrNothing)
{
	Small small(lists);
	small.add(Draft{}.append(1, 10).append(2, 10), Outcome::unknown);
	small.add(list(1, {}).read_list(2, {}));
	EXPECT_EQ(small.searched().total(), 0U);
	small.add(list(1, {10}).read_list(2, {}));
	expect_only(small, "G-single");
}

TEST(Cycles, ErasesAreAllAlike)
{
	Small small(registers);
	small.add(Draft{}.read(1, absent).write(1, 10));
	small.add(Draft{}.read(1, 10).erase(1));
	small.add(Draft{}.read(1, absent).write(1, 30));
	small.add(Draft{}.read(1, 30).erase(1), Outcome::unknown);
	small.add(Draft{}.read(1, absent).write(1, 50));
	EXPECT_EQ(small.searched({.real_time = true}).total(), 0U) << text_of(small.searched({.real_time = true}));
}

/* If every change is read in the end, and registers are read before they are changed, all orders are known. */
TEST(Cycles, AgreesWithTryingAllOrders)
{
	std::size_t good = 0;
	for (std::uint64_t seed = 1; seed <= 20'000; seed++) {
		const Small small = random_history(seed % 2 == 0 ? registers : lists, seed);
		const bool expected = small.serializable();
		const Findings findings = small.searched();
		ASSERT_EQ(findings.total() == 0, expected) << "seed " << seed << "\n" << text_of(findings);
		good += expected;
	}
	EXPECT_GT(good, 2000U);
	EXPECT_LT(good, 18'000U);
}

} // namespace
