/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tests of nodes that are joined in memory: accesses by their threads. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "begin.hpp"
#include "net.hpp"

namespace gam_test
{

using namespace prism::gam;

/** Access of 8 bytes, and its result. */
struct Ask : Access {
	bool is_over = false;
	std::uint64_t value = 0; /* read, or to be written */
	std::uint64_t began = 0; /* for tests */
};

/** @tparam Joined: the network. @tparam Protocol: the object of each node */
template <typename Joined, typename Protocol>
struct Nodes : testing::Test {
	std::unique_ptr<Joined> net;
	std::vector<std::unique_ptr<Ask>> asked;
	std::function<void(Ask &)> on_over = [](Ask &) {};
	Time room_until = Time::max(); /* of what is asked next */

	void join(std::unique_ptr<Joined> made)
	{
		net = std::move(made);
		net->on_ended = [this](NodeId, Access &access) { end(static_cast<Ask &>(access)); };
	}
	Protocol &node(NodeId id) { return static_cast<Protocol &>(net->node(id)); }
	static Address block(std::uint64_t number = 1, NodeId home = 0) { return {home, number * block_size}; }

	void begin(NodeId id, Ask &ask)
	{
		if (prism::gam::begin(node(id), ask))
			end(ask);
	}
	void end(Ask &ask)
	{
		ask.is_over = true;
		on_over(ask);
	}
	Ask &begin(NodeId id, AccessKind kind, Address at, std::uint64_t value = 0, ThreadId thread = 1,
		bool tries = false, bool uncached = false)
	{
		Ask &ask = *asked.emplace_back(std::make_unique<Ask>());
		ask.kind = kind;
		ask.at = at;
		ask.length = sizeof(ask.value);
		ask.bytes = reinterpret_cast<std::byte *>(&ask.value);
		ask.value = ask.operand = value;
		ask.thread = thread;
		ask.tries = tries;
		ask.uncached = uncached;
		ask.room_until = room_until;
		begin(id, ask);
		return ask;
	}
	Ask &read(NodeId id, Address at) { return begin(id, AccessKind::read, at); }
	Ask &write(NodeId id, Address at, std::uint64_t value) { return begin(id, AccessKind::write, at, value); }
	Ask &add(NodeId id, Address at, std::uint64_t value) { return begin(id, AccessKind::atomic, at, value); }
	Ask &read_lock(NodeId id, Address at, ThreadId thread = 1, bool tries = false)
	{
		return begin(id, AccessKind::read_lock, at, 0, thread, tries);
	}
	Ask &write_lock(NodeId id, Address at, ThreadId thread = 1, bool tries = false)
	{
		return begin(id, AccessKind::write_lock, at, 0, thread, tries);
	}
	int unlock(NodeId id, Address at, ThreadId thread = 1)
	{
		Ask &ask = begin(id, AccessKind::unlock, at, 0, thread);
		EXPECT_TRUE(ask.is_over) << "nothing waits to unlock";
		return ask.error;
	}

	/** Runs until @p ask is over, for protocols that do so by time. */
	virtual void await(const Ask & /*ask*/) {}
	/** Runs until nothing moves; @p ask must be over then. Returns its value. */
	std::uint64_t result(Ask &ask)
	{
		EXPECT_TRUE(net->run());
		await(ask);
		EXPECT_TRUE(ask.is_over);
		EXPECT_EQ(ask.error, 0);
		return ask.kind == AccessKind::atomic ? ask.old_value : ask.value;
	}
	int error(Ask &ask)
	{
		EXPECT_TRUE(net->run());
		EXPECT_TRUE(ask.is_over);
		return ask.error;
	}
	std::uint64_t reads(NodeId id, Address at) { return result(read(id, at)); }
	void writes(NodeId id, Address at, std::uint64_t value) { result(write(id, at, value)); }

	CoherenceStats total()
	{
		CoherenceStats sum;
		for (NodeId id = 0; id < net->size(); id++)
			sum += node(id).stats();
		return sum;
	}
};

} // namespace gam_test
