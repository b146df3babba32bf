/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Invalid messages are counted and change nothing. */
#include "directory_nodes.hpp"
#include "tests/unit/allocations.hpp"

#include <array>
#include <cerrno>

using namespace gam_test;

namespace
{

struct DirectoryHostile : DirectoryNodes {
	const Address at = block();
	std::array<std::byte, block_size> data{};

	/** Sends a forged message of node @p from to @p to. Returns the number of messages refused. */
	std::uint64_t tell(NodeId from, NodeId to, Type type, Message message = {})
	{
		const std::uint64_t before = node(to).stats().refused;
		if (message.block.is_null())
			message.block = at;
		message.type = static_cast<std::uint8_t>(type);
		node(to).hear(from, message);
		return node(to).stats().refused - before;
	}
	static constexpr std::array all{Type::read, Type::write, Type::upgrade, Type::uncached, Type::again,
		Type::evict_shared, Type::evict_dirty, Type::data, Type::transferred, Type::ack, Type::locked,
		Type::shared_data, Type::grant, Type::permission, Type::handed_over, Type::done, Type::answered,
		Type::busy, Type::failed, Type::evicted, Type::invalidate, Type::fetch_shared, Type::fetch_invalidate,
		Type::forward_read, Type::forward_write};
};

TEST_F(DirectoryHostile, AnswersThatNobodyHasAskedFor)
{
	writes(1, at, 5);
	Message with_data;
	with_data.data = data;
	for (const Type type : {Type::data, Type::transferred, Type::ack, Type::locked, Type::grant, Type::done})
		EXPECT_EQ(tell(2, 0, type, with_data), 1U) << static_cast<int>(type);
	EXPECT_EQ(tell(1, 0, Type::data, with_data), 1U) << "of the owner, which was not asked";
	EXPECT_EQ(tell(2, 0, Type::evict_dirty, with_data), 0U) << "an eviction may come late";
	Message later;
	later.request = 1000;
	later.data = data;
	for (const Type type : {Type::shared_data, Type::grant, Type::permission, Type::handed_over, Type::done,
		     Type::busy, Type::failed})
		EXPECT_EQ(tell(0, 1, type, later), 1U) << static_cast<int>(type);
	EXPECT_TRUE(net->run());
	EXPECT_EQ(node(0).entry(at)->owner, 1);
	EXPECT_EQ(reads(3, at), 5U);
}

TEST_F(DirectoryHostile, OnlyTheHomeMayWantSomething)
{
	writes(1, at, 5);
	reads(2, block(2));
	Message message;
	message.node = 3;
	for (const Type type : {Type::invalidate, Type::fetch_shared, Type::fetch_invalidate, Type::forward_read,
		     Type::forward_write, Type::evicted, Type::grant, Type::permission})
		EXPECT_EQ(tell(3, 1, type, message), type == Type::grant || type == Type::permission ? 0U : 1U);
	message.block = block(2);
	EXPECT_EQ(tell(3, 2, Type::invalidate, message), 1U);
	EXPECT_EQ(node(2).line(block(2)), LineState::shared);
	EXPECT_EQ(node(1).line(at), LineState::dirty);
}

TEST_F(DirectoryHostile, WantsThatMakeNoSense)
{
	writes(1, at, 5);
	Message message;
	EXPECT_EQ(tell(0, 1, Type::forward_read, message), 1U) << "for no node";
	message.node = 1;
	EXPECT_EQ(tell(0, 1, Type::forward_write, message), 1U) << "for itself";
	EXPECT_EQ(tell(0, 1, Type::invalidate, message), 1U) << "of the owner";
	reads(1, block(2));
	message.block = block(2);
	message.node = 3;
	EXPECT_EQ(tell(0, 1, Type::forward_read, message), 1U) << "of who only has a copy";
	EXPECT_EQ(node(1).line(at), LineState::dirty);
}

TEST_F(DirectoryHostile, RequestsThatMakeNoSense)
{
	writes(1, at, 5);
	EXPECT_EQ(tell(1, 0, Type::read), 1U) << "of the owner";
	net->hold({0, 1});
	Ask &waits = read(2, at);
	EXPECT_TRUE(net->run());
	Ask &behind = read(3, at);
	EXPECT_TRUE(net->run());
	EXPECT_EQ(tell(3, 0, Type::write), 1U) << "while it waits";
	EXPECT_EQ(tell(3, 0, Type::transferred), 1U);
	EXPECT_EQ(tell(1, 0, Type::transferred), 1U) << "it was to give data";
	EXPECT_EQ(tell(1, 0, Type::locked), 1U) << "nobody tries";
	EXPECT_EQ(tell(1, 0, Type::data), 1U) << "without data";
	net->release_all();
	EXPECT_EQ(result(waits), 5U);
	EXPECT_EQ(result(behind), 5U);
	Message message;
	for (const std::uint64_t wrong :
		{directory::Operation{3, 0, 0, 8}.packed(), directory::Operation{0, 0, 510, 8}.packed(),
			directory::Operation{0, 0, 600, 8}.packed(), directory::Operation{0, 0, 0, 0}.packed(),
			directory::Operation{1, 0, 0, 8}.packed(), ~std::uint64_t{0}}) {
		message.counter = wrong;
		EXPECT_EQ(tell(3, 0, Type::uncached, message), 1U) << wrong;
	}
	message.data = data;
	message.counter = directory::Operation{2, 9, 0, 8}.packed();
	EXPECT_EQ(tell(3, 0, Type::uncached, message), 1U) << "no such function";
	EXPECT_TRUE(node(0).at_rest());
}

TEST_F(DirectoryHostile, NodesAndAddressesThatDoNotExist)
{
	for (const Type type : all) {
		Message message;
		message.block = block(blocks + 5);
		EXPECT_EQ(tell(1, 0, type, message), type <= Type::uncached ? 0U : 1U) << "a request is answered";
		message.block = block(1, 60);
		tell(1, 0, type, message);
		message.block = Address(~std::uint64_t{0}).block();
		tell(1, 0, type, message);
		message.block = at;
		EXPECT_EQ(tell(0, 0, type, message), 1U) << "itself";
		EXPECT_EQ(tell(max_nodes, 0, type, message), 1U);
		EXPECT_EQ(tell(no_node, 0, type, message), 1U);
		message.block = at + 1;
		EXPECT_EQ(tell(1, 0, type, message), 1U);
	}
	EXPECT_EQ(tell(1, 0, static_cast<Type>(0)), 1U);
	EXPECT_EQ(tell(1, 0, static_cast<Type>(255)), 1U);
	EXPECT_EQ(tell(0, 1, static_cast<Type>(0)), 1U);
}

TEST_F(DirectoryHostile, TheDeadAreNotHeard)
{
	node(0).lost(2);
	EXPECT_EQ(tell(2, 0, Type::read), 1U);
	EXPECT_FALSE(node(0).entry(at)->sharers & bit(2));
	node(0).lost(2);
	node(0).lost(0);
	node(0).lost(no_node);
	EXPECT_TRUE(read(0, at).is_over);
}

TEST_F(DirectoryHostile, APeerMakesTheHomeKeepOnlySoManyRequests)
{
	options.requests = 3;
	make();
	for (std::uint64_t number = 0; number < 5; number++)
		writes(1, block(number), 1);
	net->hold({0, 1});
	std::vector<std::uint8_t> errors;
	net->intercept = [&](Net::Pair pair, const Message &message) {
		if (pair.second == 2)
			errors.push_back(message.error);
		return pair.second == 2;
	};
	for (std::uint64_t number = 0; number < 5; number++) {
		Message message;
		message.block = block(number);
		EXPECT_EQ(tell(2, 0, Type::read, message), 0U);
	}
	EXPECT_TRUE(net->run());
	EXPECT_EQ(errors, (std::vector<std::uint8_t>{ENOBUFS, ENOBUFS}));
	Ask &other = read(3, block(0));
	net->release_all();
	EXPECT_EQ(result(other), 1U);
	EXPECT_EQ(errors, (std::vector<std::uint8_t>{ENOBUFS, ENOBUFS, 0, 0, 0}));
}

TEST_F(DirectoryHostile, AnyMessagesInAnyOrder)
{
	/* Node 3 forges messages to all. Nothing breaks, and blocks that it does not know of keep their values. */
	std::mt19937_64 random(7);
	for (NodeId id = 0; id < 3; id++)
		writes(id, block(9, (id + 1) % 3), id + 1U);
	for (int i = 0; i < 100'000; i++) {
		Message message;
		message.block = block(random() % 4, random() % 5);
		message.flags = random() % 4;
		message.error = random() % 256;
		message.node = random() % 5;
		message.request = random() % 20;
		message.counter = random() % 2 ? random()
					       : directory::Operation{static_cast<std::uint8_t>(random() % 3),
							 static_cast<std::uint8_t>(random() % 5), 0, 8}
							 .packed();
		if (random() % 2)
			message.data = data;
		const auto to = static_cast<NodeId>(random() % 3);
		message.type = static_cast<std::uint8_t>(random() % 27);
		node(to).hear(3, message);
		const auto id = static_cast<NodeId>(random() % 3);
		if (asked.size() < 500)
			random() % 2 ? read(id, block(random() % 4, random() % 3)) : add(id, block(random() % 4), 1);
		for (int steps = 0; steps < 10; steps++)
			net->step();
	}
	EXPECT_TRUE(net->run());
	for (NodeId id = 0; id < 3; id++) {
		for (NodeId home = 0; home < 3; home++)
			reads(id, block(9, home));
		EXPECT_EQ(reads(id, block(9, (id + 1) % 3)), id + 1U);
	}
	/* When it dies, all waits for it end. */
	net->kill(3);
	net->tell_of(3);
	EXPECT_TRUE(net->run());
}

/** One node whose memory runs out, and the last message that it has sent. */
struct DirectoryWithoutMemory : ::testing::Test, Coherence::Host {
	std::vector<std::byte> memory = std::vector<std::byte>(4 * block_size);
	std::vector<std::byte> lines = std::vector<std::byte>(4 * block_size);
	std::array<std::byte, block_size> data{};
	Type sent{};
	int error = 0;
	std::uint64_t request = 0;

