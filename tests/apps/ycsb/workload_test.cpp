/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Workloads: frequencies compared with theory, repeatability, keys and values. */
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "bench/frame/workload.hpp"

namespace
{

using namespace prism;
using namespace prism::bench;

using Bytes = std::vector<std::byte>;

std::string key_of(std::uint64_t record, std::size_t size)
{
	Bytes key(size);
	fill_key(record, key);
	return {reinterpret_cast<const char *>(key.data()), key.size()};
}

Bytes value_of(std::uint64_t record, std::uint64_t version, std::size_t size)
{
	Bytes value(size);
	fill_value(record, version, value);
	return value;
}

std::vector<double> zipf_theory(std::uint64_t n, double theta)
{
	std::vector<double> shares(n);
	for (std::uint64_t k = 0; k < n; k++)
		shares[k] = std::pow(static_cast<double>(k + 1), -theta);
	const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
	for (double &share : shares)
		share /= sum;
	return shares;
}

/* Returns Pearson's statistic divided by its degrees of freedom: close to 1 if the samples follow the shares. */
double chi_square(const std::vector<std::uint64_t> &seen, const std::vector<double> &shares)
{
	const auto total = static_cast<double>(std::accumulate(seen.begin(), seen.end(), std::uint64_t{0}));
	double sum = 0;
	for (std::size_t i = 0; i < seen.size(); i++) {
		const double expected = shares[i] * total;
		sum += std::pow(static_cast<double>(seen[i]) - expected, 2) / expected;
	}
	return sum / static_cast<double>(seen.size() - 1);
}

class ZipfTheory : public testing::TestWithParam<std::pair<std::uint64_t, double>>
{
};

TEST_P(ZipfTheory, Frequencies)
{
	const auto [n, theta] = GetParam();
	const Zipf zipf(n, theta);
	Random random = make_random(7, 0);
	std::vector<std::uint64_t> seen(n);
	for (int i = 0; i < 1'000'000; i++)
		seen.at(zipf.next(random) - 1)++;
	/* With n - 1 degrees of freedom the quotient's deviation is sqrt(2 / (n - 1)); five of them are allowed. */
	const double tolerance = 5 * std::sqrt(2.0 / static_cast<double>(n - 1));
	EXPECT_NEAR(chi_square(seen, zipf_theory(n, theta)), 1, tolerance);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ZipfTheory,
	testing::Values(std::pair{2UL, 0.99}, std::pair{10UL, 0.99}, std::pair{1000UL, 0.99}, std::pair{1000UL, 1.0},
		std::pair{1000UL, 0.5}, std::pair{100UL, 1.4}));

TEST(Zipf, TheTestTellsAnotherExponent)
{
	const Zipf zipf(1000, 0.95);
	Random random = make_random(7, 0);
	std::vector<std::uint64_t> seen(1000);
	for (int i = 0; i < 1'000'000; i++)
		seen.at(zipf.next(random) - 1)++;
	EXPECT_GT(chi_square(seen, zipf_theory(1000, 0.99)), 2);
}

TEST(Zipf, OneRankAndManyRanks)
{
	Random random = make_random(1, 0);
	const Zipf one(1, 0.99);
	const std::uint64_t many_ranks = std::uint64_t{1} << 40;
	const Zipf many(many_ranks, 0.99);
	for (int i = 0; i < 10'000; i++) {
		EXPECT_EQ(one.next(random), 1U);
		const std::uint64_t rank = many.next(random);
		EXPECT_GE(rank, 1U);
		EXPECT_LE(rank, many_ranks);
	}
}

TEST(Zipf, ResizingIsAsMakingAnew)
{
	Zipf grown(10, 0.99);
	grown.resize(5000);
	const Zipf fresh(5000, 0.99);
	Random first = make_random(3, 0);
	Random second = make_random(3, 0);
	for (int i = 0; i < 10'000; i++)
		ASSERT_EQ(grown.next(first), fresh.next(second));
}

TEST(Workload, MixesHaveTheirShares)
{
	for (const char letter : {'A', 'b', 'C', 'd', 'F', 'P', 'W'}) {
		const Mix mix = find_mix(letter).value();
		Random random = make_random(5, 0);
		std::array<double, request_kinds> seen{};
		constexpr int draws = 200'000;
		for (int i = 0; i < draws; i++)
			seen[static_cast<std::size_t>(mix.next(random))]++;
		EXPECT_NEAR(std::accumulate(mix.share.begin(), mix.share.end(), 0.0), 1, 1e-12) << letter;
		for (std::size_t kind = 0; kind < request_kinds; kind++)
			EXPECT_NEAR(seen[kind] / draws, mix.share[kind], 0.006) << letter << " " << kind;
	}
	EXPECT_EQ(find_mix('D')->distribution, Distribution::latest);
	EXPECT_FALSE(find_mix('E'));
	EXPECT_FALSE(find_mix('x'));
}

TEST(Workload, SameSeedSameRecords)
{
	for (const Distribution kind : {Distribution::uniform, Distribution::zipfian, Distribution::latest}) {
		KeyChooser first(kind, 1000, 0.99);
		KeyChooser second(kind, 1000, 0.99);
		Random first_random = make_random(42, 3);
		Random second_random = make_random(42, 3);
		Random other_stream = make_random(42, 4);
		KeyChooser third(kind, 1000, 0.99);
		int differences = 0;
		for (int i = 0; i < 1000; i++) {
			const std::uint64_t record = first.next(first_random, 1000);
			ASSERT_EQ(record, second.next(second_random, 1000));
			differences += record != third.next(other_stream, 1000);
		}
		EXPECT_GT(differences, 500) << name_of(kind);
	}
}

/* These numbers may change only with a note to users who compare runs over versions. */
TEST(Workload, TheSequenceIsTheSameOnEveryPlatform)
{
	KeyChooser chooser(Distribution::zipfian, 1000, 0.99);
	Random random = make_random(1, 0);
	std::vector<std::uint64_t> records;
	for (int i = 0; i < 6; i++)
		records.push_back(chooser.next(random, 1000));
	EXPECT_EQ(records, (std::vector<std::uint64_t>{994, 811, 683, 838, 575, 938}));
	EXPECT_EQ(key_of(0, 8), "DDflJtIl");
	EXPECT_EQ(key_of(1, 8), "REY-NCge");
}

TEST(Workload, UniformIsUniform)
{
	KeyChooser chooser(Distribution::uniform, 100, 0.99);
	Random random = make_random(9, 0);
	std::vector<std::uint64_t> seen(100);
	for (int i = 0; i < 200'000; i++)
		seen.at(chooser.next(random, 100))++;
	EXPECT_NEAR(chi_square(seen, std::vector<double>(100, 0.01)), 1, 5 * std::sqrt(2.0 / 99));
}

TEST(Workload, ScramblingKeepsTheFrequencies)
{
	KeyChooser chooser(Distribution::zipfian, 1000, 0.99);
	Random random = make_random(9, 0);
	std::vector<std::uint64_t> seen(1000);
	for (int i = 0; i < 1'000'000; i++)
		seen.at(chooser.next(random, 1000))++;
	std::vector<std::uint64_t> by_rank(1000);
	for (std::uint64_t rank = 0; rank < 1000; rank++)
		by_rank[rank] = seen[scramble(rank, 1000)];
	EXPECT_NEAR(chi_square(by_rank, zipf_theory(1000, 0.99)), 1, 5 * std::sqrt(2.0 / 999));
	EXPECT_NE(scramble(0, 1000), 0U);
}

TEST(Workload, LatestPrefersTheNewest)
{
	KeyChooser chooser(Distribution::latest, 100, 0.99);
	Random random = make_random(2, 0);
	for (const std::uint64_t records : {100U, 150U, 1000U}) {
		std::vector<std::uint64_t> seen(records);
		for (int i = 0; i < 300'000; i++)
			seen.at(chooser.next(random, records))++;
		std::reverse(seen.begin(), seen.end());
		EXPECT_NEAR(chi_square(seen, zipf_theory(records, 0.99)), 1,
			5 * std::sqrt(2.0 / static_cast<double>(records - 1)));
	}
}

TEST(Workload, ScrambleIsABijection)
{
	for (const std::uint64_t n : {1U, 2U, 3U, 7U, 64U, 1000U, 4097U}) {
		std::set<std::uint64_t> images;
		for (std::uint64_t i = 0; i < n; i++)
			images.insert(scramble(i, n));
		EXPECT_EQ(images.size(), n);
		EXPECT_EQ(*images.rbegin(), n - 1);
	}
}

TEST(Workload, KeysDifferAndArePrintable)
{
	std::set<std::string> keys;
	for (std::uint64_t record = 0; record < 100'000; record++)
		keys.insert(key_of(record, 8));
	EXPECT_EQ(keys.size(), 100'000U);
	for (const std::string &key : keys)
		ASSERT_TRUE(std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 127; })) << key;
	std::set<std::string> all_short;
	ASSERT_EQ(most_records(2), 4096U);
	for (std::uint64_t record = 0; record < most_records(2); record++)
		all_short.insert(key_of(record, 2));
	EXPECT_EQ(all_short.size(), most_records(2));
	EXPECT_EQ(most_records(250), std::uint64_t{1} << 48);
	EXPECT_EQ(key_of(5, 20).substr(0, 8), key_of(5, 8));
	EXPECT_NE(key_of(5, 20).substr(8), key_of(6, 20).substr(8));
}

TEST(Workload, ValuesTellTheirVersion)
{
	for (const std::size_t size : {16U, 17U, 100U, 512U}) {
		for (const std::uint64_t version : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 48})
			EXPECT_EQ(version_of(12, value_of(12, version, size)), version) << size;
	}
	EXPECT_EQ(version_of(12, value_of(12, 0x1234, 15)), 0x34U) << "short values hold 8 bits";
}

TEST(Workload, ValuesThatAreNotWholeAreFound)
{
	const Bytes value = value_of(12, 3, 512);
	for (std::size_t i = 0; i < value.size(); i++) {
		Bytes broken = value;
		broken[i] ^= std::byte{1};
		EXPECT_FALSE(version_of(12, broken)) << "byte " << i;
	}
	EXPECT_FALSE(version_of(13, value)) << "another record's";
	Bytes torn = value;
	const Bytes newer = value_of(12, 4, 512);
	std::copy(newer.begin() + 256, newer.end(), torn.begin() + 256);
	EXPECT_FALSE(version_of(12, torn)) << "half of two versions";
	EXPECT_FALSE(version_of(12, Bytes(512))) << "all zero";
	EXPECT_FALSE(version_of(13, value_of(12, 3, 15))) << "short values as well";
}

TEST(RecordCounter, ReadableIsBelowWhatIsUnderWay)
{
	RecordCounter counter(10);
	EXPECT_EQ(counter.readable(), 10U);
	EXPECT_EQ(counter.take(), 10U);
	EXPECT_EQ(counter.take(), 11U);
	EXPECT_EQ(counter.take(), 12U);
	counter.finish(11);
	EXPECT_EQ(counter.readable(), 10U) << "10 is still under way";
	counter.finish(10);
	EXPECT_EQ(counter.readable(), 12U);
	counter.finish(12);
	EXPECT_EQ(counter.readable(), 13U);
}

TEST(RecordCounter, ManyThreadsLeaveNothingBehind)
{
	/* Fewer than the counter's window: as many as could be under way while one thread does not run. */
	RecordCounter counter(1);
	std::vector<std::thread> threads;
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&] {
			for (int j = 0; j < 16'000; j++)
				counter.finish(counter.take());
		});
	for (std::thread &thread : threads)
		thread.join();
	EXPECT_EQ(counter.readable(), 64'001U);
}

} // namespace
