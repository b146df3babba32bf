/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* <prism/tx.h> with the shards of a store in this process. */
#include "../tx/support.hpp"

#include <prism/tx.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <functional>
#include <memory_resource>
#include <new>
#include <thread>
#include <utility>

namespace
{

using namespace std::chrono_literals;

class TxInterface : public testing::Test
{
protected:
	~TxInterface() override { prism_tx_close(store); }

	static std::string addresses_of(const tx_test::Store &of)
	{
		std::string all;
		for (const prism::apps::ServerAddress &one : of.addresses)
			all += (all.empty() ? "" : ",") + one.text();
		return all;
	}

	static prism_tx_options options()
	{
		prism_tx_options options{};
		options.size = sizeof(options);
		return options;
	}

	void open(const prism_tx_options &wanted = options())
	{
		prism_tx_close(store);
		ASSERT_EQ(prism_tx_open(&store, addresses_of(*shards).c_str(), &wanted), 0) << prism_store_message();
	}

	prism_tx_transaction *begin()
	{
		prism_tx_transaction *transaction = nullptr;
		EXPECT_EQ(prism_tx_begin(store, &transaction), 0) << prism_store_message();
		return transaction;
	}

	static std::string read(prism_tx_transaction *transaction, const std::string &key)
	{
		std::string value(512, '.');
		std::size_t size = value.size();
		const int failed = prism_tx_read(transaction, key.data(), key.size(), value.data(), &size);
		if (failed)
			return std::to_string(failed);
		value.resize(size);
		return value;
	}
	static int write(prism_tx_transaction *transaction, const std::string &key, const std::string &value)
	{
		return prism_tx_write(transaction, key.data(), key.size(), value.data(), value.size());
	}
	static int remove(prism_tx_transaction *transaction, const std::string &key)
	{
		return prism_tx_remove(transaction, key.data(), key.size());
	}
	static std::string error(int number) { return std::to_string(-number); }

	/** Transactions on one key */
	int put(const std::string &key, const std::string &value)
	{
		prism_tx_transaction *const transaction = begin();
		EXPECT_EQ(write(transaction, key, value), 0);
		return prism_tx_commit(transaction);
	}
	std::string get(const std::string &key)
	{
		prism_tx_transaction *const transaction = begin();
		const std::string value = read(transaction, key);
		const int committed = prism_tx_commit(transaction);
		return committed ? "commit: " + std::to_string(committed) : value;
	}

	using Body = std::function<int(prism_tx_transaction *)>;
	int run(const Body &body, unsigned attempts = 0)
	{
		return prism_tx_run(
			store,
			[](prism_tx_transaction *transaction, void *argument) {
				return (*static_cast<const Body *>(argument))(transaction);
			},
			const_cast<Body *>(&body), attempts);
	}

