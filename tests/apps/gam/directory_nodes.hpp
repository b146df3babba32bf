/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes that speak the directory protocol, on a Net, and accesses by threads of a node. */
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "begin.hpp"
#include "gam/directory/directory.hpp"
#include "net.hpp"

namespace gam_test
{

using namespace prism::gam;
using directory::LineState;
using directory::Type;

/** Access of 8 bytes, and its result. */
struct Ask : Access {
	bool is_over = false;
	std::uint64_t value = 0; /* read, or to be written */
};

struct DirectoryNodes : testing::Test {
	static constexpr std::size_t nodes = 4;
	static constexpr std::size_t blocks = 16; /* of each home */

	struct Memory {
		std::vector<std::byte> home;
		std::vector<std::byte> lines;
	};

	std::size_t lines = 8;
	directory::Options options;
	std::vector<BlockLog *> logs; /* one for each node; if empty, nothing is logged */
	std::vector<Memory> memories;
	std::unique_ptr<Net> net;
	std::vector<std::unique_ptr<Ask>> asked;

	void make(std::size_t count = nodes)
	{
		memories.assign(count, {});
		net = std::make_unique<Net>(count, [this](NodeId id, Coherence::Host &host) {
			Memory &memory = memories[id];
			memory.home.resize(blocks * block_size);
			memory.lines.resize(lines * block_size);
			directory::Options own = options;
			own.self = id;
			own.memory = memory.home;
			own.lines = memory.lines;
			own.log = id < logs.size() ? logs[id] : nullptr;
			return std::make_unique<Directory>(own, host);
		});
		net->on_ended = [](NodeId, Access &access) { static_cast<Ask &>(access).is_over = true; };
	}
	void SetUp() override { make(); }

	Directory &node(NodeId id) { return static_cast<Directory &>(net->node(id)); }
	static Address block(std::uint64_t number = 1, NodeId home = 0) { return {home, number * block_size}; }

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
		ask.is_over = prism::gam::begin(node(id), ask);
		return ask;
	}
	Ask &read(NodeId id, Address at) { return begin(id, AccessKind::read, at); }
	Ask &write(NodeId id, Address at, std::uint64_t value) { return begin(id, AccessKind::write, at, value); }
	Ask &add(NodeId id, Address at, std::uint64_t value) { return begin(id, AccessKind::atomic, at, value); }
	Ask &read_lock(NodeId id, Address at, ThreadId thread = 1)
	{
		return begin(id, AccessKind::read_lock, at, 0, thread);
	}
	Ask &write_lock(NodeId id, Address at, ThreadId thread = 1)
	{
		return begin(id, AccessKind::write_lock, at, 0, thread);
	}
	Ask &try_read_lock(NodeId id, Address at, ThreadId thread = 1)
	{
		return begin(id, AccessKind::read_lock, at, 0, thread, true);
	}
	Ask &try_write_lock(NodeId id, Address at, ThreadId thread = 1)
	{
		return begin(id, AccessKind::write_lock, at, 0, thread, true);
	}
	int unlock(NodeId id, Address at, ThreadId thread = 1)
	{
		Ask &ask = begin(id, AccessKind::unlock, at, 0, thread);
		EXPECT_TRUE(ask.is_over) << "nothing waits to unlock";
		return ask.error;
	}

	/** Runs until nothing moves; @p ask must be over then. Returns its value. */
	std::uint64_t result(Ask &ask)
	{
		EXPECT_TRUE(net->run());
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

	/** Returns the numbers of messages sent since the last call, by type. */
	std::map<Type, std::size_t> sent()
	{
		std::map<Type, std::size_t> types;
		for (const auto &[type, count] : net->count())
			types[static_cast<Type>(type)] = count;
		return types;
	}

	std::uint64_t refused()
	{
		std::uint64_t all = 0;
		for (NodeId id = 0; id < net->size(); id++)
			all += node(id).stats().refused;
		return all;
	}

	/** Checks that nothing is under way, and that lines and directory agree. */
	void expect_rest()
	{
		EXPECT_TRUE(net->run());
		EXPECT_EQ(refused(), 0U);
		for (NodeId id = 0; id < net->size(); id++) {
			if (net->is_dead(id))
				continue;
			EXPECT_TRUE(node(id).at_rest()) << id;
			for (NodeId home = 0; home < net->size(); home++) {
				for (std::uint64_t number = 0; home != id && number < blocks && !net->is_dead(home);
					number++)
					expect_agreement(id, block(number, home));
			}
		}
	}
	void expect_agreement(NodeId id, Address at)
	{
		const LineState state = node(id).line(at);
		const directory::Entry *entry = node(at.home()).entry(at);
		ASSERT_TRUE(entry);
		EXPECT_EQ(entry->owner == id, state == LineState::dirty) << id;
		EXPECT_TRUE(state != LineState::shared || (entry->sharers & bit(id))) << id;
	}
};

} // namespace gam_test
