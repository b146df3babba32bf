/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Single operations on the hash table, one after another. */
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../support/text.hpp"
#include "cluster.hpp"
#include "gam/data/table.hpp"
#include "gam/data/table_client.hpp"
#include "service/key_hash.hpp"

namespace
{

using namespace prism;
using namespace prism::gam;
using apps::Operation;
using apps::OperationKind;
using apps::Outcome;
using prism::gam::test::Cluster;
using prism::gam::test::ClusterOptions;
using prism::test::bytes_of;
using prism::test::text_of;

ClusterOptions of(std::size_t nodes, std::uint64_t bytes = std::uint64_t{8} << 20)
{
	ClusterOptions options;
	options.nodes = nodes;
	options.node.bytes = bytes;
	options.node.serves = true; /* nodes without a thread answer, too */
	return options;
}

/** Handle on a table, used by a thread of a node. */
class User
{
public:
	explicit User(Node &node, const TableOptions &options = {}) : session_(node)
	{
		table_.emplace(Table::create(session_, options).value());
	}
	User(Node &node, Address catalogue, const TableCare &care = {}) : session_(node)
	{
		table_.emplace(Table::open(session_, catalogue, care).value());
	}

	Outcome put(const std::string &key, const std::string &value)
	{
		run(OperationKind::put, key, value);
		return operation_.outcome;
	}
	Outcome erase(const std::string &key)
	{
		run(OperationKind::erase, key, "");
		return operation_.outcome;
	}
	/** Returns the value, or the outcome in parentheses if it is not ok. */
	std::string get(const std::string &key)
	{
		room_.assign(1 << 20, '?');
		run(OperationKind::get, key, "");
		if (operation_.outcome == Outcome::ok)
			return room_.substr(0, operation_.length);
		return operation_.outcome == Outcome::not_found ? "(absent)" : "(failed)";
	}
	[[nodiscard]] int error() const { return operation_.error; }
	[[nodiscard]] Table &table() { return *table_; }
	[[nodiscard]] Session &session() { return session_; }
	[[nodiscard]] Address catalogue() const { return table_->catalogue(); }

private:
	void run(OperationKind kind, const std::string &key, const std::string &value)
	{
		operation_ = {};
		operation_.kind = kind;
		operation_.key = bytes_of(key);
		operation_.value = bytes_of(value);
		operation_.result = std::as_writable_bytes(std::span(room_));
		table_->run(operation_);
	}