	std::unique_ptr<tx_test::Store> shards = std::make_unique<tx_test::Store>();
	prism_tx *store = nullptr;
};

/* Opening ---------------------------------------------------------------------------------------------------------- */

TEST_F(TxInterface, OpensAndTellsTheLimits)
{
	open();
	EXPECT_EQ(prism_tx_max_key_size(store), 64u);
	EXPECT_EQ(prism_tx_max_value_size(store), 512u);
	EXPECT_EQ(prism_tx_max_key_size(nullptr), 0u);
	EXPECT_EQ(prism_tx_max_value_size(nullptr), 0u);
	prism_tx_close(nullptr);
	prism_tx *other = nullptr;
	ASSERT_EQ(prism_tx_open(&other, addresses_of(*shards).c_str(), nullptr), 0) << "no options: the defaults";
	prism_tx_close(other);
}

TEST_F(TxInterface, BadArgumentsOfOpen)
{
	const auto expect = [this](int wanted, const char *servers, const prism_tx_options &wrong, const char *why) {
		prism_tx *other = reinterpret_cast<prism_tx *>(this);
		EXPECT_EQ(prism_tx_open(&other, servers, &wrong), wanted) << prism_store_message();
		EXPECT_EQ(other, nullptr);
		EXPECT_NE(std::string(prism_store_message()).find(why), std::string::npos) << prism_store_message();
	};
	const std::string all = addresses_of(*shards);
	EXPECT_EQ(prism_tx_open(nullptr, all.c_str(), nullptr), -EINVAL);
	expect(-EINVAL, nullptr, options(), "NULL");
	for (const char *servers : {"", ",", ":1", "host:0", "127.0.0.1:1,,127.0.0.1:2"})
		expect(-EINVAL, servers, options(), "");
	prism_tx_options wrong = options();
	wrong.size = sizeof(wrong) - 1;
	expect(-EINVAL, all.c_str(), wrong, "sizeof");
	wrong = options();
	wrong.depth = 17;
	expect(-EINVAL, all.c_str(), wrong, "16");
	wrong = options();
	wrong.device = "none";
	expect(-ENODEV, all.c_str(), wrong, "none");
	expect(-EPROTONOSUPPORT, shards->addresses[0].text().c_str(), options(), "");
	shards->end(0);
	wrong = options();
	wrong.timeout_ms = 100;
	expect(-ECONNREFUSED, all.c_str(), wrong, shards->addresses[0].text().c_str());
}

TEST_F(TxInterface, OpensWithoutAServerThatIsGone)
{
	shards->end(1);
	prism_tx_options brief = options();
	brief.timeout_ms = 200;
	open(brief);
	unsigned done = 0, refused = 0;
	for (unsigned i = 0; i < 40; i++) {
		const int result = run([&i](prism_tx_transaction *transaction) {
			return write(transaction, "key " + std::to_string(i), "here");
		});
		EXPECT_TRUE(result == 0 || result == -EHOSTUNREACH) << result << prism_store_message();
		done += result == 0;
		refused += result == -EHOSTUNREACH;
	}
	EXPECT_GT(done, 0u);
	EXPECT_GT(refused, 0u);
}

/* Transactions ----------------------------------------------------------------------------------------------------- */

TEST_F(TxInterface, ReadsItsOwnChangesAndOthersSeeThemAfterTheCommit)
{
	open();
	prism_tx_transaction *const one = begin(), *const other = begin();
	EXPECT_EQ(read(one, "a"), error(ENOENT));
	EXPECT_EQ(write(one, "a", "1"), 0);
	EXPECT_EQ(write(one, "b", ""), 0);
	EXPECT_EQ(read(one, "a"), "1");
	EXPECT_EQ(read(one, "b"), "");
	EXPECT_EQ(remove(one, "b"), 0);
	EXPECT_EQ(read(one, "b"), error(ENOENT));
	EXPECT_EQ(write(one, "b", "2"), 0);
	EXPECT_EQ(read(other, "b"), error(ENOENT));
	EXPECT_EQ(prism_tx_commit(one), 0) << prism_store_message();
	EXPECT_EQ(prism_tx_commit(other), 0) << "it was before the other: " << prism_store_message();
	EXPECT_EQ(get("a"), "1");
	EXPECT_EQ(get("b"), "2");
	prism_tx_transaction *const third = begin();
	EXPECT_EQ(write(third, "a", "3"), 0);
	EXPECT_EQ(remove(third, "b"), 0);
	prism_tx_abort(third);
	EXPECT_EQ(get("a"), "1") << "aborted";
	EXPECT_EQ(get("b"), "2");
}

TEST_F(TxInterface, ManyKeysAreFetchedAtOnce)
{
	open();
	constexpr unsigned count = 20;
	std::vector<std::string> names;
	std::vector<prism_tx_key> keys;
	for (unsigned i = 0; i < count; i++)
		names.push_back("key " + std::to_string(i));
	prism_tx_transaction *transaction = begin();
	for (const std::string &name : names) {
		keys.push_back({name.data(), name.size()});
		ASSERT_EQ(write(transaction, name, "of " + name), 0);
	}
	ASSERT_EQ(prism_tx_commit(transaction), 0) << prism_store_message();
	transaction = begin();
	EXPECT_EQ(prism_tx_fetch(transaction, keys.data(), keys.size()), 0);
	EXPECT_EQ(prism_tx_fetch(transaction, nullptr, 0), 0);
	for (const std::string &name : names)
		EXPECT_EQ(read(transaction, name), "of " + name);
	EXPECT_EQ(prism_tx_commit(transaction), 0);
}

TEST_F(TxInterface, AConflictChangesNothing)
{
	open();
	ASSERT_EQ(put("k", "0"), 0);
	prism_tx_transaction *const one = begin(), *const other = begin();
	EXPECT_EQ(read(one, "k"), "0");
	EXPECT_EQ(read(other, "k"), "0");
	EXPECT_EQ(write(one, "k", "1"), 0);
	EXPECT_EQ(write(other, "k", "2"), 0);
	EXPECT_EQ(prism_tx_commit(one), 0);
	EXPECT_EQ(prism_tx_commit(other), -EAGAIN);
	EXPECT_EQ(get("k"), "1");
}

TEST_F(TxInterface, AValueThatIsLongerThanTheRoom)
{
	open();
	ASSERT_EQ(put("k", "0123456789"), 0);
	prism_tx_transaction *const transaction = begin();
	char room[4] = {'x', 'x', 'x', 'x'};
	std::size_t size = 3;
	EXPECT_EQ(prism_tx_read(transaction, "k", 1, room, &size), -EMSGSIZE);
	EXPECT_EQ(size, 10u);
	EXPECT_EQ(std::string(room, 4), "012x");
	size = 0;
	EXPECT_EQ(prism_tx_read(transaction, "k", 1, nullptr, &size), -EMSGSIZE);
	EXPECT_EQ(size, 10u);
	EXPECT_EQ(prism_tx_commit(transaction), 0) << "the transaction has gone on";
}

TEST_F(TxInterface, NoMoreThanDepthAtOnce)
{
	prism_tx_options wanted = options();
	wanted.depth = 2;
	open(wanted);
	prism_tx_transaction *const one = begin(), *const other = begin();
	prism_tx_transaction *third = one;
	EXPECT_EQ(prism_tx_begin(store, &third), -EBUSY);
	EXPECT_EQ(third, nullptr);
	prism_tx_abort(one);
	EXPECT_EQ(prism_tx_begin(store, &third), 0);
	EXPECT_EQ(write(third, "k", "v"), 0);
	EXPECT_EQ(prism_tx_commit(third), 0);
	prism_tx_abort(other);
}

TEST_F(TxInterface, ATransactionThatIsTooLarge)
{
	open();
	prism_tx_transaction *const transaction = begin();
	int result = 0;
	for (unsigned i = 0; i < 200 && !result; i++)
		result = write(transaction, "key " + std::to_string(i), "v");
	EXPECT_EQ(result, -E2BIG);
	EXPECT_EQ(read(transaction, "key 0"), error(E2BIG)) << "it can only be aborted";
	EXPECT_EQ(prism_tx_commit(transaction), -E2BIG);
	EXPECT_EQ(get("key 0"), error(ENOENT));
}

/** Memory resource that can run out. */
class Scarce final : public std::pmr::memory_resource
{
public:
	std::atomic<bool> used_up = false;

private:
	void *do_allocate(std::size_t bytes, std::size_t alignment) override
	{
		if (used_up)
			throw std::bad_alloc();
		return std::pmr::new_delete_resource()->allocate(bytes, alignment);
	}
	void do_deallocate(void *memory, std::size_t bytes, std::size_t alignment) override
	{
		std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
	}
	[[nodiscard]] bool do_is_equal(const memory_resource &other) const noexcept override { return this == &other; }
};

TEST_F(TxInterface, ChangesThatFindNoMemory)
{
	Scarce memory;
	std::pmr::memory_resource *const usual = std::pmr::set_default_resource(&memory);
	open();
	std::pmr::set_default_resource(usual);
	prism_tx_transaction *const transaction = begin();
	memory.used_up = true;
	int result = 0;
	for (unsigned i = 0; i < 1000 && !result; i++) /* some memory is there at first */
		result = write(transaction, "k", std::string(512, 'v'));
	EXPECT_EQ(result, -ENOMEM);
	EXPECT_EQ(write(transaction, "k", "v"), -ENOMEM) << "it can only be aborted";
	EXPECT_EQ(prism_tx_commit(transaction), -ENOMEM);
	memory.used_up = false;
	EXPECT_EQ(get("k"), error(ENOENT));
	EXPECT_EQ(put("k", "v"), 0);
	EXPECT_EQ(get("k"), "v");
	prism_tx_close(store); /* before its memory */
	store = nullptr;
}

TEST_F(TxInterface, BadArgumentsOfCalls)
{
	open();
	prism_tx_transaction *transaction = nullptr;
	EXPECT_EQ(prism_tx_begin(nullptr, &transaction), -EINVAL);
	EXPECT_EQ(prism_tx_begin(store, nullptr), -EINVAL);
	transaction = begin();
	char room[8];
	std::size_t size = sizeof(room);
	EXPECT_EQ(prism_tx_read(nullptr, "k", 1, room, &size), -EINVAL);
	EXPECT_EQ(prism_tx_read(transaction, nullptr, 1, room, &size), -EINVAL);
	EXPECT_EQ(prism_tx_read(transaction, "k", 0, room, &size), -EINVAL);
	EXPECT_EQ(prism_tx_read(transaction, "k", SIZE_MAX, room, &size), -EINVAL);
	EXPECT_EQ(prism_tx_read(transaction, "k", 1, nullptr, &size), -EINVAL);
	EXPECT_EQ(prism_tx_read(transaction, "k", 1, room, nullptr), -EINVAL);
	const std::string long_key(65, 'k'), long_value(513, 'v');
	EXPECT_EQ(read(transaction, long_key), error(EINVAL));
	EXPECT_EQ(write(transaction, long_key, "v"), -EINVAL);
	EXPECT_EQ(write(transaction, "k", long_value), -EINVAL);
	EXPECT_NE(std::string(prism_store_message()), "");
	EXPECT_EQ(remove(transaction, long_key), -EINVAL);
	EXPECT_EQ(prism_tx_write(nullptr, "k", 1, "v", 1), -EINVAL);
	EXPECT_EQ(prism_tx_write(transaction, nullptr, 1, "v", 1), -EINVAL);
	EXPECT_EQ(prism_tx_write(transaction, "k", 1, nullptr, 1), -EINVAL);
	EXPECT_EQ(prism_tx_write(transaction, "k", 1, "v", SIZE_MAX), -EINVAL);
	EXPECT_EQ(prism_tx_remove(nullptr, "k", 1), -EINVAL);
	EXPECT_EQ(prism_tx_remove(transaction, "k", 0), -EINVAL);
	const prism_tx_key none{nullptr, 1}, empty{"k", 0};
	EXPECT_EQ(prism_tx_fetch(nullptr, &empty, 1), -EINVAL);
	EXPECT_EQ(prism_tx_fetch(transaction, nullptr, 1), -EINVAL);
	EXPECT_EQ(prism_tx_fetch(transaction, &none, 1), -EINVAL);
	EXPECT_EQ(prism_tx_fetch(transaction, &empty, 1), -EINVAL);
	EXPECT_EQ(prism_tx_commit(nullptr), -EINVAL);
	prism_tx_abort(nullptr);
	EXPECT_EQ(prism_tx_run(
			  nullptr, [](prism_tx_transaction *, void *) { return 0; }, nullptr, 0),
		-EINVAL);
	EXPECT_EQ(prism_tx_run(store, nullptr, nullptr, 0), -EINVAL);
	EXPECT_EQ(write(transaction, "k", "v"), 0) << "nothing of this has done harm";
	EXPECT_EQ(prism_tx_commit(transaction), 0);
	EXPECT_EQ(get("k"), "v");
}

TEST_F(TxInterface, KeysOfANumberedStore)
{
	tx_test::StoreOptions numbered;
	numbered.numbered = true;
	shards.reset();
	shards = std::make_unique<tx_test::Store>(numbered);
	open();
	EXPECT_EQ(prism_tx_max_key_size(store), 8u);
	prism_tx_transaction *const transaction = begin();
	EXPECT_EQ(write(transaction, tx_test::numbered_key(7), "seven"), 0);
	EXPECT_EQ(write(transaction, "seven", "7"), -EINVAL) << "no number";
	EXPECT_EQ(write(transaction, tx_test::numbered_key(UINT64_MAX), ""), -EINVAL) << "not of this store";
	EXPECT_EQ(prism_tx_commit(transaction), 0);
	EXPECT_EQ(get(tx_test::numbered_key(7)), "seven");
}

TEST_F(TxInterface, ClosedWithTransactionsUnderWay)
{
	open();
	EXPECT_EQ(read(begin(), "k"), error(ENOENT));
	EXPECT_EQ(write(begin(), "k", "v"), 0);
	open();
	EXPECT_EQ(get("k"), error(ENOENT)) << "aborted";
}

/* prism_tx_run() --------------------------------------------------------------------------------------------------- */

TEST_F(TxInterface, RunsAgainAfterAConflict)
{
	open();
	ASSERT_EQ(put("k", "0"), 0);
	unsigned attempts = 0;
	EXPECT_EQ(run([&](prism_tx_transaction *transaction) {
		attempts++;
		const std::string value = read(transaction, "k");
		if (attempts <= 2) { /* another transaction comes in between */
			EXPECT_EQ(put("k", std::to_string(std::stoi(value) + 10)), 0);
		}
		return write(transaction, "k", std::to_string(std::stoi(value) + 1));
	}),
		0)
		<< prism_store_message();
	EXPECT_EQ(attempts, 3u);
	EXPECT_EQ(get("k"), "21");
}

TEST_F(TxInterface, RunGivesUpAfterSoManyAttempts)
{
	open();
	ASSERT_EQ(put("k", "0"), 0);
	unsigned attempts = 0;
	const Body always_meets = [&](prism_tx_transaction *transaction) {
		attempts++;
		EXPECT_NE(read(transaction, "k"), "");
		EXPECT_EQ(put("k", "other " + std::to_string(attempts)), 0);
		return write(transaction, "k", "mine");
	};
	EXPECT_EQ(run(always_meets, 3), -EAGAIN);
	EXPECT_EQ(attempts, 3u);
	EXPECT_EQ(get("k"), "other 3");
	attempts = 0;
	EXPECT_EQ(run([&](prism_tx_transaction *) { return attempts++, -EAGAIN; }, 5), -EAGAIN);
	EXPECT_EQ(attempts, 5u);
	prism_tx_options hasty = options();
	hasty.timeout_ms = 300; /* to open it, too, under a sanitizer */
	open(hasty);
	attempts = 0;
	EXPECT_EQ(run([&](prism_tx_transaction *) { return attempts++, -EAGAIN; }), -EAGAIN) << "out of time";
	EXPECT_GT(attempts, 1u);
}

TEST_F(TxInterface, RunAbortsIfItsBodySaysSo)
{
	open();
	for (const int said : {1, -ENOENT, INT_MAX, INT_MIN}) {
		EXPECT_EQ(run([said](prism_tx_transaction *transaction) {
			EXPECT_EQ(write(transaction, "k", "v"), 0);
			return said;
		}),
			said);
	}
	EXPECT_EQ(get("k"), error(ENOENT));
	EXPECT_EQ(run([](prism_tx_transaction *transaction) {
		EXPECT_EQ(prism_tx_commit(transaction), -EINVAL) << "this is not its business";
		prism_tx_abort(transaction);
		return write(transaction, "k", "v");
	}),
		0);
	EXPECT_EQ(get("k"), "v");
	EXPECT_EQ(run([](prism_tx_transaction *transaction) {
		for (unsigned i = 0; i < 100; i++)
			(void)write(transaction, "key " + std::to_string(i), "v");
		return 0; /* the body ignores the errors */
	}),
		-E2BIG);
	EXPECT_EQ(get("key 0"), error(ENOENT));
}

/** Checks that a body is run again if it returns its read's error after a lost connection, as most bodies do. */
TEST_F(TxInterface, RunsAgainAfterALostConnection)
{
	constexpr unsigned most_rounds = 50;
	open();
	unsigned seen = 0, round = 0;
	for (; round < most_rounds && !seen; round++) {
		bool first = true;
		const Body body = [&](prism_tx_transaction *transaction) {
			std::string value = read(transaction, "k");
			if (std::exchange(first, false)) {
				for (const prism::apps::ServerAddress &shard : shards->addresses)
					for (const int fd : tx_test::connections_to(shard.port))
						tx_test::cut(fd);
			}
			for (unsigned key = 0; key < 20 && value == error(ENOENT); key++)
				value = read(transaction, "key " + std::to_string(key));
			if (value == error(EHOSTUNREACH)) {
				seen++;
				return -EHOSTUNREACH;
			}
			return write(transaction, "done", std::to_string(round));
		};
		ASSERT_EQ(run(body), 0) << prism_store_message();
	}
	EXPECT_GT(seen, 0u);
	EXPECT_EQ(get("done"), std::to_string(round - 1));
}

/* Threads ---------------------------------------------------------------------------------------------------------- */

TEST_F(TxInterface, ThreadsShareAStore)
{
	constexpr unsigned threads = 4, rounds = 25;
	open();
	ASSERT_EQ(put("a", "100"), 0);
	ASSERT_EQ(put("b", "0"), 0);
	std::vector<std::thread> all;
	for (unsigned number = 0; number < threads; number++)
		all.emplace_back([this] {
			for (unsigned round = 0; round < rounds; round++) {
				const int result = run([](prism_tx_transaction *transaction) {
					const std::string a = read(transaction, "a"), b = read(transaction, "b");
					if (a == error(EAGAIN) || b == error(EAGAIN))
						return -EAGAIN;
					EXPECT_EQ(write(transaction, "a", std::to_string(std::stoi(a) - 1)), 0);
					return write(transaction, "b", std::to_string(std::stoi(b) + 1));
				});
				EXPECT_EQ(result, 0) << prism_store_message();
			}
		});
	for (std::thread &one : all)
		one.join();
	EXPECT_EQ(get("a"), std::to_string(100 - static_cast<int>(threads * rounds)));
	EXPECT_EQ(get("b"), std::to_string(threads * rounds));
}

/* Lost servers ----------------------------------------------------------------------------------------------------- */

TEST_F(TxInterface, AShardThatVanishes)
{
	prism_tx_options wanted = options();
	wanted.depth = 4; /* of 16 lanes: a transaction in doubt takes the lane of another */
	open(wanted);
	/* One key on each shard */
	std::string keys[2];
	for (unsigned i = 0; keys[0].empty() || keys[1].empty(); i++) {
		prism::tx::KeyPlace place;
		const std::string key = "key " + std::to_string(i);
		tx_test::Client client(*shards, 1);
		ASSERT_EQ(client.api->place_of(tx_test::bytes(key), place), 0);
		keys[place.shard] = key;
	}
	ASSERT_EQ(put(keys[0], "here"), 0);
	ASSERT_EQ(put(keys[1], "there"), 0);
	prism_tx_transaction *const halfway = begin();
	EXPECT_EQ(read(halfway, keys[1]), "there");
	EXPECT_EQ(write(halfway, keys[0], "changed"), 0);
	EXPECT_EQ(write(halfway, keys[1], "changed"), 0);
	shards->end(1);
	const int result = prism_tx_commit(halfway);
	EXPECT_TRUE(result == -EHOSTUNREACH || result == -EINPROGRESS) << result << prism_store_message();
	prism_tx_transaction *const later = begin();
	const std::string found = read(later, keys[1]);
	EXPECT_EQ(found, error(EHOSTUNREACH)) << prism_store_message();
	EXPECT_EQ(prism_tx_commit(later), -EHOSTUNREACH) << "its read has failed";
	EXPECT_EQ(run([&](prism_tx_transaction *transaction) {
		return read(transaction, keys[1]) == error(EHOSTUNREACH) ? -EHOSTUNREACH : 0;
	}),
		-EHOSTUNREACH);
	if (result == -EHOSTUNREACH) {
		EXPECT_EQ(get(keys[0]), "here") << "the others serve, and nothing was changed";
	}
}

} // namespace
