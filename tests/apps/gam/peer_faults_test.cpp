/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Peers that lie, die and stop. */
#include "gam/transport/frame.hpp"
#include "peer_support.hpp"
#include "tests/unit/allocations.hpp"

#include <array>
#include <csignal>
#include <deque>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

using namespace peers;

/** Queue pair that leads nowhere. */
class FakePort final : public rpc::Port
{
public:
	FakePort(std::uint32_t number, bool &failed) : failed_(failed) { endpoint_.qp_num = number; }
	[[nodiscard]] const Endpoint &endpoint() const noexcept override { return endpoint_; }
	Result<void> connect(const Endpoint & /*peer*/) override { return {}; }
	[[nodiscard]] bool peer_speaks_prism() const noexcept override { return true; }
	[[nodiscard]] std::uint32_t max_inline_data() const noexcept override { return 0; }
	int post(ibv_send_wr * /*first*/) noexcept override { return 0; }
	int post_receive(std::uint64_t /*wr_id*/, LocalSlice /*into*/) noexcept override { return 0; }
	void fail() noexcept override { failed_ = true; }

private:
	Endpoint endpoint_;
	bool &failed_;
};

rpc::Memory plain_memory(std::size_t length)
{
	const auto bytes = std::make_shared<std::vector<std::byte>>(length);
	RemoteRegion region;
	region.length = length;
	return {bytes->data(), region, 0, bytes};
}

class FakePool final : public rpc::ReceivePool
{
public:
	FakePool(const rpc::Memory &memory, std::size_t size, std::uint32_t count) : ReceivePool(memory, size, count) {}
	int post(std::span<const std::uint32_t> buffers) noexcept override
	{
		posted += buffers.size();
		return 0;
	}
	std::size_t posted = 0;
};

class FakeDevice final : public rpc::CallDevice
{
public:
	Result<rpc::Memory> allocate(std::size_t length, unsigned /*flags*/) override { return plain_memory(length); }
	Result<rpc::Memory> adopt(
		std::shared_ptr<std::byte> /*pages*/, std::size_t /*length*/, unsigned /*flags*/) override
	{
		return make_error(EOPNOTSUPP, "not here");
	}
	Result<rpc::ListedMemory> allocate_listed(
		std::size_t /*length*/, const rpc::ListShape & /*shape*/, unsigned /*flags*/) override
	{
		return make_error(EOPNOTSUPP, "not here");
	}
	Result<std::unique_ptr<rpc::Port>> open(const rpc::PortOptions & /*options*/) override
	{
		return make_error(EOPNOTSUPP, "not here");
	}
	int poll(std::span<Completion> completions) noexcept override
	{
		if (next.empty())
			return 0;
		completions[0] = next.front();
		next.pop_front();
		return 1;
	}
	void leave_alone() noexcept override {}
	[[nodiscard]] Clock::time_point now() const noexcept override { return Clock::now(); }

	std::deque<Completion> next;
};

/** Peers with one pair, to node 1, whose frames the test makes. */
class PeerHostile : public ::testing::Test, public Peers::Events, public Network::Listener
{
protected:
	PeerHostile()
	{
		EXPECT_TRUE(peers_->add({1, 5}, std::make_unique<FakePort>(7, failed), Peers::Begin::open).ok());
	}

	/** Delivers @p frame as if from node 1. */
	void come(std::span<const std::byte> frame)
	{
		std::copy(frame.begin(), frame.end(), memory_.data());
		Completion completion;
		completion.byte_len = static_cast<std::uint32_t>(frame.size());
		completion.opcode = IBV_WC_RECV;
		completion.qp_num = 7;
		device_->next.push_back(completion);
		(void)peers_->poll(*this);
	}
	static std::vector<std::byte> frame(std::uint16_t messages, std::uint32_t acknowledged = 0)
	{
		std::vector<std::byte> bytes(FrameHeader::size + messages * Message::header_size);
		FrameHeader{messages, acknowledged}.serialize(bytes.data());
		for (std::uint16_t i = 0; i < messages; i++)
			Message().serialize(&bytes[FrameHeader::size + i * Message::header_size]);
		return bytes;
	}
	void heard(NodeId from, const Message & /*message*/) override { heard_count += from == 1; }
	void broken(NodeId node, int error) noexcept override { broken_for = node == 1 ? error : -1; }

	bool failed = false;
	int heard_count = 0;
	int broken_for = 0;
	PeerOptions options_;
	rpc::Memory memory_ = plain_memory(options_.sizes.frame_bytes);

private:
	PeerDevice make_device()
	{
		auto device = std::make_unique<FakeDevice>();
		device_ = device.get();
		auto pool = std::make_unique<FakePool>(memory_, options_.sizes.frame_bytes, 1);
		return {std::move(pool), std::move(device)};
	}

protected:
	FakeDevice *device_ = nullptr;
	std::unique_ptr<Peers> peers_ = std::make_unique<Peers>(make_device(), options_, *this);
};

TEST_F(PeerHostile, WhatIsRightIsHeard)
{
	come(frame(3));
	EXPECT_EQ(heard_count, 3);
	EXPECT_FALSE(failed);
}

