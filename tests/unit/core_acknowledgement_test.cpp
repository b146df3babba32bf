/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* When the engine acknowledges a SEND, or answers an ALLOCATE that brings the application a message: together with the
 * application's reply where that is allowed, and never later than the reply. */
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

#include "craft.hpp"
#include "node.hpp"
#include "protocol/standard_wire.hpp"

namespace
{

using namespace prism::test;
using Again = prism::soft::Engine::Again;

class Acknowledgement : public testing::Test
{
protected:
	Acknowledgement()
	{
		ConnectOptions on_loopback;
		on_loopback.peer_is_ours = true;
		server_.connect(client_, on_loopback);
		client_.connect(server_, {});
		const std::uint32_t key = server_node_.engine.memory.add_region(
			memory_.data(), 0x1000, memory_.size(), prism::soft::access_local_write, 1);
		const prism::soft::Sge sge{0x1000, 64, key};
		for (int i = 0; i < 4; i++)
			server_.post_receive(1, {&sge, 1});
	}

	static EndpointOptions options()
	{
		EndpointOptions options;
		options.max_inline = 2048;
		return options;
	}

	static void post_send(Endpoint &from, std::size_t size)
	{
		prism::soft::SendRequest &request = *from.next();
		request.kind = prism::soft::SendKind::send;
		request.wc_opcode = IBV_WC_SEND;
		from.post_inline(request, std::vector<std::uint8_t>(size));
	}

	/** Brings a SEND of the client to the server. */
	void receive_send()
	{
		post_send(client_, 64);
		client_node_.engine.progress(++now_);
		Outbox &sent = client_node_.outbox;
		for (std::size_t i = 0; i < sent.size(); i++)
			server_node_.engine.receive({client_node_.address, {}}, sent.at(i).bytes, now_);
		sent.clear();
	}

	std::uint8_t opcode_sent(std::size_t index) { return server_node_.outbox.at(index).bytes[0]; }
	std::size_t packets_sent() { return server_node_.outbox.size(); }

