/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Transactions on the global memory: single ones, and pairs that meet. */
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../support/text.hpp"
#include "cluster.hpp"
#include "folder.hpp"
#include "gam/api/joined_node.hpp"
#include "gam/coherence/block_log.hpp"
#include "gam/data/no_wait_client.hpp"
#include "gam/data/records.hpp"
#include "peer_support.hpp"

namespace
{

using namespace prism;
using namespace prism::gam;
using prism::gam::test::Cluster;
using prism::gam::test::ClusterOptions;
using prism::test::bytes_of;
using prism::test::text_of;
using tx::Body;
using tx::Bytes;
using tx::Job;
using tx::Outcome;
using tx::Transaction;

ClusterOptions of(std::size_t nodes, std::uint64_t bytes = std::uint64_t{4} << 20)
{
	ClusterOptions options;
	options.nodes = nodes;
	options.node.bytes = bytes;
	options.node.serves = true; /* nodes without a thread answer, too */
	return options;
}

/** Store on the nodes of a cluster. */
class Store
{
public:
	explicit Store(const ClusterOptions &options, const RecordsOptions &records = {})
		: cluster(options), session_(cluster.node(0)), records_(Records::create(session_, records).value())
	{
	}

	std::unique_ptr<NoWaitClient> client(NodeId node = 0, const NoWaitClientOptions &options = {})
	{
		return NoWaitClient::open(cluster.node(node), records_.catalogue(), options).value();
	}
	[[nodiscard]] Address catalogue() const { return records_.catalogue(); }

