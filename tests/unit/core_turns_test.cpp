/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Several peers read at once: none gets the device for itself, neither by reading much nor by repeats (S.9.3). */
#include <gtest/gtest.h>

#include <map>

#include "pair.hpp"

namespace
{

using namespace prism::test;

constexpr std::uint32_t mtu = 1024;
constexpr std::size_t round_packets = (256 << 10) / mtu; /* packets that the device has room for */

/** A client that reads much, and a neighbour at the same server that reads 4 KiB. */
class Turns : public testing::Test
{
protected:
	void SetUp() override
	{
		neighbour.connect(neighbours_server, {});
		neighbours_server.connect(neighbour, {});
	}

	/** Returns the request packet of the READ that was posted last; it is not delivered. */
	std::vector<std::uint8_t> request()
	{
		pair.client_node.engine.progress(pair.now);
		std::vector<std::uint8_t> packet = pair.client_node.outbox.at(pair.client_node.outbox.size() - 1).bytes;
		pair.client_node.outbox.clear();
		return packet;
	}

	std::vector<std::uint8_t> neighbours_request()
	{
		prism::soft::SendRequest &wr = *neighbour.next();
		prism_request read{};
		read.op = PRISM_READ;
		read.va = Pair::va;
		read.rkey = pair.key;
		read.length = 4 * mtu;
		set_prism(neighbour, wr, read, {});
		const prism::soft::Sge sge{Pair::va, read.length, pair.local_key};
		neighbour.post(wr, {&sge, 1});
		return request();
	}

	/** Runs a READ of @p length until it is answered; returns its request. */
	std::vector<std::uint8_t> answered(std::uint32_t length)
	{
		pair.post_read(0, length);
		std::vector<std::uint8_t> packet = request();
		pair.deliver(pair.server_node, packet);
		EXPECT_EQ(pair.run(1).size(), 1u);
		return packet;
	}

	static std::vector<std::uint8_t> at_psn(std::vector<std::uint8_t> packet, std::uint32_t psn)
	{
		prism_bth bth;
		prism_bth_decode(packet.data(), &bth);
		bth.psn = psn;
		prism_bth_encode(packet.data(), &bth);
		return packet;
	}

	/** Returns the packets that the server has sent since the last call, by destination queue pair. */
	std::map<std::uint32_t, std::size_t> sent()
	{
		std::map<std::uint32_t, std::size_t> count;
		for (std::size_t i = 0; i < pair.server_node.outbox.size(); i++) {
			prism_bth bth;
			prism_bth_decode(pair.server_node.outbox.at(i).bytes.data(), &bth);
			count[bth.qpn]++;
		}
		pair.server_node.outbox.clear();
		return count;
	}

	std::map<std::uint32_t, std::size_t> sent_in_round()
	{
		pair.server_node.engine.progress(pair.now);
		return sent();
	}

