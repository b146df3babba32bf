/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Table of messages in docs/prism-gam.md, row by row: node 0 is the home, 1 requests, 2 and 3 have the block. */
#include "directory_nodes.hpp"

#include <cerrno>

using namespace gam_test;

namespace
{

using Counts = std::map<Type, std::size_t>;

struct DirectoryMessages : DirectoryNodes {
	const Address at = block();

	/** Gives copies to @p sharers. */
	void share(std::initializer_list<NodeId> sharers)
	{
		for (const NodeId id : sharers)
			reads(id, at);
		sent();
	}
	void own(NodeId id, std::uint64_t value)
	{
		writes(id, at, value);
		sent();
	}
	void expect_owner(NodeId id)
	{
		EXPECT_EQ(node(0).entry(at)->owner, id);
		expect_rest();
	}
	void expect_sharers(std::uint64_t sharers)
	{
		EXPECT_EQ(node(0).entry(at)->owner, no_node);
		EXPECT_EQ(node(0).entry(at)->sharers, sharers);
		expect_rest();
	}
};

TEST_F(DirectoryMessages, TheHomeReadsItsMemory)
{
	EXPECT_TRUE(read(0, at).is_over);
	share({1});
	EXPECT_TRUE(read(0, at).is_over);
	EXPECT_EQ(sent(), Counts());
	EXPECT_EQ(node(0).stats().hits, 2U);
	expect_sharers(0b10);
}

TEST_F(DirectoryMessages, TheHomeReadsADirtyBlock)
{
	own(2, 7);
	EXPECT_EQ(reads(0, at), 7U);
	EXPECT_EQ(sent(), (Counts{{Type::fetch_shared, 1}, {Type::data, 1}}));
	expect_sharers(0b100);
}

TEST_F(DirectoryMessages, TheHomeWritesAnUnsharedBlock)
{
	EXPECT_TRUE(write(0, at, 1).is_over);
	EXPECT_EQ(sent(), Counts());
	expect_sharers(0);
}

TEST_F(DirectoryMessages, TheHomeWritesASharedBlock)
{
	share({1, 2, 3});
	writes(0, at, 5);
	EXPECT_EQ(sent(), (Counts{{Type::invalidate, 3}, {Type::ack, 3}}));
	expect_sharers(0);
	EXPECT_EQ(reads(1, at), 5U);
}

TEST_F(DirectoryMessages, TheHomeWritesADirtyBlock)
{
	own(2, 7);
	EXPECT_EQ(result(add(0, at, 3)), 7U);
	EXPECT_EQ(sent(), (Counts{{Type::fetch_invalidate, 1}, {Type::data, 1}}));
	expect_sharers(0);
	EXPECT_EQ(reads(0, at), 10U);
}

TEST_F(DirectoryMessages, ARead)
{
	writes(0, at, 9);
	share({2});
	EXPECT_EQ(reads(1, at), 9U);
	EXPECT_EQ(sent(), (Counts{{Type::read, 1}, {Type::shared_data, 1}}));
	EXPECT_EQ(reads(1, at), 9U);
	EXPECT_EQ(sent(), Counts()) << "a hit";
	EXPECT_EQ(node(1).stats().hits, 0U) << "it was read beside the protocol, which counts no such hits";
	EXPECT_EQ(node(1).stats().misses, 1U);
	expect_sharers(0b110);
}

TEST_F(DirectoryMessages, AReadOfADirtyBlock)
{
	own(2, 7);
	EXPECT_EQ(reads(1, at), 7U);
	EXPECT_EQ(sent(), (Counts{{Type::read, 1}, {Type::forward_read, 1}, {Type::shared_data, 1}, {Type::data, 1}}));
	expect_sharers(0b110);
}

TEST_F(DirectoryMessages, AWrite)
{
	writes(1, at, 4);
	EXPECT_EQ(sent(), (Counts{{Type::write, 1}, {Type::grant, 1}}));
	writes(1, at, 5);
	EXPECT_EQ(reads(1, at), 5U);
	EXPECT_EQ(sent(), Counts()) << "hits";
	expect_owner(1);
}

TEST_F(DirectoryMessages, AWriteOfASharedBlock)
{
	share({2, 3});
	writes(1, at, 4);
	EXPECT_EQ(sent(), (Counts{{Type::write, 1}, {Type::invalidate, 2}, {Type::ack, 2}, {Type::grant, 1}}));
	expect_owner(1);
	EXPECT_EQ(node(2).line(at), LineState::invalid);
}

TEST_F(DirectoryMessages, AWriteOfADirtyBlock)
{
	own(2, 7);
	EXPECT_EQ(result(add(1, at, 1)), 7U);
	EXPECT_EQ(sent(), (Counts{{Type::write, 1}, {Type::forward_write, 1}, {Type::handed_over, 1},
				  {Type::transferred, 1}, {Type::done, 1}}));
	expect_owner(1);
}

TEST_F(DirectoryMessages, AnUpgrade)
{
	share({1});
	writes(1, at, 4);
	EXPECT_EQ(sent(), (Counts{{Type::upgrade, 1}, {Type::permission, 1}}));
	expect_owner(1);
}

TEST_F(DirectoryMessages, AnUpgradeOfASharedBlock)
{
	share({1, 2, 3});
	writes(1, at, 4);
	EXPECT_EQ(sent(), (Counts{{Type::upgrade, 1}, {Type::invalidate, 2}, {Type::ack, 2}, {Type::permission, 1}}));
	expect_owner(1);
}

TEST_F(DirectoryMessages, EvictionOfACopy)
{
	share({1, 2});
	node(1).flush();
	EXPECT_EQ(node(1).line(at), LineState::invalid) << "at once";
	EXPECT_TRUE(net->run());
	EXPECT_EQ(sent(), (Counts{{Type::evict_shared, 1}}));
	expect_sharers(0b100);
	EXPECT_EQ(node(1).stats().evictions_shared, 1U);
}

TEST_F(DirectoryMessages, EvictionByTheOwner)
{
	own(1, 6);
	node(1).flush();
	EXPECT_EQ(node(1).line(at), LineState::to_invalid);
	EXPECT_TRUE(net->run());
	EXPECT_EQ(sent(), (Counts{{Type::evict_dirty, 1}, {Type::evicted, 1}}));
	expect_sharers(0);
	EXPECT_EQ(reads(0, at), 6U);
	EXPECT_EQ(node(1).stats().evictions_dirty, 1U);
}

TEST_F(DirectoryMessages, UncachedAccessesLeaveNoCopy)
{
	result(begin(1, AccessKind::write, at, 5, 1, false, true));
	EXPECT_EQ(sent(), (Counts{{Type::uncached, 1}, {Type::answered, 1}}));
	EXPECT_EQ(result(begin(1, AccessKind::atomic, at, 2, 1, false, true)), 5U);
	EXPECT_EQ(result(begin(1, AccessKind::read, at, 0, 1, false, true)), 7U);
	EXPECT_EQ(sent(), (Counts{{Type::uncached, 2}, {Type::answered, 2}}));
	expect_sharers(0);
	own(2, 9);
	EXPECT_EQ(result(begin(1, AccessKind::read, at + 0, 0, 1, false, true)), 9U);
	EXPECT_EQ(sent(), (Counts{{Type::uncached, 1}, {Type::fetch_shared, 1}, {Type::data, 1}, {Type::answered, 1}}));
	result(begin(1, AccessKind::write, at, 1, 1, false, true));
	EXPECT_EQ(sent(), (Counts{{Type::uncached, 1}, {Type::invalidate, 1}, {Type::ack, 1}, {Type::answered, 1}}));
	EXPECT_EQ(reads(0, at), 1U);
	expect_sharers(0);
}

TEST_F(DirectoryMessages, TheHomeHasAnEventForEachMessageToIt)
{
	own(2, 7);
	const std::uint64_t before = node(0).stats().events;
	reads(1, at);
	EXPECT_EQ(node(0).stats().events - before, 2U) << "READ and data";
}

TEST_F(DirectoryMessages, AddressesThatAreNotAllocated)
{
	net->is_allocated = [this](Address address) { return address != at; };
	for (const NodeId id : {0, 1}) {
		EXPECT_EQ(error(read(id, at)), EFAULT) << id;
		EXPECT_EQ(error(write_lock(id, at)), EFAULT) << id;
		EXPECT_EQ(error(read(id, block(blocks))), EFAULT) << id;
		EXPECT_EQ(error(begin(id, AccessKind::read, at, 0, 1, false, true)), EFAULT) << id;
	}
	EXPECT_EQ(error(read(1, block(0, 64))), EFAULT) << "no such node";
	EXPECT_EQ(error(begin(1, AccessKind::read, at + 508)), EINVAL) << "across blocks";
	expect_rest();
	EXPECT_EQ(node(1).line(at), LineState::invalid);
}

} // namespace
