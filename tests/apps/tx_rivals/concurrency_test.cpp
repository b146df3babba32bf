/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Clients on threads of their own, each with several transactions at once, that compete for the same keys. */
#include "support.hpp"

#include <array>
#include <atomic>
#include <random>

namespace
{

using namespace tx_rivals;

constexpr unsigned clients = 3;
constexpr std::uint32_t lanes = 3;

template <typename Store>
class Concurrency : public testing::Test
{
protected:
	/* Runs @p jobs of @p make's bodies in each client. Returns the number of those that were committed. */
	unsigned run_all(Served<Store> &served, unsigned jobs, const std::function<Body(std::minstd_rand &)> &make)
	{
		std::atomic<unsigned> committed{0};
		std::vector<std::thread> threads;
		for (unsigned i = 0; i < clients; i++)
			threads.emplace_back([&, i] { committed += run_some(served, i, jobs, make); });
		for (std::thread &thread : threads)
			thread.join();
		return committed;
	}

	/*
	 * Checks that clients whose transactions have all ended hold nothing. The count is final once the servers have
	 * stopped.
	 */
	void expect_nothing_abandoned(Served<Store> &served)
	{
		for (std::uint32_t shard = 0; shard < served.addresses.size(); shard++) {
			served.stop(shard);
			EXPECT_EQ(served.server(shard).stats().abandoned, 0u) << shard;
		}
	}

