/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two nodes of the latch protocol in one thread, each with its own device, which the other tests replace by plain
 * memory.
 */
#include "gam/one_sided/verbs_homes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "net.hpp"
#include "rpc/device/verbs_call_device.hpp"

using namespace prism;
using namespace prism::gam;

namespace
{

template <typename T>
T need(Result<T> result)
{
	if (!result)
		throw std::runtime_error(result.error().message);
	return *std::move(result);
}

class DeviceNode final : public latch::VerbsHomes::Sink
{
public:
	static constexpr std::uint64_t blocks = 8;
	static constexpr std::uint64_t spares = 16;
	static constexpr std::size_t lines = 4;

	explicit DeviceNode(NodeId id)
		: id_(id), pd_(need(ProtectionDomain::create(need(Context::open())))),
		  cq_(need(CompletionQueue::create(pd_.context(), 1024))), device_(pd_, cq_, nullptr),
		  homes_(need(latch::VerbsHomes::create(device_, id, {blocks, spares}, 64, *this)))
	{
		homes_->region().lend(1, blocks - 1);
	}
	/** Called once. */
	std::unique_ptr<Latch> make(Coherence::Host &host)
	{
		latch::Options options;
		options.self = id_;
		options.memory = need(homes_->allocate_lines(lines));
		options.region = &homes_->region();
		auto made = std::make_unique<Latch>(options, host, *homes_);
		latch_ = made.get();
		return made;
	}

	void meet(DeviceNode &other)
	{
		auto mine = need(homes_->open()), theirs = need(other.homes_->open());
		ASSERT_TRUE(mine->connect(theirs->endpoint()));
		ASSERT_TRUE(theirs->connect(mine->endpoint()));
		other_ = &other;
		other.other_ = this;
		pair_ = mine->number();
		other.pair_ = theirs->number();
		other.homes_->add(id_, std::move(theirs), homes_->memory());
		homes_->add(other.id_, std::move(mine), other.homes_->memory());
	}

	void poll()
	{
		std::array<Completion, 32> completions;
		const int count = device_.poll(completions);
		for (int i = 0; i < count; i++)
			EXPECT_TRUE(homes_->take(completions[static_cast<std::size_t>(i)]));
		(void)latch_->on_time(device_.now().time_since_epoch());
		homes_->flush_reports();
	}
	Latch &latch() { return *latch_; }
	latch::VerbsHomes &homes() { return *homes_; }
	bool reports = true;
	/** Returns true if it still has the queue pair to the other. */
	[[nodiscard]] bool has_pair() noexcept
	{
		Completion of_no_chain{};
		of_no_chain.qp_num = pair_;
		of_no_chain.wr_id = UINT64_MAX;
		return homes_->take(of_no_chain);
	}

private:
	void completed(std::uint64_t token, const latch::Outcome &outcome) override
	{
		latch_->completed(token, outcome);
	}
	void report(NodeId /*home*/, std::span<const std::uint64_t> buffers) override
	{
		if (reports)
			other_->homes_->freed(buffers);
	}

	const NodeId id_;
	ProtectionDomain pd_;
	CompletionQueue cq_;
	rpc::VerbsCallDevice device_;
	std::unique_ptr<latch::VerbsHomes> homes_;
	Latch *latch_ = nullptr;
	DeviceNode *other_ = nullptr;
	std::uint32_t pair_ = 0; /* number of the queue pair to it */
};

struct LatchDevice : testing::Test {
	std::array<std::unique_ptr<DeviceNode>, 2> nodes;
	std::optional<gam_test::Net> net;
	bool is_over = false; /* the last access */
	Access reading;
	std::uint64_t read_word = 0;