	Cluster cluster;

private:
	Session session_;
	Records records_;
};

Outcome run(tx::TransactionClient &client, Body body, unsigned attempts = 0, Job *told = nullptr)
{
	Job job;
	job.body = std::move(body);
	job.max_attempts = attempts;
	const Outcome outcome = client.run(job);
	if (told)
		*told = std::move(job);
	return outcome;
}

Outcome put(tx::TransactionClient &client, const std::string &key, const std::string &value)
{
	return run(
		client, [&](Transaction &t) -> apps::Task<int> { co_return t.write(bytes_of(key), bytes_of(value)); });
}

std::optional<std::string> get(tx::TransactionClient &client, const std::string &key)
{
	std::optional<std::string> found;
	EXPECT_EQ(run(client,
			  [&](Transaction &t) -> apps::Task<int> {
				  if (const int error = co_await t.fetch(bytes_of(key)))
					  co_return error;
				  const std::optional<Bytes> value = t.value(bytes_of(key));
				  found = value ? std::optional(text_of(*value)) : std::nullopt;
				  co_return 0;
			  }),
		Outcome::committed);
	return found;
}

Outcome erase(tx::TransactionClient &client, const std::string &key)
{
	return run(client, [&](Transaction &t) -> apps::Task<int> { co_return t.erase(bytes_of(key)); });
}

TEST(Transactions, WriteReadErase)
{
	Store store(of(2));
	auto one = store.client(0), other = store.client(1);
	EXPECT_EQ(get(*one, "a"), std::nullopt);
	EXPECT_EQ(put(*one, "a", "one"), Outcome::committed);
	EXPECT_EQ(get(*other, "a"), "one");
	EXPECT_EQ(put(*other, "a", ""), Outcome::committed);
	EXPECT_EQ(get(*one, "a"), "");
	EXPECT_EQ(erase(*one, "a"), Outcome::committed);
	EXPECT_EQ(get(*other, "a"), std::nullopt);
	EXPECT_EQ(erase(*one, "a"), Outcome::committed);
	EXPECT_EQ(put(*other, "a", "again"), Outcome::committed);
	EXPECT_EQ(get(*one, "a"), "again");
}

/* Else a client would go on with the record of another key, if the number of the lost node was used again. */
TEST(Transactions, RecordsOfALostNodeAreSoughtAnew)
{
	const std::string name = "account";
	Cluster cluster(of(2));
	Session session(cluster.node(0)), other(cluster.node(1));
	Records records = Records::create(session).value();
	Address index, first, again;
	ASSERT_EQ(
		session.read(records.catalogue() + sizeof(std::uint64_t), std::as_writable_bytes(std::span(&index, 1))),
		0);
	Records writer = Records::open(other, records.catalogue()).value();
	ASSERT_EQ(writer.find(bytes_of(name), first), 0);
	ASSERT_EQ(first.home(), 1);
	apps::Operation erase;
	erase.kind = apps::OperationKind::erase;
	erase.key = bytes_of(name);
	ASSERT_EQ(records.find(bytes_of(name), again), 0);
	ASSERT_EQ(again, first);
	Table::open(session, index).value().run(erase);
	ASSERT_EQ(erase.outcome, apps::Outcome::ok);
	ASSERT_EQ(records.find(bytes_of(name), again), 0);
	EXPECT_EQ(again, first) << "known";
	cluster.node(0).lost(1);
	cluster.node(0).joined(1);
	ASSERT_EQ(records.find(bytes_of(name), again), 0);
	EXPECT_NE(again, first);
}

TEST(Transactions, SeeTheirOwnChanges)
{
	Store store(of(1));
	auto client = store.client();
	ASSERT_EQ(put(*client, "a", "old"), Outcome::committed);
	const std::string a = "a", b = "b", fresh = "new";
	EXPECT_EQ(run(*client,
			  [&](Transaction &t) -> apps::Task<int> {
				  EXPECT_EQ(co_await t.fetch(bytes_of(a)), 0);
				  EXPECT_EQ(t.insert(bytes_of(a), bytes_of(fresh)), EEXIST);
				  EXPECT_EQ(t.write(bytes_of(a), bytes_of(fresh)), 0);
				  EXPECT_EQ(text_of(t.value(bytes_of(a)).value()), fresh);
				  EXPECT_EQ(t.erase(bytes_of(a)), 0);
				  EXPECT_FALSE(t.value(bytes_of(a)));
				  EXPECT_EQ(t.insert(bytes_of(b), bytes_of(fresh)), 0);
				  co_return 0;
			  }),
		Outcome::committed);
	EXPECT_EQ(get(*client, "a"), std::nullopt);
	EXPECT_EQ(get(*client, "b"), "new");
}

TEST(Transactions, RollBackChangesNothing)
{
	Store store(of(1));
	auto client = store.client();
	ASSERT_EQ(put(*client, "a", "old"), Outcome::committed);
	Job job;
	EXPECT_EQ(run(
			  *client,
			  [](Transaction &t) -> apps::Task<int> {
				  const std::string a = "a", fresh = "new";
				  EXPECT_EQ(co_await t.fetch(bytes_of(a)), 0);
				  EXPECT_EQ(t.write(bytes_of(a), bytes_of(fresh)), 0);
				  co_return ECANCELED;
			  },
			  0, &job),
		Outcome::rolled_back);
	EXPECT_EQ(job.error, ECANCELED);
	EXPECT_EQ(get(*client, "a"), "old");
	EXPECT_EQ(put(*client, "a", "free"), Outcome::committed) << "its locks are given back";
}

/** Tests records of one block and of several, and values that grow and shrink. */
TEST(Transactions, ValuesOfAnyLength)
{
	constexpr std::uint32_t longest = 65536;
	RecordsOptions records;
	records.max_value_size = longest;
	Store store(of(2, std::uint64_t{8} << 20), records);
	auto one = store.client(0), other = store.client(1);
	for (const std::size_t length : {0U, 1U, 495U, 496U, 497U, 1008U, 4096U, longest, 600U, 3U}) {
		std::string value(length, 'v');
		for (std::size_t i = 0; i < length; i++)
			value[i] = static_cast<char>(i * 13 + length);
		ASSERT_EQ(put(*one, "a", value), Outcome::committed) << length;
		ASSERT_EQ(get(*other, "a"), value) << length;
	}
	Job job;
	const std::string a = "a", too_long(longest + 1, 'v');
	EXPECT_EQ(
		run(
			*one,
			[&](Transaction &t) -> apps::Task<int> { co_return t.write(bytes_of(a), bytes_of(too_long)); },
			0, &job),
		Outcome::rolled_back);
	EXPECT_EQ(job.error, EINVAL);
}

TEST(Transactions, KeysOfAnyLength)
{
	Store store(of(1));
	auto client = store.client();
	for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{600}, Records::max_key_size}) {
		const std::string key(length, 'k');
		ASSERT_EQ(put(*client, key, std::to_string(length)), Outcome::committed);
		ASSERT_EQ(get(*client, key), std::to_string(length));
	}
	const std::string too_long(Records::max_key_size + 1, 'k');
	EXPECT_EQ(put(*client, too_long, "v"), Outcome::rolled_back);
	Job job;
	EXPECT_EQ(run(
			  *client,
			  [&](Transaction &t) -> apps::Task<int> { co_return co_await t.fetch(bytes_of(too_long)); }, 0,
			  &job),
		Outcome::rolled_back);
	EXPECT_EQ(job.error, EINVAL);
}

