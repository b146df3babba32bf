/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Messages between nodes: all arrive, once, in order, whatever their sizes. */
#include "peer_support.hpp"

#include <array>
#include <cstring>
#include <random>

namespace
{

using namespace peers;

/**
 * Messages that a node has heard. They must be those that each other node sent: counters without a gap, and the right
 * bytes.
 */
class Ledger
{
public:
	void hear(NodeId from, const Message &message)
	{
		const std::uint64_t expected = next_.at(from)++;
		const bool right = message.counter == expected && message.node == from &&
				   message.data.size() == (expected % 3 ? 0 : block_size) &&
				   std::all_of(message.data.begin(), message.data.end(), [&](std::byte byte) {
					   return byte == static_cast<std::byte>(expected * 7);
				   });
		wrong_ += right ? 0 : 1;
		heard_++;
	}
	[[nodiscard]] std::uint64_t heard() const { return heard_; }
	[[nodiscard]] std::uint64_t wrong() const { return wrong_; }

private:
	std::array<std::uint64_t, max_nodes> next_{};
	std::atomic<std::uint64_t> heard_{0};
	std::atomic<std::uint64_t> wrong_{0};
};

/** Sends message @p number; waits while too many are under way. */
int send_numbered(TestNode &node, NodeId to, std::uint64_t number)
{
	std::array<std::byte, block_size> data;
	data.fill(static_cast<std::byte>(number * 7));
	Message message;
	message.type = 1;
	message.node = node.id();
	message.counter = number;
	message.block = Address(to, block_size);
	if (number % 3 == 0)
		message.data = data;
	int error = 0;
	while ((error = node.links().try_send(to, message)) == ENOBUFS)
		node.poll();
	return error;
}

TEST(PeerMessages, OneMessageComes)
{
	MasterThread master(2000ms);
	std::atomic<int> count{0};
	TestNode one(master.port(), [&](NodeId, const Message &) { count++; });
	one.enter();
	TestNode other(master.port());
	other.enter();
	ASSERT_TRUE(wait_until([&] { return one.knows(other) && other.knows(one); }));
	ASSERT_EQ(send_numbered(other, one.id(), 0), 0);
	ASSERT_TRUE(wait_until([&] {
		other.poll();
		one.poll();
		return count == 1;
	}));
}

TEST(PeerMessages, AllComeOnceAndInOrder)
{
	constexpr std::uint64_t each = 50000;
	MasterThread master(2000ms);
	std::array<Ledger, 3> ledgers;
	std::vector<std::unique_ptr<TestNode>> nodes;
	for (Ledger &ledger : ledgers) {
		nodes.push_back(std::make_unique<TestNode>(
			master.port(), [&](NodeId from, const Message &message) { ledger.hear(from, message); }));
		nodes.back()->enter();
	}
	for (auto &node : nodes)
		node->run();
	std::vector<std::thread> senders;
	for (auto &from : nodes) {
		senders.emplace_back([&nodes, &from] {
			std::minstd_rand random(from->id());
			for (std::uint64_t number = 0; number < each; number++) {
				for (auto &to : nodes)
					if (to != from && send_numbered(*from, to->id(), number))
						return;
				if (random() % 8 == 0)
					from->links().flush();
			}
			from->links().flush();
		});
	}
	for (std::thread &sender : senders)
		sender.join();
	for (Ledger &ledger : ledgers) {
		EXPECT_TRUE(wait_until([&] { return ledger.heard() == 2 * each; })) << ledger.heard();
		EXPECT_EQ(ledger.wrong(), 0u);
	}
	for (auto &node : nodes) {
		const PeerStats stats = node->links().stats();
		EXPECT_EQ(stats.messages_sent, 2 * each);
		EXPECT_LT(stats.frames_sent, 2 * each) << "several share a frame";
		EXPECT_EQ(stats.bad_frames + stats.broken, 0u);
	}
}

} // namespace
