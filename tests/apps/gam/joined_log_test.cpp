/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes that keep logs, each with its own device, in one process: they die and come back with all that others saw. */
#include "gam/api/joined_node.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "folder.hpp"
#include "gam/membership/log_folder.hpp"
#include "gam/membership/node_log.hpp"
#include "peer_support.hpp"

using namespace peers;

namespace
{

struct JoinedLog : testing::Test {
	std::unique_ptr<MasterThread> master;
	std::vector<std::unique_ptr<JoinedNode>> nodes;
	JoinOptions options;
	std::string new_log; /* of join_in_place_of() */
	const gam_test::Folder folder;

	void SetUp() override
	{
		if (Result<Context> context = Context::open(); !context)
			GTEST_SKIP() << "no device: " << context.error().message;
		options.node.bytes = std::uint64_t{1} << 20;
		options.node.shards = 2;
		options.timeout = patience;
		new_master();
	}
	void TearDown() override { nodes.clear(); }
	void new_master()
	{
		master = std::make_unique<MasterThread>(500ms);
		options.master = "127.0.0.1:" + std::to_string(master->port());
	}
	/** Joins with the log of this name; without a log if it is empty. */
	Result<std::unique_ptr<JoinedNode>> try_join(const std::string &log)
	{
		JoinOptions own = options;
		if (!log.empty())
			own.log.folder = folder.path() / log;
		const Result<Context> context = Context::open();
		return JoinedNode::join(*context, own);
	}
	JoinedNode &join(const std::string &log)
	{
		auto joined = try_join(log);
		EXPECT_TRUE(joined.ok()) << joined.error().message;
		nodes.push_back(joined ? *std::move(joined) : nullptr);
		return *nodes.back();
	}
	/** Joins as the node with the number @p node, which has died. */
	JoinedNode &rejoin(NodeId node, const std::string &log)
	{
		auto joined = try_join(log);
		EXPECT_TRUE(joined.ok()) << joined.error().message;
		EXPECT_TRUE(joined && joined.value()->node().self() == node);
		nodes[node] = joined ? *std::move(joined) : nullptr;
		return *nodes[node];
	}
	/** Joins as another node with the number @p node, whose node has died for good, as the newest of three. */
	void join_in_place_of(NodeId node, const std::string &log)
	{
		master->use_up_numbers(3, Protocol::directory);
		for (int i = 0; !nodes[node] && i < 20; i++) { /* it is free when all have swept it */
			auto joined = try_join(log + std::to_string(i));
			ASSERT_TRUE(joined.ok()) << joined.error().message;
			const NodeId number = joined.value()->node().self();
			(number == node ? nodes[node] : nodes.emplace_back()) = *std::move(joined);
			new_log = log + std::to_string(i);
		}
		ASSERT_TRUE(nodes[node]);
	}
	void die(NodeId node)
	{
		nodes[node].reset();
		for (const auto &other : nodes) {
			EXPECT_TRUE(peers::wait_until([&] { return !other || !other->node().is_member(node); }));
		}
	}
	static Address allocate(Session &session, NodeId home, std::size_t bytes = 8)
	{
		Address address;
		EXPECT_EQ(session.malloc(bytes, address, Placement::near(Address(home, 0))), 0);
		return address;
	}
	static int write(Session &session, Address at, std::uint64_t word)
	{
		const int error = session.write(at, std::as_bytes(std::span(&word, 1)));
		return error ? error : session.mfence();
	}
	struct Word {
		int error = 0;
		std::uint64_t value = 0;
		bool operator==(const Word &) const = default;
	};
	struct Unsettled {
		std::uint64_t waiting = 0;
		std::uint64_t lost = 0;
		bool operator==(const Unsettled &) const = default;
	};
	/** Returns the numbers of blocks of @p home for which it waits, and of those that are lost. */
	static Unsettled unsettled(const JoinedNode &home)
	{
		const RecoveryReport report = home.recovery();
		return {report.waiting, report.lost};
	}
	/** Reads until the home's recovery is known: others learn of it a moment later. */
	static Word read_soon(Session &session, Address at, int unlike = EHOSTUNREACH)
	{
		Word word;
		EXPECT_TRUE(peers::wait_until([&] {
			word = read(session, at);
			return word.error != unlike && word.error != EHOSTUNREACH;
		}));
		return word;
	}
	/** Reads until the node has dropped what it held, as the home has asked it to. */
	static Word read_dropped(Session &session, Address at, std::uint64_t held)
	{
		Word word;
		EXPECT_TRUE(peers::wait_until([&] { return (word = read_soon(session, at)).value != held; }));
		return word;
	}
	static Word read(Session &session, Address at)
	{
		Word word;
		word.error = session.read(at, std::as_writable_bytes(std::span(&word.value, 1)));
		return word;
	}
	/** Has node 1 write to a new block of node 0: 31, which node 2 reads, then 32, which nobody has seen. */
	Address write_seen_and_fenced()
	{
		Session owner(nodes[1]->node()), reader(nodes[2]->node());
		const Address address = allocate(owner, 0);
		EXPECT_EQ(write(owner, address, 31), 0);
		EXPECT_EQ(read(reader, address), (Word{0, 31}));
		EXPECT_EQ(write(owner, address, 32), 0);
		return address;
	}
};

TEST_F(JoinedLog, WhatOthersHaveSeenIsThereAgain)
{
	for (const char *const log : {"0", "1", "2"})
		join(log);
	Session first(nodes[0]->node());
	const Address mine = allocate(first, 1), cached = allocate(first, 1, block_size),
		      dirty = allocate(first, 1, block_size);
	{
		Session second(nodes[1]->node());
		EXPECT_EQ(write(second, mine, 11), 0); /* is at its home, and read by another */
		EXPECT_EQ(write(second, cached, 12), 0);
	}
	{
		Session third(nodes[2]->node());
		EXPECT_EQ(read(third, mine), (Word{0, 11}));
		EXPECT_EQ(read(third, cached), (Word{0, 12}));
		EXPECT_EQ(write(third, dirty, 13), 0); /* no other node has seen it */
	}
	die(1);
	{
		Session third(nodes[2]->node());
		EXPECT_EQ(read(third, cached), (Word{0, 12})) << "a copy is of use while its home is away";
		EXPECT_EQ(read(third, dirty), (Word{0, 13}));
		EXPECT_EQ(write(third, dirty, 14), 0);
		EXPECT_EQ(write(third, cached, 15), EHOSTUNREACH);
		EXPECT_EQ(read(first, dirty).error, EHOSTUNREACH);
	}
	const RecoveryReport report = rejoin(1, "1").recovery();
	EXPECT_EQ(report.lost, 0U);
	EXPECT_EQ(report.waiting, 0U);
	EXPECT_GE(report.recovered, 3U);
	for (const auto &node : nodes) {
		Session session(node->node());
		EXPECT_EQ(read_soon(session, mine), (Word{0, 11}));
		EXPECT_EQ(read(session, cached), (Word{0, 12}));
		EXPECT_EQ(read(session, dirty), (Word{0, 14}));
		EXPECT_EQ(write(session, cached, 12), 0);
	}
	/* Allocated memory is still allocated; the rest is free. */
	EXPECT_EQ(first.free(mine), 0);
	EXPECT_EQ(first.free(mine), EINVAL);
	for (const auto &node : nodes)
		EXPECT_EQ(node->node().stats().refused, 0U);
}

TEST_F(JoinedLog, WhoCannotJoinHoldsNobodyUp)
{
	master = std::make_unique<MasterThread>(std::chrono::minutes(10));
	options.master = "127.0.0.1:" + std::to_string(master->port());
	{
		const gam_test::NoRoom full;
		EXPECT_FALSE(try_join("0"));
	}
	const auto joined = try_join("1");
	EXPECT_TRUE(joined) << "a lease is ten minutes: " << (joined ? "" : joined.error().message);
}

TEST_F(JoinedLog, MemoryThatIsAllocatedAgainIsZero)
{
	join("0");
	join("1");
	std::vector<Address> addresses;
	{
		Session other(nodes[1]->node());
		for (int i = 0; i < 8; i++) {
			addresses.push_back(allocate(other, 0, 100));
			EXPECT_EQ(write(other, addresses.back(), 7), 0);
		}
		for (int i = 0; i < 8; i += 2)
			EXPECT_EQ(other.free(addresses[static_cast<std::size_t>(i)]), 0);
		const Address again = allocate(other, 0, 100); /* one of them */
		addresses.push_back(again);
	}
	const std::uint64_t free = nodes[0]->node().available();
	die(0);
	rejoin(0, "0");
	EXPECT_EQ(nodes[0]->node().available(), free);
	Session other(nodes[1]->node());
	EXPECT_EQ(read_soon(other, addresses.back()), (Word{0, 0}));
	for (std::size_t i = 1; i < 8; i += 2)
		EXPECT_EQ(read(other, addresses[i]), (Word{0, 7}));
	for (int i = 0; i < 20; i++)
		EXPECT_EQ(read(other, allocate(other, 0, 100)), (Word{0, 0}));
}

/* Tests the bound of a log's size, which counts one entry for what is allocated in a block. */
TEST_F(JoinedLog, AHomeMayHaveLessMemoryThoughOthersHaveCopiesOfMore)
{
	constexpr std::uint64_t less = std::uint64_t{1} << 20;
	options.node.bytes = 4 * less;
	join("0");
	join("");
	Address kept, copied;
	{
		Session other(nodes[1]->node());
		kept = allocate(other, 0);
		EXPECT_EQ(write(other, kept, 5), 0);
		const Address large = allocate(other, 0, 3 * less);
		copied = large + 2 * less;
		for (unsigned i = 0; i < 40; i++)
			EXPECT_EQ(read(other, copied + i * block_size), (Word{0, 0}));
		EXPECT_EQ(other.free(large), 0);
	}
	die(0);
	options.node.bytes = less;
	EXPECT_EQ(rejoin(0, "0").recovery().lost, 0U);
	Session other(nodes[1]->node());
	EXPECT_EQ(read_soon(other, kept), (Word{0, 5}));
	EXPECT_NE(read(other, copied).error, 0) << "there is no such memory";
}

TEST_F(JoinedLog, APieceOfABlockTakesNoEntryOfItsOwn)
{
	constexpr std::size_t blocks = 64, bytes = 16;
	join("0");
	{
		Session session(nodes[0]->node());
		std::vector<Address> pieces;
		for (std::size_t i = 0; i < blocks * block_size / bytes; i++)
			pieces.push_back(allocate(session, 0, bytes));
		for (std::size_t i = 0; i < pieces.size(); i += 3)
			EXPECT_EQ(session.free(pieces[i]), 0);
	}
	const std::uint64_t free = nodes[0]->node().available();
	nodes[0].reset();
	{
		auto log = LogFolder::open(folder.path() / "0");
		ASSERT_TRUE(log && log->owner());
		LogOptions own;
		own.cluster = log->owner()->cluster;
		own.node = log->owner()->node;
		own.incarnation = log->owner()->incarnation;
		auto opened = NodeLog::open(own, *std::move(log));
		ASSERT_TRUE(opened.ok()) << opened.error().message;
		const auto left = (*opened)->compact();
		ASSERT_TRUE(left.ok()) << left.error().message;
		EXPECT_LE(*left, blocks * (Entry::max_size + 3 * Entry::header_size));
	}
	rejoin(0, "0");
	EXPECT_EQ(nodes[0]->node().available(), free);
	Session session(nodes[0]->node());
	for (std::size_t i = 0; i < (blocks * block_size / bytes + 2) / 3; i++)
		EXPECT_LE(allocate(session, 0, bytes).block_number(), blocks);
}

/* Tests nodes without a log, such as prism-gam. */
TEST_F(JoinedLog, ValuesOfNodesWithoutALogAreInThatOfTheHome)
{
	join("0");
	join("");
	Address address;
	{
		Session session(nodes[1]->node());
		address = allocate(session, 0);
		EXPECT_EQ(write(session, address, 21), 0);
	}
	ASSERT_TRUE(nodes[1]->leave().ok());
	nodes[1].reset();
	die(0);
	EXPECT_EQ(unsettled(rejoin(0, "0")), (Unsettled{0U, 0U}));
	Session session(nodes[0]->node());
	EXPECT_EQ(read(session, address), (Word{0, 21}));
}

/* Leaving, a node has far more to send to a home than may wait for it at once. */
TEST_F(JoinedLog, ANodeThatLeavesWritesBackAllThatItHas)
{
	constexpr std::uint64_t blocks = 32768;
	options.node.bytes = options.cache_bytes = (blocks + 64) * block_size;
	options.node.shards = 1;
	for (int i = 0; i < 2; i++)
		join("");
	Address address;
	{
		Session writer(nodes[1]->node());
		address = allocate(writer, 0, blocks * block_size);
		for (std::uint64_t i = 0; i < blocks; i++)
			ASSERT_EQ(writer.write(address + i * block_size, std::as_bytes(std::span(&i, 1))), 0);
		ASSERT_EQ(writer.mfence(), 0);
	}
	const Result<void> left = nodes[1]->leave();
	EXPECT_TRUE(left.ok()) << left.error().message;
	nodes[1].reset();
	Session reader(nodes[0]->node());
	std::uint64_t lost = 0;
	for (std::uint64_t i = 0; i < blocks; i++)
		lost += read(reader, address + i * block_size) != Word{0, i};
	EXPECT_EQ(lost, 0U);
}

/* Tests a node that ends in order while the home of what it has written is away. */
TEST_F(JoinedLog, WhatANodeHasWrittenIsInItsLogWhenItLeaves)
{
	for (const char *const log : {"0", "1", "2"})
		join(log);
	Address address;
	{
		Session owner(nodes[1]->node());
		address = allocate(owner, 0);
		EXPECT_EQ(write(owner, address, 70), 0);
		Session reader(nodes[2]->node());
		EXPECT_EQ(read(reader, address), (Word{0, 70}));
		EXPECT_EQ(write(owner, address, 71), 0);
	}
	die(0);
	EXPECT_TRUE(nodes[1]->leave().ok());
	nodes[1].reset();
	rejoin(0, "0");
	rejoin(1, "1");
	Session reader(nodes[2]->node());
	EXPECT_EQ(read_soon(reader, address, EOWNERDEAD), (Word{0, 71}));
}

/* Only the last owner has the value: nobody may get an older one. */
TEST_F(JoinedLog, BlocksWaitForAnOwnerThatHasALog)
{
	for (const char *const log : {"0", "1", "2"})
		join(log);
	const Address address = write_seen_and_fenced();
	die(1);
	die(0);
	EXPECT_EQ(rejoin(0, "0").recovery().waiting, 1U);
	{
		Session reader(nodes[2]->node()), home(nodes[0]->node());
		EXPECT_EQ(read_soon(reader, address).error, EOWNERDEAD);
		EXPECT_EQ(read(home, address).error, EOWNERDEAD);
	}
	rejoin(1, "1");
	Session reader(nodes[2]->node());
	EXPECT_EQ(read_soon(reader, address, EOWNERDEAD), (Word{0, 31})) << "the last that another has seen";
}

/* Tests values that no other node has seen but that their node has fenced. */
TEST_F(JoinedLog, WhatIsFencedIsThereIfDurable)
{
	for (const bool durable : {true, false}) {
		options.log.durable = durable;
		const std::string names = durable ? "durable" : "not";
		nodes.clear();
		new_master();
		for (const char *const log : {"0", "1", "2"})
			join(names + log);
		Address there, own;
		{
			Session owner(nodes[1]->node());
			there = allocate(owner, 0);
			own = allocate(owner, 1);
			EXPECT_EQ(write(owner, there, 51), 0);
			EXPECT_EQ(write(owner, own, 52), 0);
		}
		die(1);
		Session reader(nodes[2]->node());
		/* The home is alive: without the promise of durability it serves its own value. */
		EXPECT_EQ(read(reader, there), durable ? (Word{EOWNERDEAD, 0}) : (Word{0, 0}));
		EXPECT_EQ(read(reader, own).error, EHOSTUNREACH);
		rejoin(1, names + "1");
		EXPECT_EQ(read_soon(reader, own), (Word{0, durable ? 52U : 0U}));
		EXPECT_EQ(read_soon(reader, there, EOWNERDEAD), (Word{0, durable ? 51U : 0U}));
	}
}

/* Tests a new node that says that its log has nothing: what the owner had is not there, and that is said. */
TEST_F(JoinedLog, AnotherNodeWithTheOwnersNumberIsNotTheOwner)
{
	for (const char *const log : {"0", "", "2"})
		join(log);
	const Address address = write_seen_and_fenced();
	die(0);
	die(1);
	join_in_place_of(1, "new");
	EXPECT_EQ(unsettled(rejoin(0, "0")), (Unsettled{0U, 1U}));
	Session reader(nodes[2]->node());
	EXPECT_EQ(read_soon(reader, address), (Word{0, 31}));
}

/* Tests a new node whose number comes from a new master that does not know the lives of the home's log yet. */
TEST_F(JoinedLog, ANodeThatIsThereBeforeTheHomeIsNotTheOwner)
{
	for (const char *const log : {"0", "1", "2"})
		join(log);
	die(1);
	master->use_up_numbers(3, Protocol::directory); /* so this life is later than the other logs tell */
	rejoin(1, "1");
	{
		Session owner(nodes[1]->node());
		EXPECT_EQ(write(owner, allocate(owner, 0), 31), 0);
	}
	for (auto &node : nodes)
		node.reset();
	new_master();
	rejoin(2, "2");
	nodes[0] = *try_join("");
	nodes[1] = *try_join("new");
	ASSERT_EQ(nodes[0]->node().self(), 0);
	ASSERT_EQ(nodes[1]->node().self(), 1);
	die(0);
	EXPECT_EQ(unsettled(rejoin(0, "0")), (Unsettled{0U, 1U}));
}

/* Tests a home that has come back while an owner lived: that one's death later does not bring back an older value. */
TEST_F(JoinedLog, AHomeThatHasComeBackHasWhatAnOwnerTakesAlong)
{
	for (const char *const log : {"0", "", "2"})
		join(log);
	const Address address = write_seen_and_fenced();
	Session reader(nodes[2]->node());
	die(0);
	EXPECT_EQ(unsettled(rejoin(0, "0")), (Unsettled{0U, 0U}));
	{
		Session owner(nodes[1]->node());
		EXPECT_EQ(read_soon(owner, address), (Word{0, 32}));
	}
	die(1);
	EXPECT_EQ(read_soon(reader, address), (Word{0, 32}));
	EXPECT_EQ(nodes[0]->node().stats().lost_values, 1U);
}

/* Tests a home whose log is restored from a copy: others have values of terms that it does not know. */
TEST_F(JoinedLog, ACopyOfALogSaysWhatIsLost)
{
	for (const char *const log : {"0", "", ""}) /* what comes back to the home is in its log */
		join(log);
	const Address address = write_seen_and_fenced();
	Session owner(nodes[1]->node()), other(nodes[2]->node());
	EXPECT_EQ(read(other, address), (Word{0, 32}));
	std::filesystem::copy(folder.path() / "0", folder.path() / "copy");
	EXPECT_EQ(write(owner, address, 33), 0);
	EXPECT_EQ(write(other, address, 34), 0);
	EXPECT_EQ(write(owner, address, 35), 0);
	die(0);
	std::filesystem::remove_all(folder.path() / "0");
	std::filesystem::rename(folder.path() / "copy", folder.path() / "0");
	EXPECT_EQ(rejoin(0, "0").recovery().lost, 1U);
	EXPECT_EQ(read_soon(other, address), (Word{0, 32}));
	EXPECT_EQ(read_dropped(owner, address, 35), (Word{0, 32}));
	EXPECT_EQ(write(owner, address, 36), 0);
	EXPECT_EQ(read(other, address), (Word{0, 36}));
	die(0);
	EXPECT_EQ(rejoin(0, "0").recovery().lost, 0U);
	EXPECT_EQ(read_soon(other, address), (Word{0, 36}));
}

/* Tests an owner's log of which a part is of an earlier home with the number, with higher terms. */
TEST_F(JoinedLog, ValuesOfAnEarlierHomeWithTheNumberAreNotTaken)
{
	for (const char *const log : {"0", "", "2"})
		join(log);
	Address address;
	{
		Session owner(nodes[2]->node()), other(nodes[0]->node());
		address = allocate(owner, 1);
		for (std::uint64_t i = 0; i < 10; i++) {
			EXPECT_EQ(write(owner, address, 100 + i), 0);
			EXPECT_EQ(read(other, address), (Word{0, 100 + i}));
		}
	}
	die(1);
	join_in_place_of(1, "new");
	{
		Session owner(nodes[2]->node()), other(nodes[0]->node());
		EXPECT_TRUE(peers::wait_until([&] { return nodes[2]->node().is_member(1); }));
		EXPECT_EQ(allocate(owner, 1), address);
		EXPECT_EQ(write(owner, address, 77), 0);
		EXPECT_EQ(read_soon(other, address), (Word{0, 77}));
	}
	for (auto &node : nodes)
		node.reset();
	rejoin(0, "0");
	rejoin(2, "2");
	EXPECT_EQ(rejoin(1, new_log).recovery().lost, 0U);
	Session other(nodes[0]->node());
	EXPECT_EQ(read_soon(other, address), (Word{0, 77}));
}

TEST_F(JoinedLog, AnOwnerThatIsGivenUpIsNotWaitedFor)
{
	options.log.durable = true;
	for (const char *const log : {"0", "1", "2"})
		join(log);
	Address address;
	{
		Session owner(nodes[1]->node());
		address = allocate(owner, 0);
		EXPECT_EQ(write(owner, address, 61), 0);
	}
	EXPECT_FALSE(nodes[0]->give_up(1).ok()) << "it lives";
	die(1);
	Session reader(nodes[2]->node());
	EXPECT_EQ(read(reader, address).error, EOWNERDEAD);
	EXPECT_TRUE(nodes[0]->give_up(1).ok());
	EXPECT_EQ(read_soon(reader, address, EOWNERDEAD), (Word{0, 0}));
	EXPECT_EQ(nodes[0]->node().stats().lost_values, 1U);
}

TEST_F(JoinedLog, ANewMasterTakesUpTheClusterOfTheLogs)
{
	join("0");
	join("1");
	Address address;
	{
		Session other(nodes[1]->node());
		address = allocate(other, 0);
		EXPECT_EQ(write(other, address, 41), 0);
		Session home(nodes[0]->node());
		EXPECT_EQ(read(home, address), (Word{0, 41}));
	}
	nodes[0].reset();
	nodes[1].reset();
	new_master();
	rejoin(1, "1");
	rejoin(0, "0");
	Session other(nodes[1]->node());
	EXPECT_EQ(read_soon(other, address), (Word{0, 41}));
}

/* Tests a home that comes back to a new master, which knows nobody, before the owner of its blocks. */
TEST_F(JoinedLog, BlocksWaitForAnOwnerThatIsNewToTheMaster)
{
	for (const bool durable : {true, false}) {
		options.log.durable = durable;
		const std::string names = durable ? "durable" : "not";
		nodes.clear();
		new_master();
		for (const char *const log : {"0", "1", "2"})
			join(names + log);
		const Address address = write_seen_and_fenced();
		for (auto &node : nodes)
			node.reset();
		new_master();
		EXPECT_EQ(unsettled(rejoin(0, names + "0")), (Unsettled{1U, 0U}));
		nodes[2] = *try_join("");
		EXPECT_EQ(nodes[2]->node().self(), 2) << "the number of the owner is not free";
		Session home(nodes[0]->node()), other(nodes[2]->node());
		EXPECT_EQ(read(home, address).error, EOWNERDEAD);
		EXPECT_EQ(read_soon(other, address).error, EOWNERDEAD);
		rejoin(1, names + "1");
		EXPECT_EQ(read_soon(other, address, EOWNERDEAD), (Word{0, durable ? 32U : 31U}));
	}
}

TEST_F(JoinedLog, AnOwnerThatIsNewToTheMasterCanBeGivenUp)
{
	for (const char *const log : {"0", "1", "2"})
		join(log);
	const Address address = write_seen_and_fenced();
	for (auto &node : nodes)
		node.reset();
	new_master();
	rejoin(0, "0");
	Session home(nodes[0]->node());
	EXPECT_EQ(read(home, address).error, EOWNERDEAD);
	EXPECT_TRUE(nodes[0]->give_up(1).ok());
	EXPECT_EQ(read_soon(home, address, EOWNERDEAD), (Word{0, 0}));
	EXPECT_EQ(nodes[0]->recovery().lost, 1U);
}

TEST_F(JoinedLog, AHomeDoesNotWaitForAnOwnerThatWasGivenUpMeanwhile)
{
	for (const char *const log : {"0", "1", "2"})
		join(log);
	const Address address = write_seen_and_fenced();
	die(1);
	die(0);
	EXPECT_TRUE(nodes[2]->give_up(1).ok());
	EXPECT_EQ(unsettled(rejoin(0, "0")), (Unsettled{0U, 1U}));
	Session home(nodes[0]->node());
	EXPECT_EQ(read(home, address), (Word{0, 0}));
}

} // namespace