/** Transaction that sleeps in its body while another transaction runs. */
class Meeting : public testing::TestWithParam<bool>
{
protected:
	Meeting() : store_(of(2))
	{
		NoWaitClientOptions options;
		options.depth = 2;
		options.exclusive_fetch = GetParam();
		sleeper_ = store_.client(0, options);
		other_ = store_.client(1, options);
		EXPECT_EQ(put(*sleeper_, "a", "old"), Outcome::committed);
	}

	/** Fetches "a" and sleeps; with @p changes, writes it afterwards. */
	void fall_asleep(bool changes)
	{
		job_.max_attempts = 1;
		job_.body = [this, changes](Transaction &t) -> apps::Task<int> {
			const std::string a = "a", value = "slow";
			if (const int error = co_await t.fetch(bytes_of(a)))
				co_return error;
			co_await sleeper_->asleep(job_);
			co_return changes ? t.write(bytes_of(a), bytes_of(value)) : 0;
		};
		ASSERT_EQ(sleeper_->start(job_), 0);
	}
	Outcome wake()
	{
		sleeper_->wake(job_);
		std::array<Job *, 2> ended{};
		EXPECT_EQ(sleeper_->poll(ended), 1U);
		return job_.outcome;
	}
	static Outcome try_to_put(tx::TransactionClient &client)
	{
		return run(
			client,
			[](Transaction &t) -> apps::Task<int> {
				const std::string a = "a", value = "fast";
				co_return t.write(bytes_of(a), bytes_of(value));
			},
			3);
	}
	static Outcome try_to_get(tx::TransactionClient &client)
	{
		return run(
			client,
			[](Transaction &t) -> apps::Task<int> {
				const std::string a = "a";
				co_return co_await t.fetch(bytes_of(a));
			},
			3);
	}

	Store store_;
	std::unique_ptr<NoWaitClient> sleeper_, other_;
	Job job_;
};

/** Tests writers on another node and in another lane of the same thread. */
TEST_P(Meeting, WhoHasReadKeepsWritersOut)
{
	fall_asleep(false);
	EXPECT_EQ(try_to_put(*other_), Outcome::conflict);
	EXPECT_EQ(try_to_put(*sleeper_), Outcome::conflict);
	EXPECT_EQ(wake(), Outcome::committed);
	EXPECT_EQ(try_to_put(*other_), Outcome::committed);
	EXPECT_EQ(get(*sleeper_, "a"), "fast");
	EXPECT_GT(other_->conflicts(), 0U);
}

TEST_P(Meeting, ReadersShareUnlessTheyAreExclusive)
{
	const Outcome expected = GetParam() ? Outcome::conflict : Outcome::committed;
	fall_asleep(false);
	EXPECT_EQ(try_to_get(*other_), expected);
	EXPECT_EQ(try_to_get(*sleeper_), expected);
	EXPECT_EQ(wake(), Outcome::committed);
}

