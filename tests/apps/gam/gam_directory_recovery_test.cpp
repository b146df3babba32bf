/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Deaths of a directory protocol's home at any message, perhaps with another node, and its recovery from real logs:
 * values that another node has read, or that were durable, are there.
 */
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "directory_nodes.hpp"
#include "folder.hpp"
#include "gam/membership/home_recovery.hpp"
#include "gam/membership/log_keeper.hpp"
#include "gam/membership/node_log.hpp"
#include "gam/membership/policy_log.hpp"
#include "gam/membership/witness.hpp"

using namespace gam_test;

namespace
{

constexpr NodeId home = 0;
constexpr NodeId mortal = 3; /* sometimes dies with the home */

std::uint64_t version_of(const std::byte *data)
{
	std::uint64_t version = 0;
	std::memcpy(&version, data, sizeof(version));
	return version;
}

struct DirectoryRecovery : DirectoryNodes {
	/* Node in the conversation */
	struct Member final : Witness::Node {
		DirectoryRecovery *test = nullptr;
		NodeId self = 0;
		bool has_lines = true;
		std::unique_ptr<Witness> witness;
		std::vector<std::byte> bytes; /* of the last line looked at */

		void send(NodeId to, const Message &message) override { test->post(self, to, message); }
		void for_each_line(NodeId of, const std::function<void(Address, const HeldLine &)> &visit) override
		{
			if (!has_lines)
				return;
			test->node(self).for_each_line(
				of, [&](Address at, LineState state, std::uint64_t term, const std::byte *data) {
					visit(at, {state == LineState::dirty, term, {data, block_size}});
				});
		}
		std::optional<HeldLine> line(Address block) override
		{
			std::optional<HeldLine> found;
			for_each_line(block.home(), [&](Address at, const HeldLine &line) {
				if (at != block)
					return;
				bytes.assign(line.data.begin(), line.data.end());
				found = HeldLine{line.dirty, line.counter, bytes};
			});
			return found;
		}
		void drop(Address block) override { test->node(self).drop(block); }
		[[nodiscard]] std::uint64_t since() const override { return 1; }
		std::unique_ptr<LoggedBlocks> logged(NodeId of, std::uint64_t) override
		{
			return test->read_log(self, of);
		}
		void recovered(NodeId of) override
		{
			if (has_lines)
				test->node(self).joined(of);
		}
	};
	/* Home that returns */
	struct Returned final : HomeRecovery::Home {
		DirectoryRecovery *test = nullptr;
		std::map<std::uint64_t, Verdict> verdicts;
		std::map<std::uint64_t, std::uint64_t> versions;

		void send(NodeId to, const Message &message) override { test->post(home, to, message); }
		[[nodiscard]] std::uint64_t since() const override { return 1; }
		[[nodiscard]] std::uint64_t life_of(NodeId) const override { return 1; }
		void settled(Address at, const Verdict &verdict, std::span<const std::byte, block_size> value) override
		{
			verdicts[at.block_number()] = verdict;
			if (verdict.kind != Verdict::Kind::waits)
				versions[at.block_number()] = version_of(value.data());
			test->check(at.block_number(), verdict, value.data());
		}
	};

	void SetUp() override {}

	/* Runs all nodes with logs of their own; @p seed gives the accesses */
	void live(std::uint64_t seed, bool durable)
	{
		random.seed(static_cast<std::uint32_t>(seed * 2654435761U + 1));
		promised.fill(0);
		latest = 0;
		asked.clear();
		logs.clear();
		policies.clear();
		node_logs.clear();
		for (NodeId id = 0; id < nodes; id++) {
			LogOptions log_options;
			log_options.folder = folder.path() / std::to_string(seed) / std::to_string(id);
			log_options.node = id;
			log_options.segment_bytes = 1 << 16;
			auto log = NodeLog::open(log_options);
			ASSERT_TRUE(log.ok()) << log.error().message;
			node_logs.push_back(std::move(*log));
			policies.push_back(std::make_unique<PolicyLog>(*node_logs.back(), durable));
			logs.push_back(policies.back().get());
		}
		lines = 4;
		make();
		if (seed % 4 == 0)
			node(home).set_loggers(0); /* it logs what comes back to it */
		std::map<std::uint64_t, NodeId> writers;
		const auto accesses = 5 + random() % 60;
		for (std::uint64_t i = 0; i < accesses; i++) {
			const auto id = static_cast<NodeId>(random() % nodes);
			const std::uint64_t number = random() % used;
			const bool writes = random() % 2;
			const Ask &ask = writes ? write(id, block(number), latest + 1) : read(id, block(number));
			if (writes)
				writers[++latest] = id;
			if (i + 1 == accesses) {
				for (NodeId other = 0; i % 2 && other < nodes; other++)
					node(other).flush(); /* what is evicted may be read meanwhile */
				for (auto steps = random() % 8; steps > 0; steps--)
					(void)net->step();
			} else {
				ASSERT_TRUE(net->run());
			}
			if (!ask.is_over)
				continue;
			ASSERT_EQ(ask.error, 0);
			if (writes ? durable : ask.value && writers.at(ask.value) != id)
				promised[number] = std::max(promised[number], writes ? latest : ask.value);
			if (random() % 10 == 0)
				node(id).flush();
		}
	}

