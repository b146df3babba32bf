/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes of the latch protocol in one process, each with its own device: they join, share memory, lie and die. */
#include "gam/api/joined_node.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gam/one_sided/layout.hpp"
#include "peer_support.hpp"

using namespace peers;

namespace
{

/**
 * Returns this process' writable memory by address, which includes that of all nodes. Skips huge mappings, which are no
 * node's.
 */
std::map<std::uint64_t, std::vector<std::uint64_t>> words_of_process(int memory)
{
	std::map<std::uint64_t, std::vector<std::uint64_t>> all;
	std::ifstream maps("/proc/self/maps");
	for (std::string line; std::getline(maps, line);) {
		std::uint64_t begin = 0, end = 0;
		std::array<char, 5> rights{};
		if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights.data()) != 3 || rights[1] != 'w' ||
			end - begin > (std::uint64_t{64} << 20))
			continue;
		std::vector<std::uint64_t> words((end - begin) / sizeof(std::uint64_t));
		const ssize_t got = ::pread(memory, words.data(), end - begin, static_cast<off_t>(begin));
		words.resize(got > 0 ? static_cast<std::size_t>(got) / sizeof(std::uint64_t) : 0);
		all.emplace(begin, std::move(words));
	}
	return all;
}

/**
 * Gives the pointer @p pointer to the entry of the block that begins with @p first, as a hostile member may. Returns
 * false if there is no such entry.
 */
bool change_pointer(std::uint64_t first, std::uint64_t pointer)
{
	const Descriptor memory(::open("/proc/self/mem", O_RDWR | O_CLOEXEC));
	const auto all = words_of_process(memory.get());
	std::set<std::uint64_t> places;
	for (const auto &[begin, words] : all) {
		for (std::size_t i = 0; i < words.size(); i++) {
			if (words[i] == first)
				places.insert(begin + i * sizeof(std::uint64_t));
		}
	}
	bool found = false;
	for (const auto &[begin, words] : all) {
		for (std::size_t i = 2; i + 1 < words.size(); i++) {
			const bool is_entry = words[i - 2] >> 32 == latch::entry_lent && places.contains(words[i]) &&
					      static_cast<std::uint32_t>(words[i + 1]) == block_size;
			if (!is_entry)
				continue;
			const auto at = static_cast<off_t>(begin + i * sizeof(std::uint64_t));
			found |= ::pwrite(memory.get(), &pointer, sizeof(pointer), at) == sizeof(pointer);
		}
	}
	return found;
}

struct JoinedLatch : testing::Test {
	std::unique_ptr<MasterThread> master;
	std::vector<std::unique_ptr<JoinedNode>> nodes;

	void SetUp() override
	{
		if (Result<Context> context = Context::open(); !context)
			GTEST_SKIP() << "no device: " << context.error().message;
		master = std::make_unique<MasterThread>(2000ms);
	}
	[[nodiscard]] std::unique_ptr<JoinedNode> join(JoinOptions options = {}) const
	{
		options.master = "127.0.0.1:" + std::to_string(master->port());
		options.protocol = Protocol::latch;
		options.node.bytes = std::uint64_t{1} << 20;
		options.node.shards = 2;
		options.timeout = patience;
		const Result<Context> context = Context::open();
		Result<std::unique_ptr<JoinedNode>> joined = JoinedNode::join(*context, options);
		EXPECT_TRUE(joined.ok()) << joined.error().message;
		return joined ? *std::move(joined) : nullptr;
	}
	void join(std::size_t count)
	{
		while (count-- > 0) {
			nodes.push_back(join());
			ASSERT_TRUE(nodes.back());
		}
	}
	static Address allocate(Session &session, JoinedNode &home_of, std::size_t bytes = 8)
	{
		Address address;
		const NodeId home = home_of.node().self();
		EXPECT_EQ(session.malloc(bytes, address, Placement::near(Address(home, 0))), 0);
		EXPECT_EQ(address.home(), home);
		return address;
	}
	static std::uint64_t add(Session &session, Address at, std::uint64_t operand)
	{
		std::uint64_t old = ~std::uint64_t{0};
		EXPECT_EQ(session.atomic(at, 8, Function::add, operand, old), 0);
		return old;
	}
	static int read(Session &session, Address at)
	{
		std::uint64_t word = 0;
		return session.read(at, std::as_writable_bytes(std::span(&word, 1)));
	}
	/** Waits until the nodes know each other again after one has come or gone. */
	void expect_members(std::size_t count) const
	{
		for (const auto &node : nodes) {
			const auto complete = [&] { return !node || node->node().members().size() == count; };
			EXPECT_TRUE(peers::wait_until(complete));
		}
	}
};