TEST_P(Meeting, WhoHasReadMayWrite)
{
	fall_asleep(true);
	EXPECT_EQ(wake(), Outcome::committed);
	EXPECT_EQ(get(*other_, "a"), "slow");
}

TEST_P(Meeting, ClientsThatLeaveGiveBackTheirLocks)
{
	fall_asleep(true);
	sleeper_.reset();
	EXPECT_EQ(try_to_put(*other_), Outcome::committed);
	EXPECT_EQ(get(*other_, "a"), "fast");
}

INSTANTIATE_TEST_SUITE_P(Transactions, Meeting, testing::Bool());

/** Checks that of two transactions that have read a key and want to write it, not both can. */
TEST(Transactions, UpgradesExcludeEachOther)
{
	Store store(of(1));
	NoWaitClientOptions options;
	options.depth = 2;
	auto client = store.client(0, options);
	ASSERT_EQ(put(*client, "a", "0"), Outcome::committed);
	std::array<Job, 2> jobs;
	const auto body = [&](Job &job) {
		return [&](Transaction &t) -> apps::Task<int> {
			const std::string a = "a";
			if (const int error = co_await t.fetch(bytes_of(a)))
				co_return error;
			co_await client->asleep(job);
			const std::string next = std::to_string(std::stoi(text_of(t.value(bytes_of(a)).value())) + 1);
			co_return t.write(bytes_of(a), bytes_of(next));
		};
	};
	for (Job &job : jobs) {
		job.max_attempts = 1;
		job.body = body(job);
		ASSERT_EQ(client->start(job), 0);
	}
	client->wake(jobs[0]);
	client->wake(jobs[1]);
	std::array<Job *, 2> ended{};
	ASSERT_EQ(client->poll(ended), 2U);
	const int committed =
		(jobs[0].outcome == Outcome::committed ? 1 : 0) + (jobs[1].outcome == Outcome::committed ? 1 : 0);
	EXPECT_LE(committed, 1);
	EXPECT_EQ(get(*client, "a"), std::to_string(committed));
}

TEST(Transactions, AFullNodeFails)
{
	Store store(of(1, 64 * block_size), {492, {4, 1}});
	auto client = store.client();
	ASSERT_EQ(put(*client, "first", "value"), Outcome::committed);
	Job job;
	unsigned stored = 0;
	for (Outcome outcome = Outcome::committed; outcome == Outcome::committed; stored++) {
		const std::string key = std::to_string(stored), value = "value";
		outcome = run(
			*client,
			[&](Transaction &t) -> apps::Task<int> {
				if (const int error = t.write(bytes_of(key), bytes_of(value)))
					co_return error;
				co_return t.write(bytes_of("first"), bytes_of(key));
			},
			0, &job);
	}
	EXPECT_EQ(job.outcome, Outcome::failed);
	EXPECT_EQ(job.error, ENOSPC);
	EXPECT_GT(stored, 10U);
	EXPECT_EQ(get(*client, "first"), std::to_string(stored - 2)) << "the last one has changed nothing";
}

/* Locks take all lines, and there is none for the blocks behind the first one of the last key. */
TEST(Transactions, AFullCacheChangesNothing)
{
	ClusterOptions options = of(2);
	options.lines = 4;
	options.node.shards = 1;
	RecordsOptions records;
	records.max_value_size = 3000;
	records.index.nodes = {0};
	Store store(options, records);
	auto client = store.client(1), other = store.client(0);
	const std::array<std::string, 4> keys{"a", "b", "c", "d"};
	for (const std::string &key : keys)
		ASSERT_EQ(put(*client, key, "old"), Outcome::committed);
	const std::string fresh(8, 'n'), longer(3000, 'n');
	Job job;
	EXPECT_EQ(run(
			  *client,
			  [&](Transaction &t) -> apps::Task<int> {
				  int error = 0;
				  for (const std::string &key : keys)
					  error = error ? error
							: t.write(bytes_of(key), bytes_of(key == "d" ? longer : fresh));
				  co_return error;
			  },
			  0, &job),
		Outcome::failed);
	EXPECT_EQ(job.error, ENOBUFS);
	for (const std::string &key : keys)
		EXPECT_EQ(get(*other, key), "old");
}

