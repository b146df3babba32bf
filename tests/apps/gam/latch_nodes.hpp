/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes that speak the latch protocol, on a LatchNet, and accesses by threads of a node. */
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "begin.hpp"
<<<<<<< HEAD
#include "gam/one_sided/latch.hpp"
#include "one_sided.hpp"
=======
#include "latch_net.hpp"
>>>>>>> 6359687e (Tests of GAM's latch protocol and gam-sim share one network, LatchNet)

namespace gam_test
{

using namespace prism::gam;

/** Access of 8 bytes, and its result. */
struct LatchAsk : Access {
	bool is_over = false;
	std::uint64_t value = 0; /* read, or to be written */
	std::uint64_t began = 0; /* for tests */
};

struct LatchNodes : testing::Test {
	LatchNet::Shape shape;
	std::unique_ptr<LatchNet> net;
	std::vector<std::unique_ptr<LatchAsk>> asked;
	std::function<void(LatchAsk &)> on_over = [](LatchAsk &) {};

	void make()
	{
		net = std::make_unique<LatchNet>(shape);
		net->on_ended = [this](NodeId, Access &access) { end(static_cast<LatchAsk &>(access)); };
		net->on_freed_twice = [] { ADD_FAILURE() << "a buffer is given back that is in use"; };
	}
	void SetUp() override { make(); }

	static Address block(std::uint64_t number = 1, NodeId home = 0) { return {home, number * block_size}; }
	Latch &node(NodeId id) { return net->latch(id); }

	void begin(NodeId id, LatchAsk &ask)
	{
		if (prism::gam::begin(node(id), ask))
			end(ask);
	}
	void end(LatchAsk &ask)
	{
		ask.is_over = true;
		on_over(ask);
	}
	LatchAsk &begin(NodeId id, AccessKind kind, Address at, std::uint64_t value = 0, ThreadId thread = 1,
		bool tries = false, bool uncached = false)
	{
		LatchAsk &ask = *asked.emplace_back(std::make_unique<LatchAsk>());
		ask.kind = kind;
		ask.function = Function::add;
		ask.at = at;
		ask.length = sizeof(ask.value);
		ask.bytes = reinterpret_cast<std::byte *>(&ask.value);
		ask.value = ask.operand = value;
		ask.thread = thread;
		ask.tries = tries;
		ask.uncached = uncached;
		begin(id, ask);
		return ask;
	}
	LatchAsk &read(NodeId id, Address at) { return begin(id, AccessKind::read, at); }
	LatchAsk &write(NodeId id, Address at, std::uint64_t value) { return begin(id, AccessKind::write, at, value); }
	LatchAsk &add(NodeId id, Address at, std::uint64_t value) { return begin(id, AccessKind::atomic, at, value); }
	LatchAsk &read_lock(NodeId id, Address at, ThreadId thread = 1, bool tries = false)
	{
		return begin(id, AccessKind::read_lock, at, 0, thread, tries);
	}
	LatchAsk &write_lock(NodeId id, Address at, ThreadId thread = 1, bool tries = false)
	{
		return begin(id, AccessKind::write_lock, at, 0, thread, tries);
	}
	int unlock(NodeId id, Address at, ThreadId thread = 1)
	{
		LatchAsk &ask = begin(id, AccessKind::unlock, at, 0, thread);
		EXPECT_TRUE(ask.is_over) << "nothing waits to unlock";
		return ask.error;
	}

	/** Runs until only held messages and chains are left; @p ask must be over then. Returns its value. */
	std::uint64_t result(LatchAsk &ask)
	{
		net->run();
		for (int turns = 0; turns < 100 && !ask.is_over; turns++) {
			net->tick();
			net->run();
		}
		EXPECT_TRUE(ask.is_over);
		EXPECT_EQ(ask.error, 0);
		return ask.kind == AccessKind::atomic ? ask.old_value : ask.value;
	}
	int error(LatchAsk &ask)
	{
		net->run();
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

	/** Checks that lines and entries agree, and that each buffer is in one place. @p lost: or in none. */
	void expect_rest(bool lost = false)
	{
		EXPECT_TRUE(net->run_to_rest());
		EXPECT_EQ(net->disorder(lost), "");
	}
};

} // namespace gam_test