TEST_F(JoinedLatch, EachNodeSeesWhatOthersHaveAdded)
{
	join(3);
	expect_members(3);
	Session first(nodes[0]->node()), second(nodes[1]->node()), third(nodes[2]->node());
	for (const auto &home : nodes) {
		const Address at = allocate(first, *home);
		std::uint64_t expected = 0;
		for (int round = 0; round < 20; round++) {
			for (Session *const session : {&first, &second, &third})
				EXPECT_EQ(add(*session, at, 3), 3 * expected++);
		}
		EXPECT_EQ(second.free(at), 0);
	}
	for (const auto &node : nodes)
		EXPECT_EQ(node->node().stats().refused, 0U);
}

/** Tests memory freed while the only line is locked: zeroing it waits for the line. */
TEST_F(JoinedLatch, MemoryIsNotHandedOutBeforeItIsZero)
{
	JoinOptions one_line;
	one_line.cache_bytes = 2 * block_size; /* of each shard */
	nodes.push_back(join(one_line));
	Session session(nodes[0]->node());
	const Address used = allocate(session, *nodes[0], 2 * block_size),
		      locked = allocate(session, *nodes[0], 2 * block_size);
	const std::vector<std::byte> full(2 * block_size, std::byte{7});
	EXPECT_EQ(session.write(used, full), 0);
	EXPECT_EQ(session.free(used), 0);
	EXPECT_EQ(session.wlock(locked, 2 * block_size), 0);
	Address again;
	std::jthread other([&] {
		Session own(nodes[0]->node());
		again = allocate(own, *nodes[0], 2 * block_size);
		EXPECT_EQ(again, used);
		std::vector<std::byte> found(2 * block_size);
		EXPECT_EQ(own.read(again, found), 0);
		EXPECT_EQ(found, std::vector<std::byte>(2 * block_size));
	});
	std::this_thread::sleep_for(100ms);
	EXPECT_EQ(session.unlock(locked, 2 * block_size), 0);
}

/** Checks that allocation skips a locked block: the allocating thread may hold the lock itself. */
TEST_F(JoinedLatch, MemoryOfALockedBlockIsPassedOver)
{
	join(2);
	expect_members(2);
	Session session(nodes[1]->node());
	for (const auto &home : nodes) {
		const Address locked = allocate(session, *home, 64), beside = allocate(session, *home, 64);
		ASSERT_EQ(locked.block(), beside.block());
		ASSERT_EQ(session.wlock(locked, 8), 0);
		ASSERT_EQ(session.free(beside), 0);
		EXPECT_NE(allocate(session, *home, 64).block(), locked.block());
		EXPECT_EQ(session.unlock(locked, 8), 0);
		EXPECT_EQ(allocate(session, *home, 64), beside);
	}
}

/** Tests more locks than are tried at once. */
TEST_F(JoinedLatch, TriesManyLocksAtOnce)
{
	join(2);
	expect_members(2);
	Session session(nodes[0]->node()), other(nodes[1]->node());
	std::vector<Address> at;
	for (std::size_t i = 0; i < 40; i++)
		at.push_back(allocate(session, *nodes[i % 2], block_size));
	ASSERT_EQ(session.try_wlock_all(at), 0);
	EXPECT_EQ(other.try_rlock(at.front(), 8), EBUSY);
	EXPECT_EQ(session.unlock(at.front(), 8), 0);
	EXPECT_EQ(other.try_wlock_all(at), EBUSY);
	for (const Address locked : std::span(at).subspan(1))
		EXPECT_EQ(session.unlock(locked, 8), 0);
	EXPECT_EQ(other.try_rlock_all(at), 0);
	EXPECT_EQ(session.try_rlock_all(at), 0);
}

TEST_F(JoinedLatch, ThreadsOfAllNodesCountTogether)
{
	join(2);
	expect_members(2);
	Session session(nodes[0]->node());
	const Address at = allocate(session, *nodes[1], 4 * block_size);
	constexpr unsigned each = 100;
	std::vector<std::jthread> threads;
	for (unsigned i = 0; i < 4; i++) {
		threads.emplace_back([&, i] {
			Session own(nodes[i % 2]->node());
			for (unsigned round = 0; round < each; round++)
				(void)add(own, at + (round % 4) * block_size, 1);
		});
	}
	threads.clear();
	for (unsigned block = 0; block < 4; block++)
		EXPECT_EQ(add(session, at + block * block_size, 0), each);
}

TEST_F(JoinedLatch, FreedMemoryIsNobodysAndComesBackAsZeros)
{
	join(3);
	expect_members(3);
	Session home(nodes[0]->node()), other(nodes[1]->node()), stranger(nodes[2]->node());
	const Address kept = allocate(home, *nodes[0], block_size);
	Address at;
	for (int round = 0; round < 20; round++) {
		at = allocate(round % 2 ? home : other, *nodes[0], block_size);
		EXPECT_EQ(add(other, at, 7), 0U) << round;
		EXPECT_EQ(add(home, at, 7), 7U) << round; /* the home owns it when it is freed */
		EXPECT_EQ(home.free(at), 0);
	}
	(void)add(home, kept, 1); /* after all that the home has posted */
	EXPECT_EQ(read(stranger, at), EFAULT);
}