TEST(Transactions, AStoreThatCannotBeMadeTakesNothing)
{
	Cluster cluster(of(1, std::uint64_t{64} << 10));
	Session session(cluster.node(0));
	const std::uint64_t before = cluster.node(0).available();
	RecordsOptions options;
	for (options.index.buckets = 600; !Records::create(session, options); options.index.buckets--)
		ASSERT_EQ(cluster.node(0).available(), before) << options.index.buckets;
	EXPECT_LT(cluster.node(0).available(), block_size) << "all sizes were tried that almost fit";
}

TEST(Transactions, MoreKeysThanOneMayHave)
{
	Store store(of(1));
	auto client = store.client();
	Job job;
	EXPECT_EQ(run(
			  *client,
			  [](Transaction &t) -> apps::Task<int> {
				  for (unsigned i = 0;; i++) {
					  const std::string key = std::to_string(i);
					  if (const int error = t.write(bytes_of(key), bytes_of(key)))
						  co_return error;
				  }
			  },
			  0, &job),
		Outcome::rolled_back);
	EXPECT_EQ(job.error, E2BIG);
	EXPECT_EQ(get(*client, "0"), std::nullopt);
}

TEST(Transactions, OnlyAStoreIsOpened)
{
	Store store(of(1));
	Node &node = store.cluster.node(0);
	EXPECT_EQ(NoWaitClient::open(node, store.catalogue() + 8).error().code, EPROTO);
	NoWaitClientOptions none;
	none.depth = 0;
	EXPECT_EQ(NoWaitClient::open(node, store.catalogue(), none).error().code, EINVAL);
	Session session(node);
	EXPECT_EQ(Records::create(session, {0, {}}).error().code, EINVAL);
	EXPECT_EQ(Records::create(session, {Records::longest_value + 1, {}}).error().code, EINVAL);
}

/** Checks that records overwritten by other nodes are detected. */
TEST(Transactions, DamageIsReported)
{
	Store store(of(1));
	auto client = store.client();
	const std::string a = "a";
	ASSERT_EQ(put(*client, a, "value"), Outcome::committed);
	Session session(store.cluster.node(0));
	Records records = Records::open(session, store.catalogue()).value();
	Address record;
	ASSERT_EQ(records.find(bytes_of(a), record), 0);
	EXPECT_EQ(record.in_block(), 0U);
	Records::Header header;
	header.bytes = static_cast<std::uint32_t>(records.max_value_size()) + 1;
	ASSERT_EQ(records.write(record, header, {}), 0);
	ASSERT_EQ(session.mfence(), 0);
	Job job;
	EXPECT_EQ(run(
			  *client, [&](Transaction &t) -> apps::Task<int> { co_return co_await t.fetch(bytes_of(a)); },
			  0, &job),
		Outcome::rolled_back);
	EXPECT_EQ(job.error, EBADMSG);
}

/** Checks what a log that was restored from an older copy may leave: an index that leads to another key's record. */
TEST(Transactions, ARecordOfAnotherKeyIsNotItsOwn)
{
	const std::string alice = "alice", bob = "bob";
	Store store(of(1));
	auto client = store.client();
	ASSERT_EQ(put(*client, alice, "7"), Outcome::committed);
	ASSERT_EQ(put(*client, bob, "8"), Outcome::committed);
	Session session(store.cluster.node(0));
	Records records = Records::open(session, store.catalogue()).value();
	Address record, index;
	ASSERT_EQ(records.find(bytes_of(bob), record), 0);
	ASSERT_EQ(session.read(store.catalogue() + sizeof(std::uint64_t), std::as_writable_bytes(std::span(&index, 1))),
		0);
	apps::Operation put_index;
	put_index.kind = apps::OperationKind::put;
	put_index.key = bytes_of(alice);
	put_index.value = std::as_bytes(std::span(&record, 1));
	Table::open(session, index).value().run(put_index);
	ASSERT_EQ(put_index.outcome, apps::Outcome::ok);

	auto other = store.client();
	Job job;
	const auto read = [&](Transaction &t) -> apps::Task<int> { co_return co_await t.fetch(bytes_of(alice)); };
	EXPECT_EQ(run(*other, read, 0, &job), Outcome::rolled_back);
	EXPECT_EQ(job.error, EBADMSG);
	EXPECT_EQ(put(*other, alice, "999"), Outcome::failed);
	EXPECT_EQ(get(*other, bob), "8");
}