	Session session_;
	std::optional<Table> table_;
	std::string room_;
	Operation operation_;
};

std::string key(unsigned number)
{
	return "key" + std::to_string(number);
}

/** Returns two keys with equal tags, for a table that has one bucket. */
std::pair<std::string, std::string> colliding_keys()
{
	std::unordered_map<std::uint32_t, std::string> seen;
	for (unsigned number = 0;; number++) {
		const std::uint64_t hash = apps::hash_key(bytes_of(key(number)), TableOptions().seed);
		const auto [other, is_new] = seen.emplace(dht::Entry::tag_of(hash), key(number));
		if (!is_new)
			return {other->second, key(number)};
	}
}

TEST(Table, PutsReplacesAndErases)
{
	Cluster cluster(of(1));
	User user(*cluster.nodes()[0]);
	EXPECT_EQ(user.get("a"), "(absent)");
	EXPECT_EQ(user.erase("a"), Outcome::not_found);
	EXPECT_EQ(user.put("a", "one"), Outcome::ok);
	EXPECT_EQ(user.get("a"), "one");
	EXPECT_EQ(user.put("a", "another"), Outcome::ok);
	EXPECT_EQ(user.get("a"), "another");
	EXPECT_EQ(user.erase("a"), Outcome::ok);
	EXPECT_EQ(user.erase("a"), Outcome::not_found);
	EXPECT_EQ(user.get("a"), "(absent)");
	EXPECT_EQ(user.put("a", "again"), Outcome::ok);
	EXPECT_EQ(user.get("a"), "again");
}

TEST(Table, InsertsOnce)
{
	Cluster cluster(of(1));
	User user(*cluster.nodes()[0]);
	const std::string name = "a", value = "one";
	Operation put;
	put.kind = OperationKind::put;
	put.key = bytes_of(name);
	put.value = bytes_of(value);
	user.table().insert(put);
	EXPECT_EQ(put.outcome, Outcome::ok);
	user.table().insert(put);
	EXPECT_EQ(put.outcome, Outcome::failed);
	EXPECT_EQ(put.error, EEXIST);
	EXPECT_EQ(user.get("a"), "one");
}

TEST(Table, KeysAndValuesOfAnyLength)
{
	Cluster cluster(of(2));
	User user(*cluster.nodes()[0]), other(*cluster.nodes()[1], user.catalogue());
	const std::vector<std::size_t> lengths{0, 1, 8, 12, 13, 497, 508, 509, 512, 4096, 65535, 65536};
	for (const std::size_t key_length : lengths) {
		for (const std::size_t value_length : lengths) {
			const std::string name(key_length, 'k');
			std::string value(value_length, 'v');
			for (std::size_t i = 0; i < value.size(); i++)
				value[i] = static_cast<char>(i * 7 + key_length);
			ASSERT_EQ(user.put(name, value), Outcome::ok) << key_length << " " << value_length;
			ASSERT_EQ(other.get(name), value) << key_length << " " << value_length;
		}
		ASSERT_EQ(other.erase(std::string(key_length, 'k')), Outcome::ok);
		ASSERT_EQ(user.get(std::string(key_length, 'k')), "(absent)");
	}
}

TEST(Table, CopiesWhatTheResultHasRoomFor)
{
	Cluster cluster(of(1));
	User user(*cluster.nodes()[0]);
	ASSERT_EQ(user.put("a", "0123456789"), Outcome::ok);
	std::string name = "a", room = "......";
	Operation get;
	get.key = bytes_of(name);
	get.result = std::as_writable_bytes(std::span(room).first(4));
	user.table().run(get);
	EXPECT_EQ(get.outcome, Outcome::ok);
	EXPECT_EQ(get.length, 10U);
	EXPECT_EQ(room, "0123..");
}

TEST(Table, EqualTagsAreNotEqualKeys)
{
	Cluster cluster(of(1));
	TableOptions options;
	options.buckets = 1;
	User user(*cluster.nodes()[0], options);
	const auto [one, other] = colliding_keys();
	ASSERT_EQ(user.put(one, "of one"), Outcome::ok);
	EXPECT_EQ(user.get(other), "(absent)");
	EXPECT_EQ(user.erase(other), Outcome::not_found);
	ASSERT_EQ(user.put(other, "of the other"), Outcome::ok);
	EXPECT_EQ(user.get(one), "of one");
	EXPECT_EQ(user.get(other), "of the other");
	EXPECT_EQ(user.erase(one), Outcome::ok);
	EXPECT_EQ(user.get(other), "of the other");

	/* Control: shows that these tests can fail. */
	TableCare careless;
	careless.compares_keys = false;
	User wrong(*cluster.nodes()[0], user.catalogue(), careless);
	EXPECT_NE(wrong.get(one), "(absent)");
}

TEST(Table, ChainsOfOverflowBuckets)
{
	constexpr unsigned keys = 500;
	Cluster cluster(of(2));
	TableOptions options;
	options.buckets = 1;
	User user(*cluster.nodes()[0], options), other(*cluster.nodes()[1], user.catalogue());
	for (unsigned i = 0; i < keys; i++)
		ASSERT_EQ((i % 2 ? user : other).put(key(i), key(i) + "'s"), Outcome::ok);
	for (unsigned i = 0; i < keys; i++)
		ASSERT_EQ(user.get(key(i)), key(i) + "'s");
	for (unsigned i = 0; i < keys; i += 3)
		ASSERT_EQ(user.erase(key(i)), Outcome::ok);
	for (unsigned i = 0; i < keys; i++)
		ASSERT_EQ(other.get(key(i)), i % 3 ? key(i) + "'s" : "(absent)");
}

/** Tests a key whose entry is behind a place that has become free. */
TEST(Table, PutSearchesTheWholeChain)
{
	Cluster cluster(of(1));
	TableOptions options;
	options.buckets = 1;
	User user(*cluster.nodes()[0], options);
	for (unsigned i = 0; i < 35; i++)
		ASSERT_EQ(user.put(key(i), "old"), Outcome::ok);
	ASSERT_EQ(user.erase(key(0)), Outcome::ok);
	ASSERT_EQ(user.put(key(34), "new"), Outcome::ok);
	EXPECT_EQ(user.get(key(34)), "new");
	EXPECT_EQ(user.erase(key(34)), Outcome::ok);
	EXPECT_EQ(user.get(key(34)), "(absent)") << "it was there twice";
}

/**
 * Checks that a record of one block is overwritten in place, so that a full node can still take it; others are
 * replaced.
 */
TEST(Table, WritesOverARecordOfTheSameLength)
{
	Cluster cluster(of(2));
	Node &node = *cluster.nodes()[0];
	User user(node), other(*cluster.nodes()[1], user.catalogue());
	const std::string small(100, 'a'), large(2000, 'a');
	ASSERT_EQ(user.put("small", small), Outcome::ok);
	ASSERT_EQ(user.put("large", large), Outcome::ok);
	Address taken;
	for (std::size_t bytes = node.available(); bytes; bytes /= 2) {
		while (user.session().malloc(bytes, taken) == 0)
			;
	}
	EXPECT_EQ(other.get("small"), small);
	const std::string changed(100, 'b');
	EXPECT_EQ(user.put("small", changed), Outcome::ok);
	EXPECT_EQ(other.get("small"), changed);
	EXPECT_EQ(user.get("small"), changed);
	EXPECT_EQ(user.put("small", "shorter"), Outcome::full);
	EXPECT_EQ(other.get("small"), changed);
	EXPECT_EQ(user.put("large", std::string(2000, 'b')), Outcome::full);
	EXPECT_EQ(other.get("large"), large);
}

TEST(Table, GivesBackWhatItReplacesAndErases)
{
	Cluster cluster(of(2));
	TableOptions options;
	options.buckets = 1;
	Node &node = *cluster.nodes()[0];
	User user(node, options), other(*cluster.nodes()[1], user.catalogue());
	for (unsigned i = 0; i < 25; i++)
		ASSERT_EQ(user.put(key(i), std::string(700, 'a')), Outcome::ok);
	const std::uint64_t before = node.available();
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < 25; i++)
			ASSERT_EQ(user.put(key(i), std::string(700, 'b')), Outcome::ok);
		for (unsigned i = 0; i < 25; i++)
			ASSERT_EQ(other.erase(key(i)), Outcome::ok);
		for (unsigned i = 25; i-- > 0;)
			ASSERT_EQ(user.put(key(i), std::string(700, 'c')), Outcome::ok);
	}
	EXPECT_EQ(node.available(), before);
}

