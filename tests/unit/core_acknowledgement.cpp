/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* When the engine acknowledges a SEND: behind the application's answer where it may, and never later than it said. */
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

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

	/** A SEND of the client reaches the server. */
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

/** Such a one does not know that acknowledgements overtake. */
TEST_F(Acknowledgement, OfAnotherImplementationDoesNotWait)
{
	server_.qp.attr.peer_is_ours = false;
	receive_send();
	server_node_.engine.progress(now_, Again::surely);
	EXPECT_EQ(packets_sent(), 1u);
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

/** Nobody looks at a WRITE, so nobody answers it. */
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

} // namespace