	std::atomic<std::uint64_t> conflicts{0};

private:
	unsigned run_some(Served<Store> &served, unsigned number, unsigned jobs,
		const std::function<Body(std::minstd_rand &)> &make)
	{
		typename Store::ClientOptions options;
		options.depth = lanes;
		options.retry.timeout = 20s;
		options.retry.seed = number + 1;
		/* If cores are scarce, an attempt takes longer than the usual pause, and no client would succeed. */
		options.retry.longest_pause = 20ms;
		auto client = served.client(options);
		std::minstd_rand random(number + 1);
		std::array<Job, lanes> slots;
		std::vector<Job *> idle;
		for (Job &job : slots)
			idle.push_back(&job);
		unsigned begun = 0, ended = 0, committed = 0;
		while (ended < jobs) {
			for (; !idle.empty() && begun < jobs; begun++, idle.pop_back()) {
				idle.back()->body = make(random);
				EXPECT_EQ(client->start(*idle.back()), 0);
			}
			std::array<Job *, lanes> done{};
			const std::size_t count = client->poll(done);
			for (std::size_t i = 0; i < count; i++, ended++) {
				committed += done[i]->outcome == Outcome::committed;
				if (done[i]->outcome == Outcome::conflict)
					std::fprintf(stderr, "client %u: job %u of %u gave up after %u attempts\n",
						number, static_cast<unsigned>(ended) + 1, jobs, done[i]->attempts);
				EXPECT_NE(done[i]->outcome, Outcome::failed) << done[i]->error;
				EXPECT_NE(done[i]->outcome, Outcome::unknown) << done[i]->error;
				idle.push_back(done[i]);
			}
			if (!count)
				std::this_thread::sleep_for(20us); /* leaves the core to others */
		}
		conflicts += client->conflicts();
		return committed;
	}
};

using Both = testing::Types<Farm, Locking>;
TYPED_TEST_SUITE(Concurrency, Both);

std::string account(unsigned number)
{
	return "account" + std::to_string(number);
}

/* Every committed transaction has added one to two of a few counters. */
TYPED_TEST(Concurrency, CountersLoseNothing)
{
	constexpr unsigned counters = 5, jobs = 150;
	Served<TypeParam> served(2);
	const unsigned committed = this->run_all(served, jobs, [](std::minstd_rand &random) -> Body {
		const unsigned first = random() % counters, second = (first + 1 + random() % (counters - 1)) % counters;
		return [first, second](Transaction &t) -> apps::Task<int> {
			const std::array names{account(first), account(second)};
			const std::array keys{bytes_of(names[0]), bytes_of(names[1])};
			if (const int error = co_await t.fetch(keys))
				co_return error;
			for (const Bytes key : keys) {
				if (const int error = t.write(key, bytes_of(number_value(number_of(t.value(key)) + 1))))
					co_return error;
			}
			co_return 0;
		};
	});
	EXPECT_EQ(committed, clients * jobs);
	EXPECT_GT(this->conflicts, 0u) << "they were not concurrent";
	auto client = served.client();
	std::uint64_t sum = 0;
	for (unsigned i = 0; i < counters; i++) {
		const std::string value = get(*client, account(i)).value_or("");
		sum += number_of(bytes_of(value));
		EXPECT_EQ(value, number_value(number_of(bytes_of(value))));
	}
	EXPECT_EQ(sum, 2 * committed);
	client.reset();
	this->expect_nothing_abandoned(served);
}

/* Money moves between accounts of different shards; a transaction that reads all accounts finds all of it. */
TYPED_TEST(Concurrency, TransfersKeepTheTotal)
{
	constexpr unsigned accounts = 12, jobs = 80;
	constexpr std::uint64_t each = 1000;
	Served<TypeParam> served(3);
	auto client = served.client();
	for (unsigned i = 0; i < accounts; i++)
		ASSERT_EQ(put(*client, account(i), number_value(each)), Outcome::committed);
	const auto read_all = [](std::uint64_t &sum) -> Body {
		return [&sum](Transaction &t) -> apps::Task<int> {
			std::vector<std::string> names;
			std::vector<Bytes> keys;
			for (unsigned i = 0; i < accounts; i++)
				names.push_back(account(i));
			for (const std::string &name : names)
				keys.push_back(bytes_of(name));
			if (const int error = co_await t.fetch(keys))
				co_return error;
			sum = 0;
			for (const Bytes key : keys)
				sum += number_of(t.value(key));
			co_return 0;
		};
	};
	std::atomic<bool> over{false};
	unsigned looks = 0;
	std::thread reader([&] {
		typename TypeParam::ClientOptions options;
		options.retry.timeout = 20s;
		options.retry.longest_pause = 20ms;
		auto own = served.client(options);
		while (!over || looks == 0) {
			std::uint64_t sum = 0;
			const Outcome outcome = run(*own, read_all(sum), 50);
			if (outcome == Outcome::committed) {
				looks++;
				EXPECT_EQ(sum, accounts * each);
			} else {
				EXPECT_EQ(outcome, Outcome::conflict);
				if (outcome != Outcome::conflict)
					break; /* its links are broken, and stay so */
			}
		}
	});
	const unsigned committed = this->run_all(served, jobs, [](std::minstd_rand &random) -> Body {
		const unsigned from = random() % accounts, to = (from + 1 + random() % (accounts - 1)) % accounts;
		const std::uint64_t amount = random() % 50;
		return [from, to, amount](Transaction &t) -> apps::Task<int> {
			const std::array names{account(from), account(to)};
			const std::array keys{bytes_of(names[0]), bytes_of(names[1])};
			if (const int error = co_await t.fetch(keys))
				co_return error;
			const std::uint64_t left = number_of(t.value(keys[0]));
			if (left < amount)
				co_return ENODATA;
			if (const int error = t.write(keys[0], bytes_of(number_value(left - amount))))
				co_return error;
			co_return t.write(keys[1], bytes_of(number_value(number_of(t.value(keys[1])) + amount)));
		};
	});
	over = true;
	reader.join();
	EXPECT_GT(committed, clients * jobs / 2);
	EXPECT_GT(this->conflicts, 0u) << "they were not concurrent";
	std::uint64_t sum = 0;
	EXPECT_EQ(run(*client, read_all(sum)), Outcome::committed);
	EXPECT_EQ(sum, accounts * each);
	client.reset();
	this->expect_nothing_abandoned(served);
}

/*
 * One token that moves between keys: it leaves the index at one place and enters it at another. Every transaction finds
 * exactly one.
 */
TYPED_TEST(Concurrency, TokensThatComeAndGo)
{
	constexpr unsigned places = 8, jobs = 60;
	Served<TypeParam> served(2, 64);
	auto client = served.client();
	ASSERT_EQ(put(*client, account(0), number_value(7)), Outcome::committed);
	const unsigned committed = this->run_all(served, jobs, [](std::minstd_rand &random) -> Body {
		const unsigned to = random() % (places + 3); /* the last ones only look */
		return [to](Transaction &t) -> apps::Task<int> {
			std::vector<std::string> names;
			std::vector<Bytes> keys;
			for (unsigned i = 0; i < places; i++)
				names.push_back(account(i));
			for (const std::string &name : names)
				keys.push_back(bytes_of(name));
			if (const int error = co_await t.fetch(keys))
				co_return error;
			unsigned tokens = 0, at = 0;
			for (unsigned i = 0; i < places; i++) {
				if (!t.value(keys[i]))
					continue;
				tokens++;
				at = i;
			}
			if (tokens != 1) {
				/* The values read may be inconsistent; but then the transaction must not commit. */
				co_return t.write(bytes_of("wrong"), {});
			}
			if (to >= places || to == at)
				co_return 0;
			if (const int error = t.erase(keys[at]))
				co_return error;
			co_return t.write(keys[to], bytes_of(number_value(to)));
		};
	});
	EXPECT_EQ(committed, clients * jobs);
	EXPECT_EQ(get(*client, "wrong"), std::nullopt);
	unsigned tokens = 0;
	for (unsigned i = 0; i < places; i++)
		tokens += get(*client, account(i)).has_value();
	EXPECT_EQ(tokens, 1u);
	EXPECT_TRUE(comes_to_objects(served, 1));
	client.reset();
	this->expect_nothing_abandoned(served);
}

/* Each transaction inserts one of two keys if the other is absent: there are never both. */
TYPED_TEST(Concurrency, NoWriteSkewOfAbsentKeys)
{
	constexpr unsigned pairs = 40, jobs = 150;
	Served<TypeParam> served(2);
	const unsigned committed = this->run_all(served, jobs, [&](std::minstd_rand &random) -> Body {
		const unsigned pair = random() % pairs;
		const bool left = random() % 2;
		return [pair, left](Transaction &t) -> apps::Task<int> {
			const std::array names{account(pair) + (left ? "l" : "r"), account(pair) + (left ? "r" : "l")};
			if (const int error = co_await t.fetch(bytes_of(names[1])))
				co_return error;
			co_return t.value(bytes_of(names[1])) ? 0 : t.write(bytes_of(names[0]), bytes_of("here"));
		};
	});
	EXPECT_EQ(committed, clients * jobs);
	auto client = served.client();
	for (unsigned pair = 0; pair < pairs; pair++)
		EXPECT_FALSE(get(*client, account(pair) + "l") && get(*client, account(pair) + "r")) << pair;
	client.reset();
	this->expect_nothing_abandoned(served);
}

} // namespace