TEST(Table, AFullNodeChangesNothing)
{
	Cluster cluster(of(2, 256 * block_size));
	Node &node = *cluster.nodes()[0];
	User user(node, TableOptions{16, 1}), other(*cluster.nodes()[1], user.catalogue());
	unsigned stored = 0;
	while (user.put(key(stored), std::string(1000, 'a')) == Outcome::ok)
		stored++;
	ASSERT_GT(stored, 50U);
	EXPECT_EQ(user.put(key(stored), std::string(1000, 'a')), Outcome::full);
	EXPECT_EQ(user.put(key(0), std::string(4000, 'b')), Outcome::full);
	EXPECT_EQ(user.get(key(stored)), "(absent)");
	EXPECT_EQ(user.get(key(0)), std::string(1000, 'a'));
	EXPECT_EQ(other.put(key(stored), std::string(1000, 'c')), Outcome::ok) << "the other node has room";
	EXPECT_EQ(user.erase(key(0)), Outcome::ok);
	EXPECT_EQ(user.put(key(stored + 1), std::string(1000, 'a')), Outcome::ok);
	for (unsigned i = 1; i < stored; i++)
		EXPECT_EQ(user.get(key(i)), std::string(1000, 'a'));
}

/** Tests a record that fits on its writer's node while its bucket's chain cannot grow at its home. */
TEST(Table, NoRoomForAnOverflowBucket)
{
	Cluster cluster(of(2, 64 * block_size));
	TableOptions options;
	options.buckets = 1;
	User user(*cluster.nodes()[0], options), other(*cluster.nodes()[1], user.catalogue());
	std::vector<Address> taken(1);
	for (Node *const node : cluster.nodes()) {
		while (user.session().malloc(128, taken.back(), Placement::near(Address(node->self(), 0))) == 0)
			taken.emplace_back();
	}
	const std::uint64_t before = cluster.nodes()[1]->available();
	/* No node has 128 bytes left; there may be room for a value of a few bytes. */
	unsigned stored = 0;
	Outcome outcome = Outcome::ok;
	ASSERT_EQ(user.session().free(taken[0]), 0);
	while ((outcome = user.put(key(stored), "v")) == Outcome::ok)
		stored++;
	EXPECT_EQ(outcome, Outcome::full);
	for (unsigned i = 0; i < stored; i++)
		EXPECT_EQ(other.get(key(i)), "v");
	EXPECT_EQ(cluster.nodes()[1]->available(), before);
}