	Node server_node_{1}, client_node_{2};
	std::optional<Endpoint> server_storage_{std::in_place, server_node_, options()};
	Endpoint &server_ = *server_storage_;
	Endpoint client_{client_node_, {}};
	std::array<std::uint8_t, 64> memory_{};
	prism::soft::Time now_ = 0;
};

TEST_F(Acknowledgement, LeavesAtOnceUnlessTheCallerComesAgain)
{
	receive_send();
	server_node_.engine.progress(now_);
	ASSERT_EQ(packets_sent(), 1u);
	EXPECT_EQ(opcode_sent(0), prism::soft::rc_acknowledge);
}

TEST_F(Acknowledgement, FollowsTheAnswer)
{
	receive_send();
	server_node_.engine.progress(now_, Again::surely);
	EXPECT_EQ(packets_sent(), 0u);
	post_send(server_, 8);
	server_node_.engine.progress(now_);
	ASSERT_EQ(packets_sent(), 2u);
	EXPECT_EQ(opcode_sent(0), prism::soft::rc_send_only);
	EXPECT_EQ(opcode_sent(1), prism::soft::rc_acknowledge);
}

/** Another implementation does not know that acknowledgements overtake. */
TEST_F(Acknowledgement, OfAnotherImplementationDoesNotWait)
{
	server_.qp.attr.peer_is_ours = false;
	receive_send();
	server_node_.engine.progress(now_, Again::surely);
	EXPECT_EQ(packets_sent(), 1u);
}

/** It costs nothing there, and nothing that a process has completed is lost with it. */
TEST_F(Acknowledgement, DoesNotWaitByACarrierThatLosesNothing)
{
	server_node_.outbox.has_room = prism::soft::Room::yes;
	receive_send();
	server_node_.engine.progress(now_, Again::surely);
	EXPECT_EQ(packets_sent(), 1u);
}

/** The reply would arrive first. */
TEST_F(Acknowledgement, DoesNotWaitWhereTrainsArriveInPieces)
{
	server_node_.engine.trains_arrive_whole = false;
	receive_send();
	server_node_.engine.progress(now_, Again::surely);
	EXPECT_EQ(packets_sent(), 1u);
	server_node_.outbox.clear();
	receive_send();
	post_send(server_, 8);
	server_node_.engine.progress(now_);
	ASSERT_EQ(packets_sent(), 2u);
	EXPECT_EQ(opcode_sent(0), prism::soft::rc_acknowledge);
}

TEST_F(Acknowledgement, GoesAheadOfWhatIsNoTrainWithIt)
{
	for (const std::size_t size : {0, 4, 1500}) {
		server_node_.outbox.clear();
		receive_send();
		server_node_.engine.progress(now_, Again::surely);
		post_send(server_, size);
		server_node_.engine.progress(now_);
		ASSERT_GE(packets_sent(), 2u);
		EXPECT_EQ(opcode_sent(0), prism::soft::rc_acknowledge) << size;
	}
}

TEST_F(Acknowledgement, WaitsForOneCallOnly)
{
	receive_send();
	server_node_.engine.progress(now_, Again::surely);
	receive_send();
	server_node_.engine.progress(now_, Again::surely);
	ASSERT_EQ(packets_sent(), 1u) << "for both, however many follow";
	EXPECT_EQ(opcode_sent(0), prism::soft::rc_acknowledge);
	receive_send();
	server_node_.engine.progress(now_, Again::surely);
	EXPECT_EQ(packets_sent(), 1u) << "the next may wait again";
	server_node_.engine.progress(now_);
	EXPECT_EQ(packets_sent(), 2u);
}

TEST_F(Acknowledgement, IsNotLostWithTheQueuePair)
{
	receive_send();
	server_node_.engine.progress(now_, Again::surely);
	server_storage_.reset();
	ASSERT_EQ(packets_sent(), 1u);
	EXPECT_EQ(opcode_sent(0), prism::soft::rc_acknowledge);
}

/** No application looks at a WRITE, so none replies to it. */
TEST_F(Acknowledgement, OfAWriteDoesNotWait)
{
	const std::uint32_t key = server_node_.engine.memory.add_region(memory_.data(), 0x1000, memory_.size(),
		prism::soft::access_local_write | prism::soft::access_remote_write, 1);
	prism::soft::SendRequest &request = *client_.next();
	request.kind = prism::soft::SendKind::write;
	request.wc_opcode = IBV_WC_RDMA_WRITE;
	request.remote_addr = 0x1000;
	request.rkey = key;
	client_.post_inline(request, std::array<std::uint8_t, 8>{});
	client_node_.engine.progress(++now_);
	server_node_.engine.receive({client_node_.address, {}}, client_node_.outbox.at(0).bytes, now_);
	server_node_.engine.progress(now_, Again::surely);
	ASSERT_EQ(packets_sent(), 1u);
	EXPECT_EQ(opcode_sent(0), prism::soft::rc_acknowledge);
}

/** Messages by ALLOCATE, which stores the pointer to each in memory that the application polls. */
class AnswerToAMessage : public Acknowledgement
{
protected:
	static constexpr std::uint64_t pointer_at = 0x1000, buffers_at = 0x1020;

	AnswerToAMessage()
	{
		prism::soft::Engine &engine = server_node_.engine;
		key_ = engine.memory.add_region(memory_.data(), 0x1000, memory_.size(),
			prism::soft::access_local_write | prism::soft::access_remote_read |
				prism::soft::access_remote_write,
			1);
		engine.add_srq(list_);
		for (std::uint64_t i = 0; i < 2; i++)
			engine.post_free_list(list_, i, {buffers_at + 8 * i, 8, key_});
	}
	~AnswerToAMessage() override
	{
		server_storage_.reset();
		server_node_.engine.remove_srq(list_);
	}

	/** Delivers a request that nothing follows at once. */
	void receive(std::vector<std::uint8_t> packet)
	{
		packet[8] |= 0x80;
		server_node_.engine.receive({client_node_.address, {}}, packet, ++now_);
	}

	void receive_message() { receive_message(next_psn()); }
	void receive_message(std::uint32_t psn)
	{
		prism_request request{};
		request.op = PRISM_ALLOCATE;
		request.flags = PRISM_FLAG_R;
		request.first = request.last = true;
		request.free_list = list_.number;
		request.aux_va = pointer_at;
		request.aux_rkey = key_;
		receive(craft_request(server_.qp, psn, request));
	}

