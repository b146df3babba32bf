/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A window that is invalidated during a request of several packets: no packet after that has an effect. */
#include <gtest/gtest.h>

#include <cstring>

#include "pair.hpp"

namespace
{

using namespace prism::test;
using prism::soft::SendKind;

constexpr std::uint32_t mtu = 1024;
constexpr std::uint32_t length = 4 * mtu;
constexpr std::uint8_t access_error_syndrome = 0x62;

class Windows : public testing::Test
{
protected:
	void SetUp() override
	{
		const std::uint32_t region = server_keys().add_region(pair.memory.data(), Pair::va, pair.memory.size(),
			Pair::rights | prism::soft::access_mw_bind, 1);
		const std::uint32_t unbound = server_keys().add_window(1);
		prism::WindowBinding binding{};
		binding.key = unbound;
		binding.new_key = unbound + 1;
		binding.region_key = region;
		binding.access = Pair::rights;
		binding.va = Pair::va;
		binding.length = pair.memory.size();
		binding.qpn = pair.server.qp.qpn;
		ASSERT_EQ(server_keys().bind_window(binding, 1), 0);
		window = (unbound & ~0xffu) | (binding.new_key & 0xff);
		std::memset(pair.local.data(), 0xab, length);
	}

	prism::soft::MemoryTable &server_keys() { return pair.server_node.engine.memory; }

	void post_standard(SendKind kind, std::uint32_t size)
	{
		prism::soft::SendRequest &wr = *pair.client.next();
		wr.kind = kind;
		wr.wc_opcode = kind == SendKind::write ? IBV_WC_RDMA_WRITE : IBV_WC_RDMA_READ;
		set_target(wr, window, Pair::va);
		const prism::soft::Sge sge{Pair::va, size, pair.local_key};
		pair.client.post(wr, {&sge, 1});
	}

	void post_prism(prism_op op, std::uint32_t size)
	{
		prism_request request{};
		request.op = op;
		request.va = Pair::va;
		request.rkey = window;
		request.length = size;
		pair.post(request, size);
	}

	/** Delivers the posted packets to the server, and invalidates the window before the third. */
	void deliver_and_invalidate()
	{
		pair.client_node.engine.progress(pair.now);
		Outbox &sent = pair.client_node.outbox;
		ASSERT_EQ(sent.size(), length / mtu);
		for (std::size_t i = 0; i < sent.size(); i++) {
			if (i == 2)
				invalidate();
			pair.deliver(pair.server_node, sent.at(i).bytes);
		}
		sent.clear();
	}

	void invalidate() { ASSERT_TRUE(server_keys().invalidate(window, 1, pair.server.qp.qpn)); }

	/** Expects that the server's last packet is the NAK at @p psn, and that its queue pair has failed. */
	void expect_refused(std::uint32_t psn)
	{
		Outbox &answers = pair.server_node.outbox;
		ASSERT_GT(answers.size(), 0u);
		const std::vector<std::uint8_t> &last = answers.at(answers.size() - 1).bytes;
		prism_bth bth;
		prism_bth_decode(last.data(), &bth);
		EXPECT_EQ(bth.opcode, prism::soft::rc_acknowledge);
		EXPECT_EQ(bth.psn, psn);
		EXPECT_EQ(last[prism::soft::bth_size], access_error_syndrome);
		EXPECT_EQ(pair.server.qp.state, IBV_QPS_ERR);
	}

	/** Expects the bytes of the packets before to be written, and those behind not. */
	void expect_half()
	{
		EXPECT_EQ(std::count(pair.memory.begin(), pair.memory.begin() + 2 * mtu, 0xab), 2 * mtu);
		EXPECT_EQ(std::count(pair.memory.begin() + 2 * mtu, pair.memory.begin() + length, 0xab), 0);
	}

	/** Reads 1 MiB instead of the posted length; the first burst leaves before the window goes. */
	void expect_read_ends()
	{
		pair.client_node.engine.progress(pair.now);
		std::vector<std::uint8_t> request = pair.client_node.outbox.at(0).bytes;
		/* A standard READ would be requested in parts that fit one burst. */
		put_unaligned_be32(1 << 20, &request[prism::soft::bth_size + 12]);
		pair.deliver(pair.server_node, request);
		const prism::soft::ReadStream &stream = pair.server.qp.resp.stream;
		ASSERT_TRUE(stream.active);
		const std::uint32_t next = stream.first_psn + stream.offset / mtu;
		invalidate();
		pair.now += 1'000'000;
		pair.server_node.engine.progress(pair.now);
		expect_refused(next);
		EXPECT_FALSE(pair.server.qp.resp.stream.active);
	}

	Pair pair;
	std::uint32_t window = 0;
};

TEST_F(Windows, StandardWriteStops)
{
	post_standard(SendKind::write, length);
	deliver_and_invalidate();
	expect_refused(2);
	expect_half();
}

TEST_F(Windows, PrismWriteStops)
{
	post_prism(PRISM_WRITE, length);
	deliver_and_invalidate();
	expect_refused(2);
	expect_half();
}

TEST_F(Windows, StandardReadStops)
{
	post_standard(SendKind::read, length);
	expect_read_ends();
}

TEST_F(Windows, PrismReadStops)
{
	post_prism(PRISM_READ, length);
	expect_read_ends();
}

/** If it is repeated, the requester has made an error, not this queue pair: the window may rightly have gone. */
TEST_F(Windows, ARepeatedReadIsRefusedAndNoMore)
{
	post_prism(PRISM_READ, length);
	pair.client_node.engine.progress(pair.now);
	const std::vector<std::uint8_t> request = pair.client_node.outbox.at(0).bytes;
	pair.deliver(pair.server_node, request);
	pair.server_node.outbox.clear();
	invalidate();
	pair.deliver(pair.server_node, request);
	ASSERT_EQ(pair.server_node.outbox.size(), 1u);
	EXPECT_EQ(pair.server_node.outbox.at(0).bytes[prism::soft::bth_size], access_error_syndrome);
	EXPECT_EQ(pair.server.qp.state, IBV_QPS_RTS);
}

/** The peer still knows the key, and the next region takes the window's place in the table. */
TEST_F(Windows, AKeyOfOneThatIsGoneNamesNothingThatComesLater)
{
	invalidate();
	ASSERT_TRUE(server_keys().remove(window));
	server_keys().add_region(pair.memory.data(), Pair::va, pair.memory.size(), Pair::rights, 1);
	EXPECT_EQ(server_keys().find(window), nullptr);
}

/** As the verbs remove a window: by its place, while bound. */
TEST_F(Windows, NorDoesAKeyOfOneThatWasBoundToTheEnd)
{
	ASSERT_TRUE(server_keys().remove(window & ~0xffu));
	server_keys().add_region(pair.memory.data(), Pair::va, pair.memory.size(), Pair::rights, 1);
	EXPECT_EQ(server_keys().find(window), nullptr);
}

} // namespace