TEST(Table, WritersKeepTheirRecords)
{
	Cluster cluster(of(3));
	User user(*cluster.nodes()[0]);
	for (Node *const node : cluster.nodes()) {
		const std::uint64_t before = node->available();
		User writer(*node, user.catalogue());
		ASSERT_EQ(writer.put("a" + std::to_string(node->self()), std::string(1 << 16, 'a')), Outcome::ok);
		EXPECT_LE(node->available(), before - (1 << 16));
	}
}

/** Checks that a table on chosen nodes takes no memory of others, so that these may leave. */
TEST(Table, IsOnTheNodesThatWereChosen)
{
	Cluster cluster(of(3));
	TableOptions options;
	options.buckets = 4; /* so that they overflow */
	options.nodes = {0, 2};
	Node &writing = *cluster.nodes()[1];
	const std::uint64_t before = writing.available();
	{
		User writer(writing, options);
		for (unsigned number = 0; number < 200; number++)
			ASSERT_EQ(writer.put(key(number), "value" + key(number)), Outcome::ok);
		EXPECT_EQ(writing.available(), before);
		User reader(*cluster.nodes()[0], writer.catalogue());
		writing.flush();
		cluster.lose(1);
		for (unsigned number = 0; number < 200; number++)
			EXPECT_EQ(reader.get(key(number)), "value" + key(number));
		EXPECT_EQ(reader.put("more", "of it"), Outcome::ok);
		EXPECT_EQ(reader.get("more"), "of it");
	}
}

dht::Catalogue catalogue_of(Table &table)
{
	dht::Catalogue catalogue;
	EXPECT_EQ(table.session().read(table.catalogue(), std::as_writable_bytes(std::span(&catalogue, 1))), 0);
	return catalogue;
}

/** Checks that buckets at the place of the table's own are told from them: another node may have the dead one's number.
 */
TEST(Table, IsNotWholeWithBucketsOfAnother)
{
	Cluster cluster(of(2));
	Session session(*cluster.nodes()[0]);
	TableOptions options;
	options.nodes = {0, 1};
	Table old = Table::create(session, options).value();
	EXPECT_TRUE(old.is_whole());
	const Address lost = catalogue_of(old).array[1];
	ASSERT_EQ(session.free(lost), 0);
	Table other = Table::create(session, options).value();
	ASSERT_EQ(catalogue_of(other).array[1], lost);
	EXPECT_TRUE(other.is_whole());
	EXPECT_FALSE(old.is_whole());
}