/** Checks that a transaction whose lock's node was lost meanwhile changes nothing: another may have its number. */
TEST(Transactions, ALockOnALostNodeIsNoLock)
{
	for (const bool exclusive : {false, true}) {
		RecordsOptions records;
		records.index.nodes = {1};
		Store store(of(2), records);
		NoWaitClientOptions options;
		options.exclusive_fetch = exclusive;
		auto client = store.client(0, options);
		const std::string a = "a", fresh = "new";
		ASSERT_EQ(put(*client, a, "old"), Outcome::committed);
		Job job;
		EXPECT_EQ(run(
				  *client,
				  [&](Transaction &t) -> apps::Task<int> {
					  EXPECT_EQ(co_await t.fetch(bytes_of(a)), 0);
					  store.cluster.node(0).lost(1);
					  store.cluster.node(0).joined(1);
					  co_return t.write(bytes_of(a), bytes_of(fresh));
				  },
				  0, &job),
			Outcome::failed);
		EXPECT_EQ(job.error, EHOSTUNREACH);
	}
}

/** Checks a commit that waits for its index while the node of a record is lost, and another gets the number. */
TEST(Transactions, ACommitDoesNotWriteToAnotherNode)
{
	std::atomic<bool> armed{false};
	Cluster *cluster = nullptr;
	ClusterOptions options = of(3);
	options.node.rest = [&] {
		if (!armed.exchange(false))
			return;
		cluster->node(0).lost(2);
		cluster->node(2).lost(0);
		cluster->node(0).joined(2);
		cluster->node(2).joined(0);
	};
	RecordsOptions records;
	records.index.nodes = {1, 2};
	Store store(options, records);
	cluster = &store.cluster;
	Session session(cluster->node(2));
	Records finder = Records::open(session, store.catalogue()).value();
	std::array<std::string, 2> names; /* of records on nodes 1 and 2 */
	for (unsigned number = 0; names[0].empty() || names[1].empty(); number++) {
		Address record;
		ASSERT_EQ(finder.find(bytes_of(std::to_string(number)), record), 0);
		names[record.home() - 1] = std::to_string(number);
	}
	const auto &[other, name] = names;
	auto client = store.client(2);
	ASSERT_EQ(put(*client, name, "old"), Outcome::committed);
	NoWaitClientOptions exclusive;
	exclusive.exclusive_fetch = true;
	Job job;
	EXPECT_EQ(run(
			  *store.client(0, exclusive),
			  [&](Transaction &t) -> apps::Task<int> {
				  const std::string fresh = "new";
				  int error = co_await t.fetch(bytes_of(name));
				  error = error ? error : t.write(bytes_of(name), bytes_of(fresh));
				  armed = true;
				  co_return error ? error : t.write(bytes_of(other), bytes_of(fresh));
			  },
			  0, &job),
		Outcome::failed);
	EXPECT_EQ(job.error, EHOSTUNREACH);
	EXPECT_EQ(get(*client, name), "old");
	EXPECT_EQ(get(*client, other), std::nullopt);
}