	void SetUp() override
	{
		if (Result<Context> context = Context::open(); !context)
			GTEST_SKIP() << "no device: " << context.error().message;
		for (NodeId id = 0; id < nodes.size(); id++)
			nodes[id] = std::make_unique<DeviceNode>(id);
		nodes[0]->meet(*nodes[1]);
		net.emplace(nodes.size(), [this](NodeId id, Coherence::Host &host) { return nodes[id]->make(host); });
		net->on_ended = [this](NodeId, Access &) { is_over = true; };
	}
	/** Starts to read a word. Returns true if it has ended at once. */
	bool start_read(NodeId id, Address at)
	{
		reading.at = at;
		reading.length = sizeof(read_word);
		reading.bytes = reinterpret_cast<std::byte *>(&read_word);
		return nodes[id]->latch().start(reading);
	}
	template <typename Done>
	void wait_until(Done done)
	{
		const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
		while (!done()) {
			ASSERT_LT(std::chrono::steady_clock::now(), limit);
			net->run();
			for (const auto &node : nodes)
				node->poll();
		}
	}
	std::uint64_t add(NodeId id, Address at, std::uint64_t value)
	{
		Access access;
		access.kind = AccessKind::atomic;
		access.at = at;
		access.length = sizeof(value);
		access.operand = value;
		is_over = nodes[id]->latch().start(access);
		wait_until([this] { return is_over; });
		EXPECT_EQ(access.error, 0);
		return access.old_value;
	}
};

/** Uses blocks of both homes, more than there are lines, so that they are handed over, evicted and fetched again. */
TEST_F(LatchDevice, EachSeesWhatTheOtherHasWritten)
{
	constexpr unsigned rounds = 200;
	for (unsigned round = 0; round < rounds && !HasFailure(); round++) {
		const Address at(static_cast<NodeId>(round % 2), (1 + round % 5) * block_size);
		const std::uint64_t before = add(0, at, 1);
		EXPECT_EQ(add(1, at, 1), before + 1);
	}
	std::uint64_t sum = 0;
	for (NodeId home = 0; home < 2; home++) {
		for (std::uint64_t number = 1; number <= 5; number++)
			sum += add(0, Address(home, number * block_size), 0);
	}
	EXPECT_EQ(sum, 2 * rounds);
	for (const auto &node : nodes) {
		node->latch().flush();
		wait_until([&node] { return node->latch().at_rest(); });
		EXPECT_EQ(node->latch().stats().events, 0U);
		EXPECT_EQ(node->latch().stats().refused, 0U);
		EXPECT_GT(node->latch().freed_buffers(), 0U);
	}
}

TEST_F(LatchDevice, WhoIsCutOffReachesNothing)
{
	add(1, Address(0, block_size), 5);
	nodes[0]->homes().cut_off(1);
	nodes[1]->homes().cut_off(0);
	for (const auto &node : nodes)
		node->latch().lost(node == nodes[0] ? 1 : 0);
	Access access;
	std::uint64_t value = 0;
	access.at = Address(0, block_size);
	access.length = sizeof(value);
	access.bytes = reinterpret_cast<std::byte *>(&value);
	is_over = nodes[1]->latch().start(access);
	wait_until([this] { return is_over; });
	EXPECT_EQ(access.error, EHOSTUNREACH);
	ASSERT_TRUE(nodes[0]->latch().has_let_go(1));
	nodes[0]->latch().sweep(1);
	wait_until([this] { return !nodes[0]->latch().is_sweeping(); });
	EXPECT_EQ(add(0, Address(0, block_size), 1), 0U) << "what was not written back is lost";
	wait_until([this] { return nodes[0]->latch().at_rest() && nodes[1]->latch().at_rest(); });
}

TEST_F(LatchDevice, BuffersThatTheDeadTookAlongAreFound)
{
	const auto write = [this](NodeId node, unsigned count) {
		for (unsigned i = 0; i < count && !HasFailure(); i++)
			add(node, Address(0, (1 + i % 5) * block_size), 1);
	};
	nodes[1]->reports = false;
	write(1, DeviceNode::lines + DeviceNode::blocks + DeviceNode::spares); /* each beyond the lines evicts one */
	nodes[0]->homes().cut_off(1);
	nodes[1]->homes().cut_off(0);
	nodes[0]->latch().lost(1);
	nodes[0]->latch().sweep(1);
	wait_until([this] { return !nodes[0]->latch().is_sweeping(); });
	ASSERT_TRUE(nodes[0]->homes().mark_buffers());
	while (!nodes[0]->homes().spare_some_buffers()) {}
	nodes[0]->homes().collect_buffers();
	write(0, 50);
	for (unsigned block = 1; block <= 5; block++)
		EXPECT_GE(add(0, Address(0, block * block_size), 0), 10U) << "a buffer in use was freed";
	nodes[0]->latch().flush();
	wait_until([this] { return nodes[0]->latch().at_rest(); });
}

/** Tests that a home hears when chains of before its question have ended. */
TEST_F(LatchDevice, ChainsEndInTheOrderOfPosting)
{
	latch::VerbsHomes &homes = nodes[1]->homes();
	EXPECT_TRUE(homes.have_ended(0, homes.posted_chains(0)));
	is_over = start_read(1, Address(0, block_size));
	const std::uint64_t posted = homes.posted_chains(0);
	EXPECT_FALSE(homes.have_ended(0, posted));
	wait_until([this] { return is_over; });
	EXPECT_TRUE(homes.have_ended(0, posted));
	homes.end(0);
	EXPECT_FALSE(homes.have_ended(0, posted)) << "the home may still execute what this node has given up";
	nodes[0]->meet(*nodes[1]);
	EXPECT_TRUE(homes.have_ended(0, posted));
	homes.cut_off(0);
	EXPECT_FALSE(homes.have_ended(0, 0));
}

/** Tests that a chain has not ended before its outcome is handled, although another queue pair stands. */
TEST_F(LatchDevice, ChainsOfAnEarlierQueuePairEndWhenTheirOutcomesAreHandled)
{
	latch::VerbsHomes &homes = nodes[1]->homes();
	is_over = start_read(1, Address(0, block_size));
	const std::uint64_t posted = homes.posted_chains(0);
	homes.end(0);
	nodes[0]->meet(*nodes[1]);
	EXPECT_FALSE(homes.have_ended(0, posted)) << "nobody has polled";
	wait_until([this] { return is_over; });
	EXPECT_TRUE(homes.have_ended(0, posted));
}

/** Tests that nodes that come and go leave no queue pairs behind. */
TEST_F(LatchDevice, AQueuePairGoesWhenNothingIsUnderWay)
{
	ASSERT_FALSE(start_read(0, Address(1, block_size)));
	nodes[0]->homes().cut_off(1);
	nodes[0]->homes().bury(1);
	EXPECT_TRUE(nodes[0]->has_pair());
	wait_until([this] { return is_over; });
	EXPECT_TRUE(nodes[0]->has_pair());
	nodes[0]->homes().bury(1);
	EXPECT_FALSE(nodes[0]->has_pair());
	wait_until([this] { return nodes[0]->latch().at_rest() && nodes[1]->latch().at_rest(); });
}

} // namespace
