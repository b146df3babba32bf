/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "engine.hpp"

#include <map>

#include "small_history.hpp"

namespace
{

using namespace prism;
using namespace prism::serializability;

struct Checked {
	Findings replayed, searched, strict, bank;
};

Checked check(const EngineOptions &options)
{
	HistoryBuilder builder(options.kind);
	run_engine(options, [&](const Draft &draft) { builder.add(draft).value(); });
	const auto history = builder.finish();
	const auto index = Index::make(history.value());
	Checked checked;
	replay(index.value(), checked.replayed);
	check_cycles(*index, {}, checked.searched);
	check_cycles(*index, {.real_time = true}, checked.strict);
	if (options.bank) {
		EXPECT_GT(check_bank(*index, total_of(options), checked.bank), 0U);
	}
	return checked;
}

/* Names that the checkers must report for a fault; empty if the checker cannot see it. */
struct Expected {
	std::string replayed;
	std::string of_registers;
	std::string of_lists;
};

const std::map<Fault, Expected> expected_of{
	{Fault::lost_update, {"stale read", "lost update", "G-single"}},
	{Fault::write_skew, {"stale read", "G2", "G2"}},
	{Fault::dirty_read, {"aborted read", "G1a (aborted read)", "G1a (aborted read)"}},
	{Fault::fractured_read, {"fractured read", "G-single", "G-single"}},
	{Fault::stale_read, {"stale read", "G-single-session", "G-single-session"}},
	{Fault::backward_timestamp, {"timestamp not growing", "G-single-session", "G-single-session"}},
	{Fault::intermediate_read, {"intermediate read", "G1b (intermediate read)", "G1b (intermediate read)"}},
	{Fault::repeated_timestamp, {"timestamp repeated", "", ""}},
	{Fault::half_applied, {"unknown transaction half visible", "G-single", "G0"}},
	/* All clients see the same wrong balance. */
	{Fault::wrong_balance, {"", "", ""}},
};

std::string describe(const EngineOptions &options)
{
	return std::string(name_of(options.fault)) + ", seed " + std::to_string(options.seed) +
	       (options.kind == HistoryKind::lists ? ", lists" : ", registers");
}

TEST(Engine, RightHistoriesAreAccepted)
{
	for (std::uint64_t seed = 1; seed <= 40; seed++) {
		EngineOptions options{.transactions = 3000, .clients = 12, .keys = 5 + seed * 3, .seed = seed};
		options.kind = seed % 2 == 0 ? HistoryKind::registers : HistoryKind::lists;
		options.blind = seed % 3 == 0 ? 50 : 10;
		options.unknown = seed % 5;
		const Checked checked = check(options);
		EXPECT_EQ(checked.replayed.total(), 0U) << describe(options) << text_of(checked.replayed);
		EXPECT_EQ(checked.strict.total(), 0U) << describe(options) << text_of(checked.strict);
	}
}

TEST(Engine, RightHistoriesThatTellLessAreAccepted)
{
	for (std::uint64_t seed = 1; seed <= 40; seed++) {
		EngineOptions options{.transactions = 3000, .clients = 12, .keys = 20, .erases = 10, .seed = seed};
		options.kind = seed % 2 == 0 ? HistoryKind::registers : HistoryKind::lists;
		options.blind = seed % 3 == 0 ? 50 : 10;
		options.unknown = 8;
		options.late = 20;
		options.unstamped = 50;
		const Checked checked = check(options);
		EXPECT_EQ(checked.replayed.total(), 0U) << describe(options) << text_of(checked.replayed);
		EXPECT_EQ(checked.searched.total(), 0U) << describe(options) << text_of(checked.searched);
		EXPECT_TRUE(checked.strict.has("G-single-realtime")) << describe(options);
	}
}

TEST(Engine, EveryFaultIsFound)
{
	for (const Fault fault : all_faults()) {
		if (fault == Fault::wrong_balance)
			continue;
		const Expected &expected = expected_of.at(fault);
		for (std::uint64_t seed = 1; seed <= 10; seed++) {
			EngineOptions options{.transactions = 2000, .keys = 30, .fault = fault, .seed = seed};
			options.kind = seed % 2 == 0 ? HistoryKind::registers : HistoryKind::lists;
			const bool lists = options.kind == HistoryKind::lists;
			const std::string &name = lists ? expected.of_lists : expected.of_registers;
			const Checked checked = check(options);
			EXPECT_TRUE(checked.replayed.has(expected.replayed))
				<< describe(options) << text_of(checked.replayed);
			EXPECT_EQ(checked.searched.total() == 0, name.empty()) << describe(options);
			if (!name.empty()) {
				EXPECT_TRUE(checked.searched.has(name))
					<< describe(options) << text_of(checked.searched);
			}
		}
	}
}

TEST(Engine, HalfAppliedWithoutATimestamp)
{
	for (std::uint64_t seed = 1; seed <= 10; seed++) {
		EngineOptions options{.transactions = 2000, .keys = 30, .fault = Fault::half_applied, .seed = seed};
		options.kind = seed % 2 == 0 ? HistoryKind::registers : HistoryKind::lists;
		options.unstamped = 100;
		const Checked checked = check(options);
		EXPECT_TRUE(checked.replayed.has("unknown transaction half visible"))
			<< describe(options) << text_of(checked.replayed);
		EXPECT_GT(checked.searched.total(), 0U) << describe(options);
	}
}

TEST(Engine, Bank)
{
	EngineOptions options{.transactions = 3000, .keys = 10, .bank = true};
	const Checked right = check(options);
	EXPECT_EQ(right.replayed.total() + right.searched.total() + right.bank.total(), 0U)
		<< text_of(right.replayed) << text_of(right.searched) << text_of(right.bank);
	options.fault = Fault::wrong_balance;
	const Checked wrong = check(options);
	EXPECT_EQ(wrong.replayed.total() + wrong.searched.total(), 0U);
	EXPECT_TRUE(wrong.bank.has("wrong total"));
}

} // namespace