/** Checks the same if all that two equal tables have is at the same addresses. */
TEST(Table, IsNotWholeIfAllIsAnothers)
{
	Cluster cluster(of(1));
	Session session(*cluster.nodes()[0]);
	TableOptions options;
	options.nodes = {0};
	Table old = Table::create(session, options).value();
	const Address array = catalogue_of(old).array[0];
	ASSERT_EQ(session.free(array), 0);
	ASSERT_EQ(session.free(old.catalogue()), 0);
	Table other = Table::create(session, options).value();
	ASSERT_EQ(other.catalogue(), old.catalogue());
	ASSERT_EQ(catalogue_of(other).array[0], array);
	EXPECT_TRUE(other.is_whole());
	EXPECT_FALSE(old.is_whole());
}

/** Tests the same with handles that go on, and with one that is opened later. */
TEST(Table, BucketsOfAnotherAreNotUsed)
{
	Cluster cluster(of(2));
	Session session(*cluster.nodes()[0]);
	TableOptions options;
	options.nodes = {0, 1};
	Table old = Table::create(session, options).value();
	const auto put_errors = [&](Table &table) {
		std::map<int, unsigned> errors;
		for (unsigned i = 0; i < 64; i++) {
			apps::Operation put;
			put.kind = apps::OperationKind::put;
			put.key = std::as_bytes(std::span(&i, 1));
			table.run(put);
			errors[put.error]++;
		}
		return errors;
	};
	EXPECT_EQ(put_errors(old).size(), 1U);
	ASSERT_EQ(session.free(catalogue_of(old).array[1]), 0);
	Table other = Table::create(session, options).value();
	ASSERT_EQ(catalogue_of(other).array[1], catalogue_of(old).array[1]);
	Table opened = Table::open(session, old.catalogue()).value();
	EXPECT_EQ(put_errors(opened)[0] + put_errors(opened)[EHOSTUNREACH], 64U);
	EXPECT_GT(put_errors(opened)[EHOSTUNREACH], 0U);
	EXPECT_GT(put_errors(opened)[0], 0U) << "node 0 is as it was";
	cluster.nodes()[0]->lost(1);
	cluster.nodes()[0]->joined(1);
	EXPECT_EQ(put_errors(old), put_errors(opened));
	EXPECT_EQ(put_errors(other).size(), 1U);
}

/** Checks a Put that waits for its record while the node of its bucket is lost, and another gets the number. */
TEST(Table, APutDoesNotWriteToAnotherNode)
{
	Cluster cluster(of(3));
	Node &node = cluster.node(0), &dying = cluster.node(1);
	User loader(cluster.node(2)), user(node, loader.catalogue());
	const std::uint64_t arrays = catalogue_of(loader.table()).arrays;
	std::string name;
	for (unsigned number = 0; name.empty(); number++) {
		const std::uint64_t hash = apps::hash_key(bytes_of(key(number)), TableOptions().seed);
		if (apps::reduce(hash, arrays * TableOptions().buckets) / TableOptions().buckets == 1)
			name = key(number);
	}
	ASSERT_EQ(loader.put(name, "old"), Outcome::ok);
	const std::uint64_t hash = apps::hash_key(bytes_of(name), TableOptions().seed);
	const Address at = catalogue_of(loader.table()).array[1] + apps::reduce(hash, arrays * TableOptions().buckets) %
									   TableOptions().buckets * sizeof(dht::Bucket);
	Session of_dying(dying);
	dht::Bucket bucket, now;
	ASSERT_EQ(of_dying.read(at, std::as_writable_bytes(std::span(&bucket, 1))), 0);
	const auto entry = std::ranges::find_if(bucket.entries, [](const dht::Entry &e) { return !e.is_free(); });
	ASSERT_NE(entry, bucket.entries.end());
	ASSERT_EQ(loader.session().wlock(entry->record(), 1), 0);
	std::jthread puts([&] { EXPECT_NE(user.put(name, "another"), Outcome::ok); });
	while (of_dying.try_rlock(at, 1) == 0) /* until the Put has the bucket, and waits for the record */
		ASSERT_EQ(of_dying.unlock(at, 1), 0);
	node.lost(1);
	dying.lost(0);
	node.joined(1);
	dying.joined(0);
	ASSERT_EQ(loader.session().unlock(entry->record(), 1), 0);
	puts.join();
	EXPECT_EQ(user.error(), EHOSTUNREACH);
	ASSERT_EQ(of_dying.read(at, std::as_writable_bytes(std::span(&now, 1))), 0);
	EXPECT_EQ(std::memcmp(&now, &bucket, sizeof(bucket)), 0);
}

