/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "checker.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "atomic_store.hpp"

namespace
{

using namespace prism;
using namespace prism::test;

Operation put(Value value, Timestamp invoked, Timestamp responded)
{
	return {.invoked = invoked, .responded = responded, .value = value, .kind = Kind::put, .outcome = Outcome::ok};
}

Operation get(Value value, Timestamp invoked, Timestamp responded)
{
	return {.invoked = invoked,
		.responded = responded,
		.value = value,
		.kind = Kind::get,
		.outcome = value == absent ? Outcome::not_found : Outcome::ok};
}

Operation erase(Timestamp invoked, Timestamp responded, Outcome outcome = Outcome::ok)
{
	return {.invoked = invoked, .responded = responded, .kind = Kind::erase, .outcome = outcome};
}

Operation put_if(Value expected, Value value, Timestamp invoked, Timestamp responded, Outcome outcome = Outcome::ok)
{
	return {.invoked = invoked,
		.responded = responded,
		.value = value,
		.expected = expected,
		.kind = Kind::conditional_put,
		.outcome = outcome};
}

Operation erase_if(Value expected, Timestamp invoked, Timestamp responded, Outcome outcome = Outcome::ok)
{
	return {.invoked = invoked,
		.responded = responded,
		.expected = expected,
		.kind = Kind::conditional_erase,
		.outcome = outcome};
}

Operation unknown(Operation operation)
{
	operation.outcome = Outcome::unknown;
	operation.responded = never;
	return operation;
}

Verdict verdict_of(const std::vector<Operation> &history)
{
	return check(history).verdict;
}

std::string text_of(const std::vector<Operation> &history)
{
	std::string text;
	for (const Operation &operation : history)
		text += describe(operation) + "\n";
	return text;
}

TEST(Checker, NothingIsLinearizable)
{
	EXPECT_EQ(verdict_of({}), Verdict::linearizable);
}

TEST(Checker, SequentialOperations)
{
	EXPECT_EQ(verdict_of({get(absent, 1, 2), put(5, 3, 4), get(5, 5, 6), put_if(5, 6, 7, 8), get(6, 9, 10),
			  put_if(5, 7, 11, 12, Outcome::mismatch), erase(13, 14), get(absent, 15, 16),
			  erase(17, 18, Outcome::not_found)}),
		Verdict::linearizable);
}

TEST(Checker, OverlappingReadsMayDifferFromTheOrderOfCalls)
{
	/* 2 is called first and takes effect last. */
	EXPECT_EQ(verdict_of({put(2, 1, 20), put(1, 2, 4), get(1, 5, 6), get(2, 7, 8)}), Verdict::linearizable);
}

TEST(Checker, SameMomentOverlaps)
{
	EXPECT_EQ(verdict_of({put(1, 1, 5), get(absent, 5, 6)}), Verdict::linearizable);
	EXPECT_EQ(verdict_of({put(1, 1, 4), get(absent, 5, 6)}), Verdict::violated);
}

TEST(Checker, StaleRead)
{
	EXPECT_EQ(verdict_of({put(1, 1, 2), put(2, 3, 4), get(1, 5, 6)}), Verdict::violated);
	EXPECT_EQ(verdict_of({put(1, 1, 2), put(2, 3, 5), get(2, 3, 4), get(1, 5, 6)}), Verdict::violated);
}

TEST(Checker, LostUpdate)
{
	/* Both saw 1 and both got the answer that they replaced it. */
	EXPECT_EQ(verdict_of({put(1, 1, 2), put_if(1, 2, 3, 8), put_if(1, 3, 4, 7)}), Verdict::violated);
	EXPECT_EQ(verdict_of({put(1, 1, 2), put_if(1, 2, 3, 8), put_if(1, 3, 4, 7, Outcome::mismatch)}),
		Verdict::linearizable);
	/* A put that was answered with ok, and is never seen. */
	EXPECT_EQ(verdict_of({put(1, 1, 2), put(2, 3, 4), get(1, 5, 6), get(1, 7, 8)}), Verdict::violated);
	EXPECT_EQ(verdict_of({put(1, 1, 2), get(absent, 3, 4)}), Verdict::violated);
}

TEST(Checker, ConditionThatShouldHaveHeld)
{
	EXPECT_EQ(verdict_of({put(1, 1, 2), put_if(1, 2, 3, 4, Outcome::mismatch)}), Verdict::violated);
	EXPECT_EQ(verdict_of({put(1, 1, 2), erase_if(1, 3, 4, Outcome::mismatch)}), Verdict::violated);
}

TEST(Checker, AbaOfAConditionalPut)
{
	/* The buffer of 1 came back with another value in it. */
	EXPECT_EQ(verdict_of({put(1, 1, 2), get(1, 3, 4), put(2, 5, 6), put(3, 7, 8), put_if(1, 4, 9, 10)}),
		Verdict::violated);
}

TEST(Checker, ValueFromNowhere)
{
	const CheckReport report = check({put(1, 1, 2), get(7, 3, 4)});
	EXPECT_EQ(report.verdict, Verdict::violated);
	ASSERT_EQ(report.findings.size(), 1U);
	EXPECT_NE(report.findings[0].reason.find("nowhere"), std::string::npos);
}

TEST(Checker, ValueFromTheFuture)
{
	const CheckReport report = check({get(1, 1, 2), put(1, 3, 4)});
	EXPECT_EQ(report.verdict, Verdict::violated);
	ASSERT_EQ(report.findings.size(), 1U);
	EXPECT_NE(report.findings[0].reason.find("future"), std::string::npos);
}

TEST(Checker, ResurrectedAfterErase)
{
	EXPECT_EQ(verdict_of({put(1, 1, 2), erase(3, 4), get(1, 5, 6)}), Verdict::violated);
	EXPECT_EQ(verdict_of({put(1, 1, 2), erase(3, 4), get(absent, 5, 6), get(1, 7, 8)}), Verdict::violated);
	EXPECT_EQ(verdict_of({put(1, 1, 2), erase(3, 4), erase(5, 6)}), Verdict::violated);
	EXPECT_EQ(verdict_of({put(1, 1, 2), erase(3, 8), erase(4, 7)}), Verdict::violated);
}

TEST(Checker, TwoReadersSeeTwoOrders)
{
	const std::vector<Operation> one_order{
		put(1, 1, 20), put(2, 1, 20), get(1, 2, 3), get(2, 4, 5), get(1, 2, 4), get(2, 5, 6)};
	EXPECT_EQ(verdict_of(one_order), Verdict::linearizable);
	const std::vector<Operation> two_orders{
		put(1, 1, 20), put(2, 1, 20), get(1, 2, 3), get(2, 4, 5), get(2, 2, 3), get(1, 4, 5)};
	EXPECT_EQ(verdict_of(two_orders), Verdict::violated);
}

TEST(Checker, UnknownOutcomes)
{
	EXPECT_EQ(verdict_of({unknown(put(1, 1, 2)), get(absent, 5, 6)}), Verdict::linearizable);
	EXPECT_EQ(verdict_of({unknown(put(1, 1, 2)), get(absent, 5, 6), get(1, 7, 8)}), Verdict::linearizable);
	EXPECT_EQ(verdict_of({unknown(put(1, 1, 2)), get(1, 5, 6), get(absent, 7, 8)}), Verdict::violated);
	EXPECT_EQ(verdict_of({unknown(put(1, 4, 5)), get(1, 2, 3)}), Verdict::violated);
	EXPECT_EQ(verdict_of({put(1, 1, 2), unknown(erase(3, 4)), get(1, 5, 6), get(absent, 7, 8)}),
		Verdict::linearizable);
	/* One unknown put that is never read explains one erase, not two. */
	EXPECT_EQ(verdict_of({unknown(put(1, 1, 2)), erase(5, 6)}), Verdict::linearizable);
	EXPECT_EQ(verdict_of({unknown(put(1, 1, 2)), erase(5, 6), erase(7, 8)}), Verdict::violated);
	EXPECT_EQ(verdict_of({put(1, 1, 2), unknown(put_if(1, 2, 3, 4)), get(2, 5, 6), put_if(2, 3, 7, 8)}),
		Verdict::linearizable);
}

Operation clear(Timestamp invoked, Timestamp responded)
{
	return {.invoked = invoked, .responded = responded, .kind = Kind::clear, .outcome = Outcome::ok};
}

/* A store that restarts empty, or evicts: an erase need not find anything. */
TEST(Checker, Clears)
{
	EXPECT_EQ(
		verdict_of({put(1, 1, 2), clear(3, 4), get(absent, 5, 6), clear(7, 8), put(2, 9, 10), get(2, 11, 12)}),
		Verdict::linearizable);
	EXPECT_EQ(verdict_of({put(1, 1, 2), clear(3, 4), get(1, 5, 6)}), Verdict::violated);
	EXPECT_EQ(verdict_of({put(1, 1, 2), clear(3, 4), erase(5, 6)}), Verdict::violated);
	EXPECT_EQ(verdict_of({put(1, 1, 2), clear(3, 10), get(1, 5, 6), get(absent, 7, 8)}), Verdict::linearizable);
	EXPECT_EQ(verdict_of({put(1, 1, 2), clear(3, 10), get(absent, 5, 6), get(1, 7, 8)}), Verdict::violated);
	EXPECT_EQ(verdict_of({put(1, 1, 2), erase(3, 6), clear(3, 6), get(absent, 7, 8)}), Verdict::linearizable);
	EXPECT_EQ(verdict_of({put_if(absent, 5, 1, 6), clear(1, 6), get(5, 7, 8)}), Verdict::linearizable);
	EXPECT_EQ(verdict_of({put(1, 1, 2), unknown(clear(3, 4)), get(1, 5, 6), get(absent, 7, 8)}),
		Verdict::linearizable);
	EXPECT_EQ(verdict_of({put(1, 1, 2), unknown(clear(3, 4)), get(absent, 5, 6), get(1, 7, 8)}), Verdict::violated);
	EXPECT_EQ(verdict_of({unknown(clear(1, 2)), erase(3, 4)}), Verdict::violated);
}

TEST(Checker, OperationsWithoutEffect)
{
	Operation refused = put(2, 3, 4);
	refused.outcome = Outcome::no_effect;
	EXPECT_EQ(verdict_of({put(1, 1, 2), refused, get(1, 5, 6)}), Verdict::linearizable);
	EXPECT_EQ(verdict_of({put(1, 1, 2), refused, get(2, 5, 6)}), Verdict::violated);
}

TEST(Checker, MalformedHistories)
{
	EXPECT_EQ(verdict_of({put(1, 2, 1)}), Verdict::malformed);
	EXPECT_EQ(verdict_of({put(0, 1, 2)}), Verdict::malformed);
	EXPECT_EQ(verdict_of({put(1, 1, 2), put(1, 3, 4)}), Verdict::malformed);
	EXPECT_EQ(verdict_of({put(1, 1, never)}), Verdict::malformed);
	Operation odd = put(1, 1, 2);
	odd.outcome = Outcome::mismatch;
	EXPECT_EQ(verdict_of({odd}), Verdict::malformed);
}

TEST(Checker, KeysAreIndependent)
{
	Operation other = get(1, 5, 6);
	other.key = 9;
	const CheckReport report = check({put(1, 1, 2), get(1, 3, 4), other});
	EXPECT_EQ(report.verdict, Verdict::violated);
	EXPECT_EQ(report.keys, 2U);
	EXPECT_EQ(report.bad_keys, 1U);
	ASSERT_EQ(report.findings.size(), 1U);
	EXPECT_EQ(report.findings[0].key, 9U);
}

TEST(Checker, AgreesWithTryingAllOrders)
{
	std::uint64_t linearizable = 0;
	for (std::uint64_t seed = 1; seed <= 60'000; seed++) {
		const std::vector<Operation> history = random_history(2 + seed % 6, seed);
		const bool expected = is_linearizable_by_trying(history);
		linearizable += expected;
		const CheckReport report = check(history);
		ASSERT_EQ(report.verdict, expected ? Verdict::linearizable : Verdict::violated)
			<< "seed " << seed << "\n"
			<< text_of(history);
		if (expected)
			continue;
		ASSERT_FALSE(report.findings.at(0).window.empty());
		ASSERT_FALSE(is_linearizable_by_trying(report.findings[0].window)) << "seed " << seed;
	}
	/* Enough of both kinds for the comparison to mean something. */
	EXPECT_GT(linearizable, 6'000U);
	EXPECT_LT(linearizable, 54'000U);
}

TEST(Checker, AnAtomicStorePasses)
{
	for (std::uint64_t seed = 1; seed <= 60; seed++) {
		const StoreOptions options{.operations = 3000,
			.clients = 16,
			.keys = 1 + seed % 5,
			.gets = static_cast<double>(10 * (seed % 9)),
			.clears = seed % 3 ? 0.0 : 10.0,
			.unknown = seed % 2 ? 1.0 : 0.0,
			.longest_late = 5000};
		const CheckReport report = check(simulate_store(options, seed));
		ASSERT_EQ(report.verdict, Verdict::linearizable)
			<< "seed " << seed << ": " << report.findings[0].reason << "\n"
			<< text_of(report.findings[0].window);
	}
}

/* Checks a long history with one violation of atomicity, in its middle: it must be found and shown. */
void expect_found(const std::vector<Operation> &history, const char *what)
{
	const CheckReport report = check(history);
	ASSERT_EQ(report.verdict, Verdict::violated) << what;
	ASSERT_EQ(report.findings.size(), 1U) << what;
	const std::vector<Operation> &window = report.findings[0].window;
	EXPECT_GE(window.size(), 1U) << what;
	EXPECT_LE(window.size(), 60U) << what << "\n" << text_of(window);
}

TEST(Checker, OneFaultInALongHistory)
{
	const StoreOptions options{.operations = 20'000, .clients = 8, .keys = 1, .unknown = 0.1, .longest_late = 1000};
	for (std::uint64_t seed = 1; seed <= 10; seed++) {
		std::vector<Operation> history = simulate_store(options, seed);
		const auto middle = history.begin() + 10'000;
		const auto is_value = [](const Operation &operation) {
			return operation.kind == Kind::get && operation.outcome == Outcome::ok;
		};
		const auto last = std::find_if(middle, history.end(), is_value);
		const auto stale = std::find_if(middle - 5'000, middle, is_value);
		ASSERT_TRUE(last != history.end() && stale != middle);
		const Operation good = *last;
		last->value = stale->value;
		expect_found(history, "stale read");
		last->value = 1'000'000;
		expect_found(history, "value from nowhere");
		*last = good;
		ASSERT_EQ(verdict_of(history), Verdict::linearizable);
		const auto source = std::ranges::find_if(history, [&](const Operation &operation) {
			return operation.kind != Kind::get && operation.value == good.value;
		});
		ASSERT_TRUE(source != history.end());
		source->outcome = Outcome::no_effect;
		expect_found(history, "lost update");
	}
}

TEST(Checker, TheWindowIsSmallAndViolated)
{
	std::vector<Operation> history;
	for (Timestamp i = 1; i <= 1000; i++) {
		history.push_back(put(i, 10 * i, 10 * i + 1));
		history.push_back(get(i, 10 * i + 2, 10 * i + 3));
	}
	history.push_back(get(500, 7005, 7006)); /* 700 by then */
	const CheckReport report = check(history);
	ASSERT_EQ(report.verdict, Verdict::violated);
	const std::vector<Operation> &window = report.findings.at(0).window;
	ASSERT_EQ(window.size(), 2U) << text_of(window);
	EXPECT_EQ(window[0], get(700, 7002, 7003)); /* and 500 had been put long before, and was not put again */
	EXPECT_EQ(window[1], get(500, 7005, 7006));
}

TEST(Checker, ManyUnknownOutcomesOnOneKey)
{
	const StoreOptions options{.operations = 20'000, .clients = 8, .keys = 1, .unknown = 10, .longest_late = 300};
	const CheckReport report = check(simulate_store(options, 3));
	EXPECT_EQ(report.verdict, Verdict::linearizable) << report.findings[0].reason;
}

TEST(Checker, SixteenAtATimeOnOneHotKey)
{
	for (const double gets : {0.0, 20.0, 50.0, 95.0}) {
		const StoreOptions options{.operations = 20'000,
			.clients = 16,
			.keys = 1,
			.gets = gets,
			.erases = 10,
			.conditionals = 10,
			.longest = 1000};
		const CheckReport report = check(simulate_store(options, 11));
		EXPECT_EQ(report.verdict, Verdict::linearizable);
		EXPECT_GE(report.most_concurrent, 12U);
	}
}

} // namespace