TEST_F(JoinedLatch, ADeadNodesBlocksAreTheOthersAndItsNumberIsUsedAgain)
{
	join(3);
	expect_members(3);
	Session first(nodes[0]->node()), second(nodes[1]->node());
	const Address at = allocate(first, *nodes[0]), lost = allocate(first, *nodes[2]);
	const NodeId number = nodes[2]->node().self();
	(void)add(first, at, 5);
	{
		Session dying(nodes[2]->node());
		EXPECT_EQ(add(dying, at, 1), 5U);
	}
	nodes[2].reset(); /* it owns the block, and has not written it back */
	EXPECT_EQ(add(second, at, 1) % 5, 0U) << "the value that was written back last";
	EXPECT_EQ(read(first, lost), EHOSTUNREACH);
	expect_members(2);
	master->use_up_numbers(3, Protocol::latch);
	std::unique_ptr<JoinedNode> next;
	const auto end = std::chrono::steady_clock::now() + patience;
	for (;;) {
		next = join();
		ASSERT_TRUE(next);
		if (next->node().self() == number || std::chrono::steady_clock::now() > end)
			break;
		EXPECT_TRUE(next->leave().ok()); /* the number was not free yet */
	}
	EXPECT_EQ(next->node().self(), number);
	Session reborn(next->node());
	(void)add(reborn, at, 1);
	const Address anew = allocate(second, *next);
	EXPECT_EQ(add(first, anew, 1), 0U);
}

/** Tests a pointer for which the device ends queue pairs, even the home's to itself. */
TEST_F(JoinedLatch, APointerThatLeadsNowhereIsTheFaultOfItsBlockAlone)
{
	join(2);
	expect_members(2);
	Session home(nodes[0]->node()), other(nodes[1]->node());
	const Address good = allocate(home, *nodes[0], block_size), bad = allocate(home, *nodes[0], block_size);
	const std::uint64_t pattern = std::random_device{}() * 0x123456789abcdefULL | 1;
	std::uint64_t found = 0;
	(void)add(other, bad, pattern);
	(void)add(home, good, 1);
	(void)add(other, good, 1);
	nodes[1]->node().flush(); /* the block has a buffer from now on */
	ASSERT_TRUE(change_pointer(pattern, 0x1234));
	for (std::uint64_t round = 1; round <= 20; round++) {
		EXPECT_EQ(read(other, bad), EPROTO);
		EXPECT_EQ(add(other, good, 1), 2 * round);
		EXPECT_EQ(other.atomic(bad, 8, Function::add, 1, found), EPROTO);
		EXPECT_EQ(read(home, bad), EPROTO);
		EXPECT_EQ(add(home, good, 1), 2 * round + 1);
	}
	std::this_thread::sleep_for(2500ms); /* no node gives up because of it */
	for (const auto &node : nodes)
		EXPECT_TRUE(node->check().ok());
	EXPECT_EQ(add(other, good, 1), 42U);
	const Address more = allocate(other, *nodes[0], block_size);
	EXPECT_EQ(add(home, more, 1), 0U);
}

TEST_F(JoinedLatch, AMemberThatTalksNonsenseIsNoMember)
{
	join(2);
	expect_members(2);
	TestNode liar(master->port());
	ASSERT_TRUE(liar.join().ok());
	ASSERT_TRUE(liar.meeting().wait(patience).ok());
	liar.run();
	std::mt19937_64 random(1);
	std::array<std::byte, block_size> data;
	for (int round = 0; round < 2000; round++) {
		for (std::byte &byte : data)
			byte = static_cast<std::byte>(random());
		Message message;
		message.type = static_cast<std::uint8_t>(random() % 4 ? 0xc0 + random() % 8 : random());
		message.counter = random() % 4 ? random() : random() % 65;
		message.block = Address(random()).block();
		if (random() % 4)
			message.data = data;
		for (NodeId node = 0; node < 2; node++)
			(void)liar.links().try_send(node, message);
		liar.links().flush();
	}
	std::this_thread::sleep_for(50ms);
	Session first(nodes[0]->node()), second(nodes[1]->node());
	const Address at = allocate(first, *nodes[1]);
	EXPECT_EQ(add(second, at, 1), 0U);
	EXPECT_EQ(add(first, at, 1), 1U);
	EXPECT_FALSE(nodes[0]->node().is_member(liar.id()));
}

} // namespace
