/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "replay.hpp"

#include "small_history.hpp"

namespace
{

using namespace prism;
using namespace prism::serializability;

constexpr auto registers = HistoryKind::registers;
constexpr auto lists = HistoryKind::lists;

TEST(Replay, OneAfterTheOther)
{
	Small small(registers);
	small.add(Draft{}.read(1, absent).write(1, 10).read(1, 10).write(1, 11).read(1, 11));
	small.add(Draft{}.read(1, 11).erase(1).read(1, absent));
	small.add(Draft{}.read(1, absent).write(1, 12));
	EXPECT_EQ(small.replayed().total(), 0U) << text_of(small.replayed());
}

TEST(Replay, ByTimestampAndNotByTime)
{
	Small small(registers);
	small.add(Draft{}.read(1, 20)).stamp = {3, 0};
	small.add(Draft{}.write(1, 20)).stamp = {2, 9};
	EXPECT_EQ(small.replayed().total(), 0U);
	small.drafts()[0].stamp = {2, 8};
	EXPECT_TRUE(small.replayed().has("read from the future")) << text_of(small.replayed());
}

TEST(Replay, Names)
{
	Small small(registers);
	small.add(Draft{}.write(1, 10).write(2, 10));
	small.add(Draft{}.write(1, 21).write(1, 20).write(2, 20));
	small.add(Draft{}.write(1, 30), Outcome::aborted);
	small.add(Draft{}.read(1, 10));
	small.add(Draft{}.read(1, 30));
	small.add(Draft{}.read(1, 21));
	small.add(Draft{}.read(1, 20).read(2, 10));
	small.add(Draft{}.read(1, 99));
	small.add(Draft{}.write(1, 90).read(1, 20));
	const Findings findings = small.replayed();
	EXPECT_EQ(findings.total(), 6U) << text_of(findings);
	for (const char *name :
		{"stale read", "aborted read", "intermediate read", "fractured read", "value from nowhere"})
		EXPECT_TRUE(findings.has(name)) << name;
}

TEST(Replay, UnknownIsAllOrNothing)
{
	Small small(registers);
	small.add(Draft{}.write(1, 10).write(2, 10));
	small.add(Draft{}.write(1, 20).write(2, 20), Outcome::unknown);
	small.add(Draft{}.read(1, 10).read(2, 10));
	EXPECT_EQ(small.replayed().total(), 0U);
	small.add(Draft{}.read(1, 20).read(2, 20));
	EXPECT_EQ(small.replayed().total(), 2U) << "it comes before the third one, which has seen neither";
	small.drafts()[1].stamp = {3, 9};
	EXPECT_EQ(small.replayed().total(), 0U) << text_of(small.replayed());
	small.drafts()[3] = small.drafts()[2];
	small.drafts()[3].client = 9;
	small.drafts()[3].stamp = {4, 1};
	small.drafts()[3].operations = Draft{}.read(1, 20).read(2, 10).operations;
	EXPECT_TRUE(small.replayed().has("unknown transaction half visible")) << text_of(small.replayed());
}

TEST(Replay, UnknownWithoutATimestamp)
{
	Small small(registers);
	small.add(Draft{}.write(1, 10).write(2, 10));
	small.add(Draft{}.read(1, 10).write(1, 20).read(2, 10).write(2, 20), Outcome::unknown).stamp = {};
	small.add(Draft{}.read(2, 10));
	small.add(Draft{}.read(1, 20).write(1, 30));
	small.add(Draft{}.read(2, 20));
	EXPECT_EQ(small.replayed().total(), 0U) << text_of(small.replayed());
	small.add(Draft{}.read(2, 10));
	EXPECT_EQ(small.replayed().total(), 1U);
	small.drafts().pop_back();
	small.drafts().back().operations = Draft{}.read(2, 10).operations;
	EXPECT_TRUE(small.replayed().has("stale read")) << text_of(small.replayed());
}

/* It has read an absence, and may come before a blind erase although only a later read of key 2 shows that it ran. */
TEST(Replay, UnknownWithoutATimestampBeforeABlindErase)
{
	Small small(registers);
	small.add(Draft{}.read(1, absent).write(1, 10).write(2, 10), Outcome::unknown).stamp = {};
	small.add(Draft{}.erase(1));
	small.add(Draft{}.read(2, 10));
	small.add(Draft{}.read(1, absent).write(1, 20));
	EXPECT_EQ(small.replayed().total(), 0U) << text_of(small.replayed());
	small.drafts()[3].operations = Draft{}.read(1, 10).write(1, 20).operations;
	EXPECT_EQ(small.replayed().total(), 0U) << "or after it: " << text_of(small.replayed());
	small.add(Draft{}.read(1, absent));
	EXPECT_TRUE(small.replayed().has("stale read")) << "not both";
	small.drafts().pop_back();
	small.drafts()[1].operations = Draft{}.read(1, absent).erase(1).operations;
	small.drafts()[3].operations = Draft{}.read(1, absent).write(1, 20).operations;
	EXPECT_TRUE(small.replayed().has("stale read")) << "nobody can have erased what it wrote";
}

TEST(Replay, UnknownWithoutATimestampInALongList)
{
	Small small(lists);
	small.add(Draft{}.append(1, 20).append(2, 20), Outcome::unknown).stamp = {};
	small.add(Draft{}.append(1, 30));
	small.add(Draft{}.read_list(2, std::array<Value, 1>{20}).read_list(1, std::array<Value, 2>{20, 30}));
	EXPECT_EQ(small.replayed().total(), 0U) << text_of(small.replayed());
	small.add(Draft{}.read_list(2, {}));
	EXPECT_EQ(small.replayed().total(), 1U);
}

TEST(Replay, AnEraseOfUnknownOutcomeHappensOnce)
{
	Small small(registers);
	small.add(Draft{}.write(1, 10));
	small.add(Draft{}.erase(1), Outcome::unknown);
	small.add(Draft{}.read(1, 10));
	EXPECT_EQ(small.replayed().total(), 0U);
	small.add(Draft{}.read(1, absent).write(1, 20));
	EXPECT_EQ(small.replayed().total(), 0U) << text_of(small.replayed());
	small.add(Draft{}.read(1, absent));
	EXPECT_EQ(small.replayed().total(), 1U);
}

TEST(Replay, Timestamps)
{
	Small small(registers);
	small.add(Draft{}.write(1, 10));
	small.add(Draft{}.write(2, 10)).client = 1;
	small.drafts()[1].stamp = {0, 5};
	EXPECT_TRUE(small.replayed().has("timestamp not growing"));
	small.drafts()[1].client = 2;
	EXPECT_EQ(small.replayed().total(), 0U);
	small.drafts()[1].stamp = {1, 1};
	EXPECT_TRUE(small.replayed().has("timestamp repeated"));
}

TEST(Replay, ReadersWithoutATimestamp)
{
	Small small(registers);
	small.add(Draft{}.write(1, 10).write(2, 10));
	small.add(Draft{}.write(1, 20));
	small.add(Draft{}.write(2, 30).erase(3));
	small.add(Draft{}.read(1, 20).read(2, 10).read(3, absent)).stamp = {};
	EXPECT_EQ(small.replayed().total(), 0U) << text_of(small.replayed());
	small.add(Draft{}.read(1, 10).read(2, 30)).stamp = {};
	EXPECT_TRUE(small.replayed().has("reads of different moments"));

	Small lists_of(lists);
	lists_of.add(Draft{}.append(1, 10));
	lists_of.add(Draft{}.append(1, 20));
	lists_of.add(Draft{}.read_list(1, std::array<Value, 1>{10})).stamp = {};
	EXPECT_EQ(lists_of.replayed().total(), 0U);
	lists_of.add(Draft{}.read_list(1, std::array<Value, 2>{20, 10})).stamp = {};
	EXPECT_EQ(lists_of.replayed().total(), 1U);
}

TEST(Replay, NothingToReplay)
{
	Small small(registers);
	small.add(Draft{}.write(1, 10)).stamp = {};
	Findings findings;
	const auto history = small.history();
	EXPECT_EQ(replay(Index::make(*history).value(), findings).replayed, 0U);
}

/* Compares with running them in the order of their timestamps, as plainly as possible. */
TEST(Replay, AgreesWithRunningThem)
{
	std::size_t good = 0;
	for (std::uint64_t seed = 1; seed <= 20'000; seed++) {
		const Small small = random_history(seed % 2 == 0 ? registers : lists, seed);
		std::vector<std::size_t> order(small.drafts().size());
		std::iota(order.begin(), order.end(), 0U);
		const bool expected = small.explains(order);
		const Findings findings = small.replayed();
		ASSERT_EQ(findings.total() == 0, expected) << "seed " << seed << "\n" << text_of(findings);
		good += expected;
	}
	EXPECT_GT(good, 2000U);
	EXPECT_LT(good, 18'000U);
}

TEST(Bank, SumsOfAllAccounts)
{
	Small small(registers);
	small.add(Draft{}.read(1, absent).read(2, absent));
	small.add(Draft{}.write(1, account_value(1, 1, 40)).write(2, account_value(1, 1, 60)));
	small.add(Draft{}.read(1, account_value(1, 1, 40)).read(2, account_value(1, 1, 60)));
	small.add(Draft{}.read(1, account_value(1, 1, 40)));
	const auto history = small.history();
	const auto index = Index::make(*history);
	Findings findings;
	EXPECT_EQ(check_bank(*index, 100, findings), 1U);
	EXPECT_EQ(findings.total(), 0U);
	EXPECT_EQ(check_bank(*index, 101, findings), 1U);
	EXPECT_TRUE(findings.has("wrong total"));
}

} // namespace
