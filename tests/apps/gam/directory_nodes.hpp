/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes that speak the directory protocol, on a Net. */
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "gam/directory/directory.hpp"
#include "nodes.hpp"

namespace gam_test
{

using directory::LineState;
using directory::Type;

struct DirectoryNodes : Nodes<Net, Directory> {
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

	void make(std::size_t count = nodes)
	{
		memories.assign(count, {});
		join(std::make_unique<Net>(count, [this](NodeId id, Coherence::Host &host) {
			Memory &memory = memories[id];
			memory.home.resize(blocks * block_size);
			memory.lines.resize(lines * block_size);
			directory::Options own = options;
			own.self = id;
			own.memory = memory.home;
			own.lines = memory.lines;
			own.log = id < logs.size() ? logs[id] : nullptr;
			return std::make_unique<Directory>(own, host);
		}));
	}
	void SetUp() override { make(); }

	/** Returns the numbers of messages sent since the last call, by type. */
	std::map<Type, std::size_t> sent()
	{
		std::map<Type, std::size_t> types;
		for (const auto &[type, count] : net->count())
			types[static_cast<Type>(type)] = count;
		return types;
	}

	/** Checks that nothing is under way, and that lines and directory agree. */
	void expect_rest()
	{
		EXPECT_TRUE(net->run());
		EXPECT_EQ(total().refused, 0U);
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