	void send(NodeId /*to*/, const Message &message) override
	{
		sent = static_cast<Type>(message.type);
		error = message.error;
		request = message.request;
	}
	void ended(Access & /*access*/) override {}
	[[nodiscard]] bool is_allocated(Address /*block*/) const override { return true; }
	[[nodiscard]] Directory made(NodeId self)
	{
		directory::Options options;
		options.self = self;
		options.memory = memory;
		options.lines = lines;
		return Directory(options, *this);
	}
	static Access access(AccessKind kind, Address at)
	{
		Access made;
		made.kind = kind;
		made.at = at;
		made.thread = 1;
		return made;
	}
	/** Calls @p step with no memory, then with that for one allocation, and so on, until it returns 0. */
	template <typename Step>
	static void with_little_memory(const Step &step)
	{
		int failures = 0;
		for (int left = 0;; left++) {
			prism::test::allocations_left = left;
			const int failed = step();
			prism::test::allocations_left = -1;
			if (!failed)
				break;
			EXPECT_EQ(failed, ENOMEM);
			failures++;
		}
		EXPECT_GT(failures, 0);
	}
};

TEST_F(DirectoryWithoutMemory, AHomeRefusesAndIsAsBefore)
{
	Directory home = made(0);
	const Address at(0, block_size), other = at + block_size;
	Message message;
	for (const Type type : {Type::read, Type::uncached}) {
		message.type = static_cast<std::uint8_t>(type);
		message.block = type == Type::read ? at : other;
		message.counter = directory::Operation{static_cast<std::uint8_t>(AccessKind::write), 0, 0, 8}.packed();
		message.data = std::span(data).first(type == Type::read ? 0 : block_size);
		with_little_memory([&] {
			message.request++;
			home.hear(1, message);
			EXPECT_TRUE(home.at_rest());
			EXPECT_FALSE(home.entry(message.block)->has_record);
			return sent == Type::failed ? error : 0;
		});
	}
	EXPECT_EQ(sent, Type::answered);
	Access lock = access(AccessKind::write_lock, other), unlock = access(AccessKind::unlock, other);
	with_little_memory([&] {
		EXPECT_TRUE(home.start(lock));
		return lock.error;
	});
	EXPECT_TRUE(home.start(unlock));
	EXPECT_EQ(unlock.error, 0);
	EXPECT_EQ(home.stats().refused, 0U);
}

TEST_F(DirectoryWithoutMemory, ANodeRefusesItsThreadsAndObeysTheHome)
{
	Directory node = made(1);
	const Address at(0, block_size), locked = at + block_size;
	Message message;
	for (const Address block : {at, locked}) {
		Access read = access(AccessKind::read_lock, block);
		with_little_memory([&] { return node.start(read) ? read.error : 0; });
		EXPECT_EQ(sent, Type::read);
		message.block = block;
		message.type = static_cast<std::uint8_t>(Type::shared_data);
		message.request = request;
		message.data = data;
		node.hear(0, message);
	}
	Access unlock = access(AccessKind::unlock, at);
	EXPECT_TRUE(node.start(unlock));
	message.block = at;
	message.type = static_cast<std::uint8_t>(Type::invalidate);
	message.data = {};
	prism::test::allocations_left = 0;
	node.hear(0, message);
	prism::test::allocations_left = -1;
	EXPECT_EQ(sent, Type::ack);
	EXPECT_EQ(node.line(at), LineState::invalid);
	EXPECT_EQ(node.line(locked), LineState::shared);
}

} // namespace