TEST(Table, OnlyATableIsOpened)
{
	Cluster cluster(of(2));
	Session session(*cluster.nodes()[1]);
	Address address;
	ASSERT_EQ(session.malloc(sizeof(dht::Catalogue), address), 0);
	EXPECT_EQ(Table::open(session, address).error().code, EPROTO);
	EXPECT_EQ(Table::open(session, Address()).error().code, EINVAL);
	EXPECT_EQ(Table::create(session, {0, 1}).error().code, EINVAL);
	EXPECT_EQ(Table::create(session, {dht::Catalogue::most_buckets + 1, 1}).error().code, EINVAL);
	const std::uint64_t before = cluster.nodes()[0]->available();
	TableOptions crowd;
	crowd.nodes.assign(max_nodes + 1, 0);
	EXPECT_EQ(Table::create(session, crowd).error().code, EINVAL);
	EXPECT_EQ(Table::create(session, {1 << 20, 1}).error().code, ENOMEM);
	EXPECT_EQ(cluster.nodes()[0]->available(), before);
}

/** Checks that data overwritten by other nodes is detected. */
TEST(Table, DamageIsReported)
{
	Cluster cluster(of(1));
	TableOptions options;
	options.buckets = 1;
	User user(*cluster.nodes()[0], options);
	Session &session = user.session();
	ASSERT_EQ(user.put("a", "one"), Outcome::ok);
	const dht::Catalogue catalogue = catalogue_of(user.table());
	dht::Bucket bucket;
	const auto room = std::as_writable_bytes(std::span(&bucket, 1));
	ASSERT_EQ(session.read(catalogue.array[0], room), 0);

	const std::uint32_t nonsense = ~0U;
	const Address record = bucket.entries[0].record();
	ASSERT_EQ(session.write(record, std::as_bytes(std::span(&nonsense, 1))), 0);
	EXPECT_EQ(user.get("a"), "(failed)");
	EXPECT_EQ(user.error(), EBADMSG);

	bucket.entries = {};
	bucket.overflow = catalogue.array[0]; /* a cycle */
	ASSERT_EQ(session.write(catalogue.array[0], room), 0);
	EXPECT_EQ(user.get("a"), "(failed)");
	EXPECT_EQ(user.error(), EBADMSG);
	bucket.overflow = Address(0, 8);
	ASSERT_EQ(session.write(catalogue.array[0], room), 0);
	EXPECT_EQ(user.put("b", ""), Outcome::failed);
	EXPECT_EQ(user.error(), EBADMSG);
}

/** Returns the address of the record of @p name, for a table with one bucket and no other entry of the same tag. */
Address record_of(User &user, const std::string &name)
{
	const dht::Catalogue catalogue = catalogue_of(user.table());
	dht::Bucket bucket;
	EXPECT_EQ(user.session().read(catalogue.array[0], std::as_writable_bytes(std::span(&bucket, 1))), 0);
	for (const dht::Entry &entry : bucket.entries) {
		if (entry.may_be(apps::hash_key(bytes_of(name), TableOptions().seed)))
			return entry.record();
	}
	return {};
}