	void post(NodeId from, NodeId to, const Message &message)
	{
		std::vector<std::byte> bytes(message.size());
		message.serialize(bytes.data());
		mail.push_back({from, to, std::move(bytes)});
	}

	std::unique_ptr<LoggedBlocks> read_log(NodeId id, NodeId of)
	{
		auto blocks = std::make_unique<LoggedBlocks>(of);
		EXPECT_TRUE(node_logs[id]
				    ->scan([&](const Entry &entry) {
					    if (entry.kind != ignored)
						    blocks->add(entry);
				    })
				    .ok());
		blocks->miss(node_logs[id]->missing());
		blocks->add({EntryKind::allocation, no_node, Address(of, 0), used * block_size, 1, 1, {}, false, 0, 1});
		return blocks;
	}

	void check(std::uint64_t number, const Verdict &verdict, const std::byte *value)
	{
		const std::byte *data = value;
		switch (verdict.kind) {
		case Verdict::Kind::owned:
			wrong += node(verdict.node).line(block(number), &data) != LineState::dirty;
			break;
		case Verdict::Kind::waits:
			wrong += !is_mortal_away || verdict.node != mortal;
			return;
		case Verdict::Kind::lost:
			wrong++;
			return;
		case Verdict::Kind::own:
		case Verdict::Kind::taken:
			break;
		}
		wrong += version_of(data) < promised[number] || version_of(data) > latest;
	}

	/* Exchanges questions and answers until there are none left */
	void talk(HomeRecovery &recovery)
	{
		for (; !mail.empty(); mail.pop_front()) {
			const auto &[from, to, bytes] = mail.front();
			const auto message = Message::parse(bytes);
			ASSERT_TRUE(message);
			if (to == home) {
				ASSERT_TRUE(recovery.hear(from, *message));
			} else {
				ASSERT_TRUE(members[to].witness->hear(from, *message));
			}
		}
	}

	void die_and_return(bool with_another)
	{
		is_mortal_away = with_another;
		net->kill(home);
		if (with_another)
			net->kill(mortal);
		net->tell_of(home);
		if (with_another)
			net->tell_of(mortal);
		members = {};
		for (NodeId id = 1; id < nodes; id++) {
			members[id].test = this;
			members[id].self = id;
			members[id].witness = std::make_unique<Witness>(members[id]);
		}
		Returned returned;
		returned.test = this;
		HomeRecovery recovery(home, 2, blocks, HomeRecovery::Scope::all, read_log(home, home), returned);
		std::map<std::pair<NodeId, std::uint64_t>, std::uint64_t> copies; /* versions */
		for (NodeId id = 1; id < nodes; id++) {
			if (with_another && id == mortal)
				continue;
			members[id].for_each_line(home, [&](Address at, const HeldLine &line) {
				if (!line.dirty)
					copies[{id, at.block_number()}] = version_of(line.data.data());
			});
		}
		recovery.begin(with_another ? 0b0110 : 0b1110);
		talk(recovery);
		ASSERT_TRUE(recovery.is_done());
		for (const auto &[copy, version] : copies) {
			const auto &[id, number] = copy;
			const bool is_newest =
				returned.versions.contains(number) && returned.versions[number] == version;
			wrong += is_newest && node(id).line(block(number)) != LineState::shared; /* it may be locked */
			kept += is_newest;
		}
		waited += recovery.waiting();
		if (with_another) {
			is_mortal_away = false;
			members[mortal].has_lines = false;
			recovery.returned(mortal);
			talk(recovery);
			EXPECT_EQ(recovery.waiting(), 0U);
		}
		for (std::uint64_t number = 0; number < used; number++) {
			wrong += !returned.verdicts.contains(number) && promised[number];
		}
		for (const auto &[number, verdict] : returned.verdicts) {
			owned += verdict.kind == Verdict::Kind::owned;
			taken += verdict.kind == Verdict::Kind::taken;
		}
	}