/** Checks a record of several blocks that only a dead node had: each block falls back to its old value on its own. */
TEST(Transactions, AValueOfWhichADeathHasTakenAPartIsNone)
{
	ClusterOptions options = of(3);
	options.through_home = true;
	RecordsOptions long_values;
	long_values.max_value_size = 4 * block_size;
	long_values.index.nodes = {0};
	Store store(options, long_values);
	auto dying = store.client(1), other = store.client(2);
	const std::string a = "a";
	ASSERT_EQ(put(*dying, a, std::string(2000, 'o')), Outcome::committed);
	ASSERT_EQ(get(*other, a), std::string(2000, 'o')) << "its home has it";
	ASSERT_EQ(put(*dying, a, std::string(2000, 'n')), Outcome::committed);
	Session session(store.cluster.node(2));
	Records records = Records::open(session, store.catalogue()).value();
	Address record;
	Records::Header header;
	ASSERT_EQ(records.find(bytes_of(a), record), 0);
	ASSERT_EQ(records.read(record, records.mark_of(bytes_of(a)), header), 0) << "of the first block, too";
	store.cluster.lose(1);
	Job job;
	EXPECT_EQ(run(
			  *other, [&](Transaction &t) -> apps::Task<int> { co_return co_await t.fetch(bytes_of(a)); },
			  0, &job),
		Outcome::rolled_back);
	EXPECT_EQ(job.error, EBADMSG);
	EXPECT_EQ(put(*other, a, std::string(2000, 'p')), Outcome::committed);
	EXPECT_EQ(get(*other, a), std::string(2000, 'p'));
	store.cluster.let_go_of_all(1);
}

/** Returns options of a small node that joins @p master. */
JoinOptions joining(const peers::MasterThread &master)
{
	JoinOptions options;
	options.node.bytes = std::uint64_t{1} << 20;
	options.node.shards = 2;
	options.timeout = peers::patience;
	options.master = "127.0.0.1:" + std::to_string(master.port());
	return options;
}

/* Else a transaction that meets the death of a home leaves a value that nobody can read any more. */
TEST(Transactions, AValueOfManyBlocksIsChangedWholeOrNotAtAll)
{
	using namespace std::chrono_literals;
	const Result<Context> context = Context::open();
	if (!context)
		GTEST_SKIP() << "no device: " << context.error().message;
	const gam_test::Folder folder;
	const peers::MasterThread master(500ms);
	const auto join = [&](const char *log) {
		JoinOptions options = joining(master);
		options.log.folder = folder.path() / log;
		return JoinedNode::join(*context, options).value();
	};
	const auto reads = join("0");
	auto home = join("1");
	const auto writes = join("2");
	Session session(writes->node()), other(reads->node());
	RecordsOptions options;
	options.max_value_size = 3000;
	options.index.nodes = {home->node().self()};
	Records records = Records::create(session, options).value();
	const std::string key = "key";
	const auto value_of = [](char letter) { return std::vector<std::byte>(3000, std::byte(letter)); };
	const auto header_of = [&](char letter) {
		const auto version = static_cast<std::uint32_t>(letter);
		return Records::Header{version, records.mark_of(bytes_of(key)), 3000,
			Records::check_of(value_of(letter)), version % 2};
	};
	Address record;
	ASSERT_EQ(records.find(bytes_of(key), record), 0);
	ASSERT_EQ(record.home(), home->node().self());
	ASSERT_EQ(session.wlock(record, 1), 0);
	const auto write = [&](char letter) {
		const Records::Header header = header_of(letter);
		const int begun = records.write_tail(record, header.tail, value_of(letter)), settled = session.settle();
		return begun || settled ? begun + settled : records.write(record, header, value_of(letter));
	};
	ASSERT_EQ(write('a'), 0);
	ASSERT_EQ(write('b'), 0);
	ASSERT_EQ(write('a'), 0);
	ASSERT_EQ(session.mfence(), 0);
	/* Another node has a copy of a block in the place to be written: the home is asked before that can be changed.
	 */
	std::byte copy;
	ASSERT_EQ(other.read(record + 2 * block_size, std::span(&copy, 1)), 0);
	const NodeId gone = home->node().self();
	home.reset();
	ASSERT_TRUE(peers::wait_until([&] { return !writes->node().is_member(gone); }));
	EXPECT_EQ(write('b'), EHOSTUNREACH);
	EXPECT_EQ(session.mfence(), 0) << "the error has been told";
	Records::Header header;
	ASSERT_EQ(records.read(record, header_of('a').mark, header), 0);
	EXPECT_EQ(header.version, header_of('a').version);
	std::vector<std::byte> value(3000);
	EXPECT_EQ(records.read_value(record, header, value), 0);
	EXPECT_EQ(value, value_of('a'));
}