	void receive_read() { receive_read(next_psn()); }
	void receive_read(std::uint32_t psn)
	{
		prism_request request{};
		request.op = PRISM_READ;
		request.first = request.last = true;
		request.va = pointer_at;
		request.rkey = key_;
		request.length = 8;
		receive(craft_request(server_.qp, psn, request));
	}

	std::uint32_t next_psn() const { return server_.qp.resp.expected_psn; }
	void turn(Again again = Again::surely) { server_node_.engine.progress(now_, again); }
	std::uint32_t psn_sent(std::size_t index)
	{
		prism_bth bth;
		prism_bth_decode(server_node_.outbox.at(index).bytes.data(), &bth);
		return bth.psn;
	}

	/** Expects answers in the order of their requests, the first of them at PSN 0. */
	void expect_answers(std::size_t count)
	{
		ASSERT_EQ(packets_sent(), count);
		for (std::size_t i = 0; i < count; i++)
			EXPECT_EQ(psn_sent(i), i);
	}

	std::uint32_t key_ = 0;
	prism::soft::SharedReceiveQueue list_{server_node_.engine.take_srqn(), 1, 4, 1, true};
};

TEST_F(AnswerToAMessage, LeavesAtOnceUnlessTheCallerComesAgain)
{
	receive_message();
	turn(Again::maybe);
	expect_answers(1);
	EXPECT_EQ(opcode_sent(0), PRISM_OP_RESPONSE);
}

TEST_F(AnswerToAMessage, LeavesWithThatOfTheNextRequest)
{
	receive_message();
	turn();
	EXPECT_EQ(packets_sent(), 0u);
	receive_read();
	turn();
	expect_answers(2);
	EXPECT_EQ(opcode_sent(0), PRISM_OP_RESPONSE);
}

TEST_F(AnswerToAMessage, WaitsForOneTurnOnly)
{
	receive_message();
	turn();
	EXPECT_EQ(packets_sent(), 0u);
	turn();
	expect_answers(1);
	turn();
	expect_answers(1);
}

TEST_F(AnswerToAMessage, OfTheFirstMessageDoesNotWaitForThatOfTheSecond)
{
	receive_message();
	receive_message();
	turn();
	expect_answers(1);
	turn();
	expect_answers(2);
}

TEST_F(AnswerToAMessage, ThatNoBufferIsFreeDoesNotWait)
{
	for (int i = 0; i < 3; i++)
		receive_message();
	turn();
	expect_answers(3);
}

TEST_F(AnswerToAMessage, LeavesBeforeWhatTheApplicationSends)
{
	receive_message();
	turn();
	post_send(server_, 1000);
	turn(Again::maybe);
	ASSERT_EQ(packets_sent(), 2u);
	EXPECT_EQ(opcode_sent(0), PRISM_OP_RESPONSE);
	EXPECT_EQ(opcode_sent(1), prism::soft::rc_send_only);
}

TEST_F(AnswerToAMessage, LeavesBeforeANak)
{
	receive_message();
	receive_read(next_psn() + 1);
	turn();
	ASSERT_EQ(packets_sent(), 2u);
	EXPECT_EQ(opcode_sent(0), PRISM_OP_RESPONSE);
	EXPECT_EQ(opcode_sent(1), prism::soft::rc_acknowledge);
}

TEST_F(AnswerToAMessage, IsGivenAgainToADuplicateOnce)
{
	receive_message();
	turn();
	receive_message(0);
	turn();
	turn();
	ASSERT_EQ(packets_sent(), 2u) << "the answer, and once more as it was asked for";
	EXPECT_EQ(psn_sent(0), 0u);
	EXPECT_EQ(psn_sent(1), 0u);
	EXPECT_EQ(list_.popped, 1u);
}

TEST_F(AnswerToAMessage, IsNotLostWithTheQueuePair)
{
	receive_message();
	turn();
	server_storage_.reset();
	expect_answers(1);
}

} // namespace