/** Checks that another key's record of the same lengths is damage, not a miss; a PUT and an ERASE repair it. */
TEST(Table, AWrongRecordIsNoMiss)
{
	Cluster cluster(of(1));
	TableOptions options;
	options.buckets = 1;
	User user(*cluster.nodes()[0], options);
	for (const char *const name : {"a", "b", "c"})
		ASSERT_EQ(user.put(name, name), Outcome::ok);
	std::array<std::byte, sizeof(dht::RecordHeader) + 2> of_c{};
	ASSERT_EQ(user.session().read(record_of(user, "c"), of_c), 0);
	for (const char *const name : {"a", "b"})
		ASSERT_EQ(user.session().write(record_of(user, name), of_c), 0);
	for (const char *const name : {"a", "b"}) {
		EXPECT_EQ(user.get(name), "(failed)");
		EXPECT_EQ(user.error(), EBADMSG);
	}
	Operation insert;
	const std::string name = "a";
	insert.kind = OperationKind::put;
	insert.key = insert.value = bytes_of(name);
	user.table().insert(insert);
	EXPECT_EQ(insert.error, EBADMSG) << "what was there is not known to be gone";
	EXPECT_EQ(user.put("a", "new"), Outcome::ok);
	EXPECT_EQ(user.get("a"), "new");
	EXPECT_EQ(user.erase("b"), Outcome::ok);
	EXPECT_EQ(user.get("b"), "(absent)");
	EXPECT_EQ(user.get("c"), "c");
}

/** Checks the same for another table's record of the same key: the node's number may have been used again. */
TEST(Table, AnotherTablesRecordIsNotItsOwn)
{
	Cluster cluster(of(1));
	TableOptions options;
	options.buckets = 1;
	User user(*cluster.nodes()[0], options), other(*cluster.nodes()[0], options);
	for (const char *const name : {"a", "b"})
		ASSERT_EQ(user.put(name, "ours"), Outcome::ok);
	for (const char *const name : {"a", "b"}) {
		const Address lost = record_of(user, name);
		ASSERT_EQ(user.session().free(lost), 0);
		ASSERT_EQ(other.put(name, "theirs"), Outcome::ok);
		std::array<std::byte, sizeof(dht::RecordHeader) + 7> theirs{};
		ASSERT_EQ(other.session().read(record_of(other, name), theirs), 0);
		ASSERT_EQ(other.session().write(lost, theirs), 0);
		EXPECT_EQ(user.get(name), "(failed)");
		EXPECT_EQ(user.error(), EBADMSG);
	}
	EXPECT_EQ(user.put("a", "anew"), Outcome::ok);
	EXPECT_EQ(user.get("a"), "anew");
	EXPECT_EQ(user.erase("b"), Outcome::ok);
	for (const char *const name : {"a", "b"})
		EXPECT_EQ(other.get(name), "theirs");
}

/** Checks the same for an entry whose record is free. */
TEST(Table, APutReplacesAnEntryWhoseRecordIsFree)
{
	Cluster cluster(of(1));
	TableOptions options;
	options.buckets = 1;
	User user(*cluster.nodes()[0], options);
	ASSERT_EQ(user.put("a", std::string(2000, 'a')), Outcome::ok);
	ASSERT_EQ(user.session().free(record_of(user, "a")), 0);
	EXPECT_EQ(user.get("a"), "(failed)");
	EXPECT_EQ(user.error(), EFAULT);
	EXPECT_EQ(user.put("a", "new"), Outcome::ok);
	EXPECT_EQ(user.get("a"), "new");
}

/**
 * Lets a node replace, erase and put keys again, then die. Returns the number of keys that do not have their last
 * values.
 */