	void TearDown() override { node_logs.clear(); }

	static constexpr std::uint64_t used = 6; /* blocks */
	const gam_test::Folder folder;
	struct Letter {
		NodeId from;
		NodeId to;
		std::vector<std::byte> bytes;
	};
	std::vector<std::unique_ptr<NodeLog>> node_logs;
	std::vector<std::unique_ptr<PolicyLog>> policies;
	std::array<Member, nodes> members;
	std::deque<Letter> mail;
	std::array<std::uint64_t, used> promised{}; /* versions */
	std::uint64_t latest = 0;
	bool is_mortal_away = false;
	std::minstd_rand random;
	EntryKind ignored = EntryKind{0}; /* kind of entries that a flawed recovery ignores */
	std::size_t wrong = 0;
	std::size_t waited = 0;
	std::size_t owned = 0;
	std::size_t taken = 0;
	std::size_t kept = 0; /* copies */
};

TEST_F(DirectoryRecovery, WhatWasSeenIsThere)
{
	for (std::uint64_t seed = 1; seed <= 400; seed++) {
		live(seed, seed % 2);
		if (HasFatalFailure())
			return;
		die_and_return(seed % 3 == 0);
		ASSERT_EQ(wrong, 0U) << "seed " << seed;
	}
	EXPECT_GT(waited, 10U);
	EXPECT_GT(owned, 50U);
	EXPECT_GT(taken, 50U);
	EXPECT_GT(kept, 50U);
}

/* Controls: recovery ignores one kind of entry. */
TEST_F(DirectoryRecovery, TransfersAreNeeded)
{
	ignored = EntryKind::transfer;
	for (std::uint64_t seed = 1; seed <= 100 && !wrong; seed++) {
		live(seed, seed % 2);
		die_and_return(seed % 3 == 0);
	}
	EXPECT_GT(wrong, 0U);
}

TEST_F(DirectoryRecovery, ValuesAreNeeded)
{
	ignored = EntryKind::data;
	for (std::uint64_t seed = 1; seed <= 100 && !wrong; seed++) {
		live(seed, seed % 2);
		die_and_return(seed % 3 == 0);
	}
	EXPECT_GT(wrong, 0U);
}

/* A home with fewer blocks than in an earlier life, and a node that answers it */
struct Smaller : HomeRecovery::Home {
	static constexpr std::uint64_t blocks = 4;
	HomeRecovery recovery{home, 2, blocks, HomeRecovery::Scope::all, std::make_unique<LoggedBlocks>(home), *this};
	std::vector<std::uint64_t> dropped; /* numbers of blocks */

	void send(NodeId, const Message &message) override
	{
		if (message.type == static_cast<std::uint8_t>(RecoveryMessage::drop))
			dropped.push_back(message.block.block_number());
	}
	[[nodiscard]] std::uint64_t since() const override { return 1; }
	[[nodiscard]] std::uint64_t life_of(NodeId) const override { return 1; }
	void settled(Address, const Verdict &, std::span<const std::byte, block_size>) override {}

