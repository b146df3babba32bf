/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Many queue pairs write to one receiver at once, whose socket buffer is small and drops what does not fit. */
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "node.hpp"

namespace
{

using namespace prism::test;
using prism::soft::Time;

constexpr std::uint32_t message = 64 << 10;
constexpr std::uint32_t room = 128 << 10; /* room of a default socket buffer */
constexpr std::uint64_t base = 0x100000;
constexpr std::uint32_t rights = prism::soft::access_local_write | prism::soft::access_remote_write;

/** One side's socket buffer; it is read at a given rate. */
class Socket
{
public:
	void put(const Node &from, const Packet &packet)
	{
		if (held_ + packet.bytes.size() > room) {
			dropped++;
			return;
		}
		held_ += packet.bytes.size();
		packets_.push_back({from.address, packet.bytes});
	}

	void read(std::size_t bytes, Node &to, Time now)
	{
		while (!packets_.empty() && packets_.front().bytes.size() <= bytes) {
			const Held packet = std::move(packets_.front());
			packets_.pop_front();
			bytes -= packet.bytes.size();
			held_ -= packet.bytes.size();
			to.engine.receive({packet.from, {}}, packet.bytes, now);
		}
	}

	std::uint64_t dropped = 0;

private:
	struct Held {
		prism::soft::Address from;
		std::vector<std::uint8_t> bytes;
	};
	std::deque<Held> packets_;
	std::size_t held_ = 0;
};

class Incast : public testing::Test
{
protected:
	explicit Incast(std::size_t contexts = 1, std::uint32_t receive_room = room)
	{
		for (std::size_t i = 0; i < contexts; i++)
			writers_.push_back(std::make_unique<Node>(static_cast<std::uint8_t>(i + 2), 0x100, 2048,
				prism::soft::SharedByEngines{nullptr, nullptr, receive_room}));
	}

	/** Makes @p count connections, from the writing contexts in turn, and posts @p messages WRITEs on each. */
	void connect(std::size_t count, int messages)
	{
		const std::uint32_t rkey = key_of(receiver_);
		ConnectOptions options;
		options.ack_timeout = 20'000'000;
		for (std::size_t i = 0; i < count; i++) {
			Node &writer = *writers_[i % writers_.size()];
			targets_.push_back(std::make_unique<Endpoint>(receiver_, EndpointOptions{}));
			sources_.push_back(std::make_unique<Endpoint>(writer, EndpointOptions{}));
			targets_.back()->connect(*sources_.back(), options);
			sources_.back()->connect(*targets_.back(), options);
			const std::uint32_t lkey = key_of(writer);
			for (int j = 0; j < messages; j++)
				post_write(*sources_.back(), rkey, lkey);
		}
	}

	std::uint32_t key_of(Node &node)
	{
		return node.engine.memory.add_region(memory_.data(), base, memory_.size(), rights, 1);
	}

	static void post_write(Endpoint &from, std::uint32_t rkey, std::uint32_t lkey)
	{
		prism::soft::SendRequest &request = *from.next();
		request.kind = prism::soft::SendKind::write;
		request.wc_opcode = IBV_WC_RDMA_WRITE;
		request.remote_addr = base;
		request.rkey = rkey;
		const prism::soft::Sge sge{base, message, lkey};
		from.post(request, {&sge, 1});
	}

	/** Runs in steps of 10 us, in each of which the receiver takes 12 KiB: about 10 Gbit/s. */
	void run(std::size_t expected, Time limit, std::size_t rate = 12 << 10)
	{
		constexpr Time step = 10'000;
		for (; done_ < expected && now_ < limit; now_ += step) {
			for (const auto &writer : writers_) {
				writer->engine.progress(now_);
				carry(*writer, to_receiver_);
			}
			to_receiver_.read(rate, receiver_, now_);
			receiver_.engine.progress(now_);
			deliver_answers();
			for (const auto &source : sources_)
				poll(*source);
		}
	}

	static void carry(Node &from, Socket &to)
	{
		for (std::size_t i = 0; i < from.outbox.size(); i++)
			to.put(from, from.outbox.at(i));
		from.outbox.clear();
	}

	void deliver_answers()
	{
		for (std::size_t i = 0; i < receiver_.outbox.size(); i++) {
			const Packet &packet = receiver_.outbox.at(i);
			for (const auto &writer : writers_) {
				if (writer->address == packet.to)
					writer->engine.receive({receiver_.address, {}}, packet.bytes, now_);
			}
		}
		receiver_.outbox.clear();
	}