TEST_F(PeerHostile, AFrameThatIsNoneEndsThePairAndNothingOfItIsHeard)
{
	std::vector<std::byte> bytes = frame(3);
	bytes.pop_back();
	come(bytes);
	EXPECT_EQ(heard_count, 0);
	EXPECT_TRUE(failed);
	EXPECT_EQ(broken_for, EPROTO);
	EXPECT_EQ(peers_->stats().bad_frames, 1u);
	come(frame(1));
	EXPECT_EQ(heard_count, 0) << "nothing that it sends is heard any more";
	EXPECT_EQ(peers_->try_send(1, Message()), ENOTCONN);
}

TEST_F(PeerHostile, AcknowledgementsOfWhatWasNotSentEndIt)
{
	come(frame(1, 1));
	EXPECT_EQ(heard_count, 0);
	EXPECT_EQ(broken_for, EPROTO);
}

TEST_F(PeerHostile, EmptyFramesThatSayNothingEndIt)
{
	come(frame(0));
	EXPECT_EQ(broken_for, EPROTO);
}

TEST_F(PeerHostile, CutOffIsForGoodAndNotToldAsBroken)
{
	peers_->cut_off(1);
	EXPECT_TRUE(failed);
	come(frame(1));
	EXPECT_EQ(heard_count, 0);
	EXPECT_EQ(broken_for, 0);
	EXPECT_FALSE(peers_->connected({1, 5}));
}

/** A full backlog ends the pair, so what nobody waits for leaves half of it to others. */
/* A node whose memory has run out ended when it wanted to answer. */
TEST_F(PeerHostile, WhatWaitsForAPeerNeedsNoMoreMemory)
{
	std::array<std::byte, block_size> data{};
	Message message;
	message.data = data;
	std::size_t bytes = 0;
	int error = 0;
	test::allocations_left = 0;
	for (; !error; bytes += message.size())
		error = peers_->try_send(1, message);
	peers_->send(1, message);
	(void)peers_->poll(*this);
	test::allocations_left = -1;
	EXPECT_EQ(error, ENOBUFS);
	EXPECT_GT(bytes, options_.sizes.backlog);
	EXPECT_EQ(broken_for, EIO) << "the end of the pair needs none either";
}

TEST_F(PeerHostile, APeerThatTakesNothingHasNoRoomLongBeforeThePairEnds)
{
	std::size_t sent = 0;
	EXPECT_TRUE(peers_->has_room(1));
	for (; peers_->has_room(1); sent++)
		peers_->send(1, Message());
	EXPECT_NEAR(static_cast<double>(sent * Message::header_size), static_cast<double>(options_.sizes.backlog) / 2,
		2 * Message::header_size);
	for (std::size_t i = 0; i + 2 < sent; i++)
		EXPECT_EQ(peers_->try_send(1, Message()), 0);
	EXPECT_FALSE(failed);
	EXPECT_FALSE(peers_->has_room(1));
	peers_->cut_off(1);
	EXPECT_TRUE(peers_->has_room(1)) << "what is dropped need not wait";
	EXPECT_TRUE(peers_->has_room(2));
}

TEST(PeerFrame, AnyBytesAreJudgedInsideOfThem)
{
	std::minstd_rand random(17);
	int right = 0;
	for (int i = 0; i < 100000; i++) {
		std::vector<std::byte> bytes(random() % 120);
		for (std::byte &byte : bytes)
			byte = random() % 3 ? std::byte{0} : static_cast<std::byte>(random());
		if (bytes.size() > 1 && random() % 2)
			bytes[1] = static_cast<std::byte>((bytes.size() - 2) / 32);
		right += FrameHeader::parse(bytes).has_value();
	}
	EXPECT_GT(right, 0) << "else this shows nothing";
}

/**
 * Runs a node in its own process, which sends to node 0 until it is expelled. @p ports: pipe that delivers the master's
 * port. Exits with 42 if its membership and its pair are over then.
 */
[[noreturn]] void be_sender(int ports)
{
	std::uint16_t port = 0;
	if (read(ports, &port, sizeof(port)) != static_cast<ssize_t>(sizeof(port)))
		_exit(1);
	TestNode node(port);
	node.enter();
	node.run();
	/* Send after the expulsion, too: such messages must end the pair, not arrive. */
	while (!node.expelled_for || !node.broken_count) {
		(void)node.links().try_send(0, Message());
		node.links().flush();
		std::this_thread::sleep_for(10us);
	}
	_exit(node.broken_count == 1 && node.expelled_for == ESTALE && node.membership().lease_until() == Time(0) ? 42
														  : 1);
}