	/* Says what node 1 has; @p next: 0 if there is no more */
	bool have(const std::vector<Item> &items, std::uint64_t next = 0)
	{
		Message message;
		message.type = static_cast<std::uint8_t>(RecoveryMessage::have);
		message.request = 2;
		message.flags = next ? 0 : have_last;
		message.counter = next ? next : 1;
		const auto data = serialize(items);
		message.data = data;
		return recovery.hear(1, message);
	}
};

TEST(HomeRecovery, CopiesBeyondTheEndAreDropped)
{
	Smaller smaller;
	smaller.recovery.begin(bit(1));
	EXPECT_TRUE(smaller.have({{Smaller::blocks + 1, Holding::shared, 3}}, Smaller::blocks + 100));
	EXPECT_TRUE(smaller.have({{Smaller::blocks + 100, Holding::shared, 3}}));
	EXPECT_TRUE(smaller.recovery.is_over());
	EXPECT_FALSE(smaller.recovery.failure());
	EXPECT_EQ(smaller.dropped, (std::vector<std::uint64_t>{Smaller::blocks + 1, Smaller::blocks + 100}));
}

TEST(HomeRecovery, ValuesBeyondTheEndNeedTheMemory)
{
	for (const Holding holding : {Holding::dirty, Holding::logged}) {
		Smaller smaller;
		smaller.recovery.begin(bit(1));
		EXPECT_TRUE(smaller.have({{9, holding, 3}}, 11));
		EXPECT_TRUE(smaller.have({{11, holding, 3}}));
		EXPECT_FALSE(smaller.recovery.is_done());
		ASSERT_TRUE(smaller.recovery.failure());
		EXPECT_EQ(smaller.recovery.failure()->code, EINVAL);
		EXPECT_NE(smaller.recovery.failure()->message.find("6144 bytes"), std::string::npos)
			<< smaller.recovery.failure()->message;
		EXPECT_TRUE(smaller.dropped.empty());
	}
}

TEST(HomeRecovery, ARefusedAnswerEndsTheWait)
{
	Smaller smaller;
	smaller.recovery.begin(bit(1));
	EXPECT_FALSE(smaller.have({{3, Holding::shared, 3}}, 2));
	ASSERT_TRUE(smaller.recovery.failure());
	EXPECT_EQ(smaller.recovery.failure()->code, EPROTO);
	EXPECT_NE(smaller.recovery.failure()->message.find("node 1"), std::string::npos);
}

TEST(HomeRecovery, WhatIsSaidTwiceEndsNothing)
{
	Smaller smaller;
	smaller.recovery.begin(bit(1) | bit(2));
	EXPECT_TRUE(smaller.have({}));
	EXPECT_FALSE(smaller.have({}));
	EXPECT_FALSE(smaller.recovery.failure());
}

/* Checks that a log stays small, and tells of the gap for good, if a segment is damaged while the node runs. */
TEST(NodeLog, ASegmentThatIsDamagedWhileTheNodeRuns)
{
	constexpr std::size_t above = 8;
	constexpr std::uint64_t per_segment = 7;
	enum class Damage : std::uint8_t {
		head,
		entry,
		gone
	};
	for (const Damage damage : {Damage::head, Damage::entry, Damage::gone}) {
		const gam_test::Folder folder;
		LogOptions options;
		options.folder = folder.path();
		options.segment_bytes = 4096;
		auto log = NodeLog::open(options);
		ASSERT_TRUE(log.ok());
		std::uint64_t written = 0;
		const auto append = [&](std::uint64_t number) {
			const std::vector<std::byte> value(block_size, static_cast<std::byte>(number));
			written++;
			return (*log)->append(
				{EntryKind::data, no_node, Address(home, number * block_size), written, 0, 0, value});
		};
		while (written < 4 * per_segment)
			ASSERT_EQ(append(written), 0);
		const auto second = folder.path() / "0000000000000002.log";
		if (damage == Damage::gone) {
			std::filesystem::remove(second);
		} else {
			std::fstream file(second, std::ios::in | std::ios::out | std::ios::binary);
			file.seekp(damage == Damage::head ? 30 : 128 + 100);
			file << "damage";
		}
		EXPECT_EQ((*log)->trouble(), "");
		LogKeeper keeper(**log, {.compact_above = above});
		while (written < 100 * per_segment)
			ASSERT_EQ(append(100 + written % 10), 0);
		const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
		while ((*log)->segments() > above && std::chrono::steady_clock::now() < end)
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		EXPECT_LE((*log)->segments(), above) << (*log)->trouble();
		EXPECT_NE((*log)->trouble().find("0000000000000002.log"), std::string::npos);
		ASSERT_EQ((*log)->missing().size(), 1U);
		EXPECT_EQ((*log)->missing().front().first, per_segment + 1);
		EXPECT_FALSE((*log)->missing().front().failed);
	}
}

/* Checks that the gap is told by a head before the segment, and what would tell of it, is removed. */
TEST(NodeLog, AGapThatCompactionFindsIsKnownInTheNextLife)
{
	const gam_test::Folder folder;
	LogOptions options;
	options.folder = folder.path();
	options.segment_bytes = 4096;
	const std::vector<std::byte> value(block_size);
	{
		auto log = NodeLog::open(options);
		ASSERT_TRUE(log.ok());
		for (std::uint64_t i = 1; i <= 28; i++)
			ASSERT_EQ((*log)->append({EntryKind::data, no_node, Address(home, i % 2 * block_size), i, 0, 0,
					  value}),
				0);
		std::filesystem::remove(folder.path() / "0000000000000001.log");
		EXPECT_TRUE((*log)->compact().ok());
	}
	options.incarnation = 1;
	auto log = NodeLog::open(options);
	ASSERT_TRUE(log.ok());
	ASSERT_EQ((*log)->missing().size(), 1U);
	EXPECT_EQ((*log)->missing().front().first, 1U);
}

} // namespace