	void poll(Endpoint &source)
	{
		ibv_wc completions[8];
		const int count = source.send_cq.poll(8, completions);
		for (int i = 0; i < count; i++)
			failed_ += completions[i].status != IBV_WC_SUCCESS;
		done_ += static_cast<std::size_t>(count);
	}

	[[nodiscard]] std::uint64_t repeats() const
	{
		std::uint64_t sum = 0;
		for (const auto &writer : writers_)
			sum += writer->engine.counters.retransmits;
		return sum;
	}

	std::vector<std::uint8_t> memory_ = std::vector<std::uint8_t>(message);
	Node receiver_{1, 0x100, 2048};
	std::vector<std::unique_ptr<Node>> writers_;
	std::vector<std::unique_ptr<Endpoint>> targets_, sources_;
	Socket to_receiver_;
	Time now_ = 1;
	std::size_t done_ = 0, failed_ = 0;
};

/* Time that the receiver needs to take them in, plus a quarter for packet headers. */
constexpr Time time_for(std::size_t messages)
{
	return static_cast<Time>(messages) * message / (12 << 10) * 10'000 * 5 / 4;
}

TEST_F(Incast, OfOneContextLosesNothing)
{
	connect(1024, 2);
	run(2048, time_for(2048));
	EXPECT_EQ(done_, 2048u);
	EXPECT_EQ(failed_, 0u);
	EXPECT_EQ(to_receiver_.dropped, 0u);
	EXPECT_EQ(repeats(), 0u);
}

TEST_F(Incast, IsServedInTurn)
{
	connect(64, 32);
	run(1024, time_for(1024));
	std::uint32_t least = 32, most = 0;
	for (const auto &source : sources_) {
		least = std::min(least, source->qp.sq.head);
		most = std::max(most, source->qp.sq.head);
	}
	EXPECT_LE(most - least, 3u) << "messages";
}

TEST_F(Incast, GoesOnWhenOneOfThemIsGone)
{
	connect(64, 4);
	run(32, time_for(64));
	for (std::size_t i = 0; i < 32; i++)
		sources_[i]->node.engine.reset_qp(sources_[i]->qp);
	const std::size_t before = done_;
	run(before + 32 * 3, now_ + time_for(256));
	EXPECT_GE(done_, before + 32 * 3);
	EXPECT_EQ(failed_, 0u);
}

/* Each sends one packet at a time until its peer answers, and waits for none of the others. */
TEST_F(Incast, FindsOutTogetherWhosePeersAreGone)
{
	connect(128, 32);
	for (std::size_t i = 0; i < 64; i++)
		receiver_.engine.reset_qp(targets_[i]->qp);
	run(128 * 32, 1'000'000'000);
	EXPECT_EQ(done_, 128u * 32);
	EXPECT_EQ(failed_, 64u * 32);
}

/** A window of four packets, and peers of which nothing is heard. */
class SilentPeers : public Incast
{
protected:
	SilentPeers() : Incast(1, 4 << 10) {}

	/** Connects @p count more, with a WRITE each that nobody answers. None fails within a second. */
	void connect_to_nobody(std::size_t count)
	{
		connect(count, 1);
		for (const auto &source : sources_)
			source->qp.attr.ack_timeout = 1'000'000'000;
	}

	/** Returns the number of packets that leave now for the peer of @p source. */
	std::size_t leave_now(const Endpoint &source)
	{
		Node &writer = *writers_[0];
		writer.outbox.clear();
		writer.engine.progress(now_);
		std::size_t count = 0;
		for (std::size_t i = 0; i < writer.outbox.size(); i++) {
			prism_bth bth;
			prism_bth_decode(writer.outbox.at(i).bytes.data(), &bth);
			count += bth.qpn == source.qp.attr.dest_qpn;
		}
		return count;
	}

	/** Delivers an acknowledgement of what @p source has not sent. */
	void hear_nothing_new(const Endpoint &source)
	{
		std::array<std::uint8_t, prism::soft::bth_size + prism::soft::aeth_size> packet{};
		prism_bth bth{};
		bth.opcode = prism::soft::rc_acknowledge;
		bth.qpn = source.qp.qpn;
		bth.psn = 0x800000;
		prism_bth_encode(packet.data(), &bth);
		writers_[0]->engine.receive({receiver_.address, {}}, packet, now_);
	}
};

/* The line of those that were never silent is long enough for the window to be full all the time. */
TEST_F(SilentPeers, AreAskedWithoutStandingInLine)
{
	connect_to_nobody(400);
	const Endpoint &first = *sources_.front();
	EXPECT_EQ(leave_now(first), 4u);
	int asked = 0;
	for (int i = 0; i < 500; i++) {
		const Time waited = first.qp.req.waited;
		now_ += 1'000'000;
		const std::size_t left = leave_now(first);
		asked += first.qp.req.waited != waited;
		EXPECT_EQ(left, first.qp.req.waited != waited ? 1u : 0u) << "in the turn in which its timer runs out";
	}
	EXPECT_GE(asked, 3);
	EXPECT_FALSE(sources_.back()->qp.req.silent());
}

TEST_F(SilentPeers, TakeNoRoomOfOthers)
{
	connect_to_nobody(6);
	const auto is_silent = [](const auto &source) { return source->qp.req.silent(); };
	for (int i = 0; i < 500 && !std::ranges::all_of(sources_, is_silent); i++) {
		(void)leave_now(*sources_[0]);
		now_ += 1'000'000;
	}
	ASSERT_TRUE(std::ranges::all_of(sources_, is_silent));
	for (const auto &source : sources_)
		hear_nothing_new(*source);
	ASSERT_TRUE(std::ranges::all_of(sources_, is_silent));
	connect_to_nobody(1);
	EXPECT_EQ(leave_now(*sources_.back()), 4u) << "a packet to each of six is more than the window";
}

/* Packets of the others must not fill the buffer of a receiver that turns out to be alive. */
TEST_F(Incast, GoesOnWhenABusyReceiverReadsAgain)
{
	connect(1024, 2);
	for (const auto &source : sources_)
		source->qp.attr.ack_timeout = 1'000'000'000;
	run(100, time_for(2048));
	run(2048, now_ + 500'000'000, 0);
	EXPECT_LT(done_, 200u);
	run(2048, now_ + 500'000'000);
	EXPECT_EQ(done_, 2048u);
	EXPECT_EQ(failed_, 0u);
}

TEST_F(Incast, SendsHalfAsMuchAtOnceAfterALoss)
{
	connect(1, 4);
	Node &writer = *writers_[0];
	writer.engine.progress(now_);
	const std::size_t before = writer.outbox.size();
	writer.outbox.clear();
	now_ = 1'000'000'000;
	writer.engine.progress(now_);
	EXPECT_EQ(writer.outbox.size(), 1u) << "to see whether the peer is there";
	carry(writer, to_receiver_);
	to_receiver_.read(room, receiver_, now_);
	receiver_.engine.progress(now_);
	deliver_answers();
	writer.engine.progress(now_);
	EXPECT_GT(writer.outbox.size(), 0u);
	EXPECT_LE(writer.outbox.size(), before / 2 + 1);
}

class IncastOfContexts : public Incast
{
protected:
	IncastOfContexts() : Incast(100) {}
};

/* Each context assumes that it has the buffer to itself. */
TEST_F(IncastOfContexts, BacksOff)
{
	connect(100, 8);
	run(800, 20'000'000'000);
	EXPECT_EQ(done_, 800u);
	EXPECT_EQ(failed_, 0u);
	EXPECT_GT(to_receiver_.dropped, 0u);
}

/** ibv_modify_qp in SQD: from then on packets fill the new address's buffer. */
TEST(Path, IsThatOfTheAddressThatAQueuePairHasNow)
{
	Node node{1}, one{2}, other{3};
	Endpoint mover{node, {}}, stays{node, {}}, to_one{one, {}}, to_other{other, {}};
	mover.connect(to_one, {});
	stays.connect(to_other, {});
	const auto send = [&node](Endpoint &from) {
		prism::soft::SendRequest &request = *from.next();
		request.kind = prism::soft::SendKind::send;
		request.wc_opcode = IBV_WC_SEND;
		from.post(request, {});
		node.engine.progress(1);
	};
	send(mover);
	send(stays);
	ASSERT_NE(mover.qp.path, stays.qp.path);
	mover.qp.attr.peer = other.address;
	send(mover);
	EXPECT_EQ(mover.qp.path, stays.qp.path);
	mover.qp.attr.ack_timeout = 0;
	send(mover);
	EXPECT_EQ(mover.qp.path, nullptr) << "what it loses would be under way for ever";
	mover.connect(to_other, {});
	send(mover);
	EXPECT_EQ(mover.qp.path, stays.qp.path);
}

/** Queue pairs with WRITEs, of which the peer answers one alone. */
class AnswersBehindOthers : public Incast
{
protected:
	static constexpr Time timer = 20'000'000; /* of connect() */

	/** Returns the number of timers' lengths after which the unanswered one sends again. */
	int lengths_until_repeated(prism::soft::Room carrier, bool peer_answers)
	{
		connect(2, 1);
		Node &writer = *writers_[0];
		writer.outbox.has_room = carrier;
		for (int length = 0; length < 10; length++) {
			writer.engine.progress(now_);
			if (repeats())
				return length;
			if (peer_answers)
				answer(*sources_[0]);
			writer.outbox.clear();
			post_write(*sources_[0], rkey_, lkey_);
			now_ += timer;
		}
		return 0;
	}

	void answer(const Endpoint &one) { answer(one, writers_[0]->outbox.size()); }

	/** Answers those of @p one that are among the first @p count packets. */
	void answer(const Endpoint &one, std::size_t count)
	{
		Node &writer = *writers_[0];
		for (std::size_t i = 0; i < count; i++) {
			const Packet &packet = writer.outbox.at(i);
			prism_bth bth;
			prism_bth_decode(packet.bytes.data(), &bth);
			if (bth.qpn == one.qp.attr.dest_qpn)
				receiver_.engine.receive({writer.address, {}}, packet.bytes, now_);
		}
		receiver_.engine.progress(now_);
		deliver_answers();
	}

	std::uint32_t rkey_ = key_of(receiver_), lkey_ = key_of(*writers_[0]);
};

TEST_F(AnswersBehindOthers, ExtendATimerWhereNothingIsLost)
{
	EXPECT_EQ(lengths_until_repeated(prism::soft::Room::yes, true), 4) << "IBTA 9.7.6.1.3: at most four times";
}

TEST_F(AnswersBehindOthers, DoNotWherePacketsMayBeLost)
{
	EXPECT_EQ(lengths_until_repeated(prism::soft::Room::unknown, true), 1);
}

TEST_F(AnswersBehindOthers, DoNotIfNobodyIsAnswered)
{
	EXPECT_EQ(lengths_until_repeated(prism::soft::Room::yes, false), 1);
}

TEST_F(AnswersBehindOthers, MayComeToWhoHasStoodStill)
{
	connect(1, 1);
	Node &writer = *writers_[0];
	writer.outbox.has_room = prism::soft::Room::yes;
	writer.engine.progress(now_);
	writer.engine.progress(now_ += 2 * timer);
	EXPECT_EQ(repeats(), 0U) << "the peer may have stood still, too";
	writer.engine.progress(now_ += timer);
	EXPECT_GT(repeats(), 0U);
}

TEST_F(AnswersBehindOthers, AreNotThoseToTheQueuePairItself)
{
	connect(1, 1);
	Node &writer = *writers_[0];
	writer.outbox.has_room = prism::soft::Room::yes;
	writer.engine.progress(now_);
	const std::size_t of_first = writer.outbox.size();
	post_write(*sources_[0], rkey_, lkey_);
	writer.engine.progress(now_);
	ASSERT_GT(writer.outbox.size(), of_first);
	answer(*sources_[0], of_first);
	poll(*sources_[0]);
	EXPECT_EQ(done_, 1U);
	now_ += timer;
	writer.engine.progress(now_);
	EXPECT_GT(repeats(), 0U) << "the second WRITE waits behind nobody";
}

class LargeRoom : public Incast
{
protected:
	LargeRoom() : Incast(1, 8 << 20) {}

	/** Returns the bytes that 64 queue pairs with a message each send at once. */
	std::size_t sent_at_once(prism::soft::Room carrier)
	{
		connect(64, 1);
		Node &writer = *writers_[0];
		writer.outbox.has_room = carrier;
		writer.engine.progress(now_);
		std::size_t bytes = 0;
		for (std::size_t i = 0; i < writer.outbox.size(); i++)
			bytes += writer.outbox.at(i).bytes.size();
		return bytes;
	}
};

/* A carrier that loses nothing holds less than a socket, and what waits behind all that would time out. */
TEST_F(LargeRoom, IsNotUsedWhereNothingIsLost)
{
	EXPECT_LE(sent_at_once(prism::soft::Room::yes), (256u << 10) + message);
}

TEST_F(LargeRoom, IsUsedByPacketsThatMayBeLost)
{
	EXPECT_GE(sent_at_once(prism::soft::Room::unknown), 64u * message);
}

/* Tests that timers wait: what a context sends to itself arrives while it answers. */
TEST_F(Incast, RunsNoTimerWhileItAnswers)
{
	connect(1, 1);
	writers_[0]->engine.progress(now_);
	now_ += 1'000'000'000;
	writers_[0]->engine.answer(now_);
	EXPECT_EQ(repeats(), 0u);
	writers_[0]->engine.progress(now_);
	EXPECT_EQ(repeats(), 1u);
}

} // namespace