class PeerDeath : public ::testing::Test
{
protected:
	void SetUp() override
	{
		std::array<int, 2> ports{};
		ASSERT_EQ(pipe(ports.data()), 0);
		child = fork(); /* before this process has threads */
		if (!child)
			be_sender(ports[0]);
		master_ = std::make_unique<MasterThread>(1000ms);
		node = std::make_unique<TestNode>(master_->port(), [this](NodeId, const Message &) { heard++; });
		node->enter();
		node->run();
		const std::uint16_t port = master_->port();
		ASSERT_EQ(write(ports[1], &port, sizeof(port)), static_cast<ssize_t>(sizeof(port)));
		(void)close(ports[0]);
		(void)close(ports[1]);
		ASSERT_TRUE(wait_until([this] { return heard > 100; }));
	}
	/**
	 * Checks that the child's death is seen, that its pair is gone, and that its number is free once it is reported
	 * as swept.
	 */
	void expect_death() const
	{
		const auto state = [this]() -> std::optional<NodeState> {
			const View view = node->view();
			const Member *const other = view.find(1);
			return other ? std::optional(other->state) : std::nullopt;
		};
		ASSERT_TRUE(wait_until([&] { return state() == NodeState::dead; }));
		ASSERT_TRUE(wait_until([&] { return !node->links().peer(1); })) << "the pair is forgotten";
		const Result<void> swept = node->membership().swept(1, node->view().epoch);
		EXPECT_TRUE(swept.ok());
		EXPECT_TRUE(wait_until([&] { return !state(); }));
	}

	pid_t child = -1;
	std::unique_ptr<TestNode> node;
	std::atomic<std::uint64_t> heard{0};

private:
	std::unique_ptr<MasterThread> master_;
};

TEST_F(PeerDeath, WhoIsKilledWhileItSendsIsDeclaredDeadAndSwept)
{
	ASSERT_EQ(kill(child, SIGKILL), 0);
	ASSERT_EQ(waitpid(child, nullptr, 0), child);
	expect_death();
}

TEST_F(PeerDeath, WhoStopsBeyondItsLeaseFindsItsPairsEnded)
{
	ASSERT_EQ(kill(child, SIGSTOP), 0);
	expect_death();
	const std::uint64_t before = heard;
	ASSERT_EQ(kill(child, SIGCONT), 0);
	int status = 0;
	ASSERT_EQ(waitpid(child, &status, 0), child);
	EXPECT_EQ(WEXITSTATUS(status), 42);
	EXPECT_EQ(heard, before) << "it was cut off";
}

/** Member that refuses all who connect, with an error that could be of their own side. */
class Refusing final : public Told, private apps::Reception::Host
{
public:
	explicit Refusing(std::uint16_t master) : membership_(membership_at(master))
	{
		Result<TcpListener> listener = TcpListener::create(0, "127.0.0.1");
		reception_ = *apps::Reception::create(*std::move(listener), apps::Hello{node_kind}, patience);
		Newcomer me;
		me.host = "127.0.0.1";
		me.port = reception_->port();
		EXPECT_TRUE(membership_->join(me, *this).ok());
		thread_ = std::jthread([this](const std::stop_token &stop) {
			for (; !stop.stop_requested(); std::this_thread::sleep_for(1ms))
				reception_->serve(*this);
		});
	}

	std::atomic<int> attempts{0};

private:
	Result<std::unique_ptr<apps::Reception::AcceptedConnection>> on_connect(const apps::Reception::Link & /*link*/,
		const ConnectionRecord & /*theirs*/, ConnectionRecord & /*mine*/) override
	{
		attempts++;
		return make_error(EEXIST, "there is a pair already");
	}
	void refused(const Error & /*why*/) noexcept override {}

	std::unique_ptr<Membership> membership_;
	std::unique_ptr<apps::Reception> reception_;
	std::jthread thread_; /* declared last: it uses the others */
};

/* Tests a peer that still has the pair of an attempt that has failed here. */
TEST(PeerMeeting, WhoIsRefusedTriesAgain)
{
	MasterThread master(2000ms);
	Refusing peer(master.port());
	TestNode node(master.port());
	ASSERT_TRUE(node.join().ok());
	EXPECT_TRUE(wait_until([&] { return peer.attempts > 2; })) << peer.attempts;
	const Result<void> met = node.meeting().wait(10ms);
	EXPECT_EQ(met.error().code, ETIMEDOUT);
	EXPECT_NE(met.error().message.find("there is a pair already"), std::string::npos) << met.error().message;
}

TEST(PeerMeeting, WhoEndsDoesNotWaitForAMemberThatStandsStill)
{
	const MasterThread master(1000ms);
	Result<TcpListener> silent = TcpListener::create(0, "127.0.0.1");
	ASSERT_TRUE(silent.ok());
	Told told;
	const std::unique_ptr<Membership> stands_still = membership_at(master.port());
	Newcomer who;
	who.host = "127.0.0.1";
	who.port = silent->port();
	ASSERT_TRUE(stands_still->join(who, told).ok());
	MeetingOptions patient;
	patient.timeout = 1h;
	auto node = std::make_unique<TestNode>(master.port(), TestNode::Heard(), PeerOptions(), patient);
	ASSERT_TRUE(node->join().ok());
	const Result<TcpRendezvous> link = silent->accept(patience);
	ASSERT_TRUE(link.ok());
	node.reset();
}

} // namespace