	Pair pair;
	Endpoint neighbours_server{pair.server_node, {}}, neighbour{pair.client_node, {}};
};

TEST_F(Turns, RepeatsAreNotAnsweredAsOftenAsTheyCome)
{
	const std::vector<std::uint8_t> repeat = answered(128 << 10);
	for (int i = 0; i < 64; i++)
		pair.deliver(pair.server_node, repeat);
	pair.deliver(pair.server_node, neighbours_request());
	std::map<std::uint32_t, std::size_t> packets = sent_in_round();
	EXPECT_LE(packets[pair.client.qp.qpn], (32u << 10) / mtu);
	EXPECT_EQ(packets[neighbour.qp.qpn], 4u);
}

TEST_F(Turns, RepeatsOfShortReadsLeaveRoom)
{
	const std::vector<std::uint8_t> repeat = answered(16 << 10);
	for (int i = 0; i < 64; i++)
		pair.deliver(pair.server_node, repeat);
	pair.deliver(pair.server_node, neighbours_request());
	std::map<std::uint32_t, std::size_t> packets = sent_in_round();
	EXPECT_LE(packets[pair.client.qp.qpn], 2 * round_packets);
	EXPECT_EQ(packets[neighbour.qp.qpn], 4u);
}

/** As many READs as the server allows at once. */
TEST_F(Turns, ManyReadsAreAnsweredInRounds)
{
	constexpr std::uint32_t length = 128 << 10;
	const std::vector<std::uint8_t> read = answered(length);
	for (std::uint32_t i = 1; i <= pair.server.qp.attr.max_dest_rd_atomic; i++)
		pair.deliver(pair.server_node, at_psn(read, i * (length / mtu)));
	pair.deliver(pair.server_node, neighbours_request());
	std::map<std::uint32_t, std::size_t> packets = sent();
	EXPECT_LE(packets[pair.client.qp.qpn], round_packets);
	std::size_t neighbours = packets[neighbour.qp.qpn];
	packets = sent_in_round();
	EXPECT_LE(packets[pair.client.qp.qpn], round_packets);
	EXPECT_EQ(neighbours + packets[neighbour.qp.qpn], 4u);
	while (pair.server.qp.resp.stream.active) {
		pair.now += 100'000;
		EXPECT_LE(sent_in_round()[pair.client.qp.qpn], round_packets);
	}
	EXPECT_EQ(pair.server.qp.state, IBV_QPS_RTS);
	EXPECT_EQ(pair.server.qp.resp.expected_psn, 17 * (length / mtu));
}

/** A peer may repeat an older READ from each of its packets: no more repeats wait than READs are served at a time. */
TEST_F(Turns, RepeatsThatWaitAreBounded)
{
	constexpr std::uint32_t packets = 64;
	const std::vector<std::uint8_t> older = answered(packets * mtu);
	pair.post_read(0, 1 << 20);
	pair.deliver(pair.server_node, request());
	ASSERT_TRUE(pair.server.qp.resp.stream.active);
	for (std::uint32_t psn = 0; psn < packets; psn++)
		pair.deliver(pair.server_node, at_psn(older, psn));
	const std::size_t bound = pair.server.qp.attr.max_dest_rd_atomic;
	EXPECT_EQ(pair.server.qp.resp.put_off.size(), bound);
	EXPECT_EQ(pair.server_node.engine.counters.rx_duplicate_dropped, packets - bound);
}

/** The repeats arrive during a longer READ, which ends nevertheless. */
TEST_F(Turns, EachOlderReadThatIsRepeatedIsAnsweredOnce)
{
	std::vector<std::vector<std::uint8_t>> older;
	for (int i = 0; i < 4; i++)
		older.push_back(answered(4 * mtu));
	constexpr std::uint32_t length = 1 << 20;
	pair.post_read(0, length);
	pair.deliver(pair.server_node, request());
	ASSERT_TRUE(pair.server.qp.resp.stream.active);
	sent();
	for (int i = 0; i < 3; i++)
		for (const std::vector<std::uint8_t> &packet : older)
			pair.deliver(pair.server_node, packet);
	EXPECT_EQ(sent()[pair.client.qp.qpn], 0u) << "not at once";

	std::map<std::uint32_t, unsigned> times;
	for (int i = 0; i < 1000 && pair.server.qp.resp.stream.active; i++) {
		pair.now += 100'000;
		pair.server_node.engine.progress(pair.now);
		for (std::size_t at = 0; at < pair.server_node.outbox.size(); at++) {
			prism_bth bth;
			prism_bth_decode(pair.server_node.outbox.at(at).bytes.data(), &bth);
			times[bth.psn]++;
		}
		pair.server_node.outbox.clear();
	}
	EXPECT_FALSE(pair.server.qp.resp.stream.active);
	for (std::uint32_t psn = 0; psn < 16; psn++)
		EXPECT_EQ(times[psn], 1u) << psn;
	EXPECT_EQ(times[16 + length / mtu - 1], 1u) << "the last of the long one";
}

} // namespace