/* Bytes of a value: in one block or several. */
class FullLog : public testing::TestWithParam<std::size_t>
{
};

/* The first write that a full log does not take is done, and so must be the others. */
TEST_P(FullLog, WhatItDoesNotTakeIsWhole)
{
	using namespace std::chrono_literals;
	const Result<Context> context = Context::open();
	if (!context)
		GTEST_SKIP() << "no device: " << context.error().message;
	const gam_test::Folder folder;
	const peers::MasterThread master(500ms);
	const auto join = [&](bool logs) {
		JoinOptions options = joining(master);
		options.log.durable = logs;
		if (logs)
			options.log.folder = folder.path();
		return JoinedNode::join(*context, options).value();
	};
	const auto home = join(false), logs = join(true);
	Session session(home->node());
	RecordsOptions options;
	options.max_value_size = 3000;
	options.index.nodes = {home->node().self()};
	const Address catalogue = Records::create(session, options).value().catalogue();
	const auto writes = NoWaitClient::open(logs->node(), catalogue).value();
	const auto reads = NoWaitClient::open(home->node(), catalogue).value();
	/* So little is free that others would not be told of less. */
	Address filled;
	Session fills(logs->node());
	std::array<std::byte, 4 * block_size> blocks{};
	Address own;
	ASSERT_EQ(fills.malloc(blocks.size(), own), 0);
	ASSERT_EQ(fills.write(own, blocks), 0);
	while (logs->node().available() > (std::uint64_t{1} << 15))
		ASSERT_EQ(fills.malloc(block_size, filled), 0);
	int number = 0;
	Job job;
	const auto value = [&] { return std::to_string(number) + std::string(GetParam() - 8, ' '); };
	const auto change = [&] {
		number++;
		const std::string fresh = value(), alice = "alice", bob = "bob";
		return run(
			*writes,
			[&](Transaction &t) -> apps::Task<int> {
				const int error = t.write(bytes_of(alice), bytes_of(fresh));
				co_return error ? error : t.write(bytes_of(bob), bytes_of(fresh));
			},
			0, &job);
	};
	ASSERT_EQ(change(), Outcome::committed);
	const gam_test::NoRoom full;
	Outcome outcome = Outcome::committed;
	while (outcome == Outcome::committed && number < 10000)
		outcome = change();
	EXPECT_NE(job.error, EROFS) << "the cause is told first";
	for (int i = 0; i < 3; i++, outcome = change()) {
		EXPECT_EQ(outcome, Outcome::unknown);
		EXPECT_TRUE(is_of_log(job.error)) << job.error;
		EXPECT_EQ(get(*reads, "alice"), value());
		EXPECT_EQ(get(*reads, "bob"), value());
	}
	blocks.fill(std::byte{'b'});
	const int written = fills.write(own, blocks), fenced = fills.mfence();
	EXPECT_TRUE(is_of_log(written ? written : fenced)) << written << " " << fenced;
	EXPECT_EQ(fills.mfence(), 0) << "the error has been told";
	std::array<std::byte, sizeof(blocks)> read{};
	EXPECT_EQ(session.read(own, read), 0);
	EXPECT_EQ(read, blocks) << "what is not in the log is written all the same";
	EXPECT_TRUE(peers::wait_until([&] { return home->node().available(logs->node().self()) == 0; }))
		<< "nobody is to allocate there";
}

INSTANTIATE_TEST_SUITE_P(Values, FullLog, testing::Values(8, 2500));

} // namespace