unsigned wrong_after_a_death(const TableCare &care)
{
	constexpr unsigned keys = 60;
	Cluster cluster(of(3));
	TableOptions options;
	options.buckets = 2; /* so that they overflow */
	options.nodes = {0, 2};
	User loader(*cluster.nodes()[0], options);
	for (unsigned number = 0; number < keys; number++)
		EXPECT_EQ(loader.put(key(number), std::string(700, 'a')), Outcome::ok);
	const Address catalogue = loader.catalogue();
	User user(*cluster.nodes()[1], catalogue, care);
	for (const char letter : {'b', 'c', 'd'}) {
		for (unsigned number = 0; number < keys; number++) {
			EXPECT_EQ(user.put(key(number), std::string(700, letter)), Outcome::ok);
			if (number % 7 == 0) {
				EXPECT_EQ(user.erase(key(number)), Outcome::ok);
				EXPECT_EQ(user.put(key(number), std::string(700, letter)), Outcome::ok);
			}
		}
	}
	EXPECT_EQ(user.erase(key(0)), Outcome::ok);
	cluster.lose(1);
	unsigned wrong = loader.get(key(0)) != "(absent)";
	for (unsigned number = 1; number < keys; number++)
		wrong += loader.get(key(number)) != std::string(700, 'd');
	for (unsigned number = 0; number < keys; number++) {
		EXPECT_EQ(loader.put(key(number), std::string(700, 'e')), Outcome::ok) << number;
		EXPECT_EQ(loader.get(key(number)), std::string(700, 'e')) << number;
	}
	return wrong;
}

TEST(Table, WhatAUserHasChangedOutlivesIt)
{
	EXPECT_EQ(wrong_after_a_death({}), 0U);
	TableCare careless;
	careless.writes_back = false;
	EXPECT_GT(wrong_after_a_death(careless), 10U) << "the control";
}

TEST(TableClient, HandsBackWhatHasEnded)
{
	Cluster cluster(of(1));
	Node &node = *cluster.nodes()[0];
	Session session(node);
	const Address catalogue = Table::create(session).value().catalogue();
	auto client = TableClient::open(node, catalogue, 2).value();
	const std::string name = "a", value = "one", too_long(Table::max_pair_bytes, 'a');
	std::vector<Operation> operations(3);
	for (Operation &operation : operations) {
		operation.kind = OperationKind::put;
		operation.key = bytes_of(name);
		operation.value = bytes_of(value);
	}
	EXPECT_EQ(client->start(operations[0]), 0);
	EXPECT_EQ(client->start(operations[1]), 0);
	EXPECT_EQ(client->start(operations[2]), EAGAIN);
	std::array<Operation *, 4> completed{};
	ASSERT_EQ(client->poll(completed), 2U);
	EXPECT_EQ(completed[0], &operations[0]);
	EXPECT_EQ(completed[0]->outcome, Outcome::ok);
	EXPECT_EQ(client->poll(completed), 0U);
	operations[2].value = bytes_of(too_long);
	EXPECT_EQ(client->start(operations[2]), EINVAL);
	operations[2].kind = OperationKind::erase; /* its value does not matter */
	EXPECT_EQ(client->start(operations[2]), 0);
	operations[0].kind = OperationKind::get;
	operations[0].key = bytes_of(too_long);
	EXPECT_EQ(client->start(operations[0]), 0);
	EXPECT_EQ(client->poll(completed), 2U);
	EXPECT_EQ(
		TableClient::open(node, session.node().self() == 0 ? catalogue + 16 : catalogue).error().code, EPROTO);
}

/* With a line for each shard, that of the lock leaves none for others of its shard. */
TEST(Table, AChangeForWhichTheCacheHasNoRoomLeavesNothing)
{
	ClusterOptions options = of(2);
	options.lines = options.node.shards;
	Cluster cluster(options);
	TableOptions small;
	small.buckets = 1;
	small.nodes = {0};
	int failures = 0;
	for (int i = 0; i < 64; i++) {
		User home(*cluster.nodes()[0], small);
		for (unsigned number = 0; number < 10; number++)
			ASSERT_EQ(home.put(key(number), "value"), Outcome::ok);
		User user(*cluster.nodes()[1], home.catalogue());
		const std::uint64_t before = cluster.node(0).available();
		const Outcome outcome = user.put(key(10), "value");
		if (outcome == Outcome::ok)
			continue;
		failures++;
		EXPECT_EQ(outcome, Outcome::failed);
		EXPECT_EQ(user.error(), ENOBUFS);
		EXPECT_EQ(cluster.node(0).available(), before);
		EXPECT_EQ(home.get(key(10)), "(absent)");
	}
	EXPECT_GT(failures, 0);
}
} // namespace
