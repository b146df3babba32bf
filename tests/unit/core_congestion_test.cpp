/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Congestion marks that the network adds to RoCEv2 change nothing here (W.8.5). */
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "node.hpp"
#include "protocol/standard_wire.hpp"

namespace
{

using namespace prism::test;

constexpr std::uint8_t congestion_notification = 0x81;
constexpr std::uint8_t fecn_becn = 0xc0;

class Congestion : public testing::Test
{
protected:
	Congestion()
	{
		server_.connect(client_, {});
		client_.connect(server_, {});
		const std::uint32_t key = server_node_.engine.memory.add_region(
			memory_.data(), 0x1000, memory_.size(), prism::soft::access_local_write, 1);
		const prism::soft::Sge sge{0x1000, 64, key};
		server_.post_receive(1, {&sge, 1});
	}

	std::vector<std::uint8_t> send()
	{
		prism::soft::SendRequest &request = *client_.next();
		request.kind = prism::soft::SendKind::send;
		request.wc_opcode = IBV_WC_SEND;
		client_.post_inline(request, std::vector<std::uint8_t>(8));
		client_node_.engine.progress(1);
		return client_node_.outbox.at(0).bytes;
	}
	void deliver(const std::vector<std::uint8_t> &packet)
	{
		server_node_.engine.receive({client_node_.address, {}}, packet, 1);
		server_node_.engine.progress(1);
	}

	Node client_node_{1}, server_node_{2};
	std::array<std::uint8_t, 64> memory_{};
	Endpoint client_{client_node_, {}}, server_{server_node_, {}};
};

TEST_F(Congestion, MarkedPacketsAreTakenAsOthers)
{
	std::vector<std::uint8_t> packet = send();
	EXPECT_EQ(packet[4], 0);
	packet[4] = fecn_becn;
	deliver(packet);
	ASSERT_EQ(server_node_.outbox.size(), 1u);
	EXPECT_EQ(server_node_.outbox.at(0).bytes[0], prism::soft::rc_acknowledge);
	EXPECT_EQ(server_node_.outbox.at(0).bytes[4], 0) << "no echo";
}

TEST_F(Congestion, NotificationIsDropped)
{
	std::vector<std::uint8_t> packet = send();
	packet[0] = congestion_notification;
	deliver(packet);
	EXPECT_EQ(server_node_.outbox.size(), 0u);
	EXPECT_EQ(server_node_.engine.counters.rx_unknown_opcode, 1u);
	EXPECT_EQ(server_.qp.state, IBV_QPS_RTS);
}

} // namespace
