/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Requests that arrive twice, packet by packet: the worked sequence of W.7, and what W.8.2 says of chains. */
#include <gtest/gtest.h>

#include <utility>

#include "pair.hpp"

namespace
{

using namespace prism::test;

class Duplicates : public testing::Test
{
protected:
	/** Posts nothing more: the packet that the client sends for what was posted last. */
	std::vector<std::uint8_t> send_and_finish()
	{
		pair.client_node.engine.progress(pair.now);
		const std::vector<std::uint8_t> packet =
			pair.client_node.outbox.at(pair.client_node.outbox.size() - 1).bytes;
		const std::vector<ibv_wc> completed = pair.run(1);
		EXPECT_EQ(completed.size(), 1u);
		status = completed.empty() ? ~0u : completed[0].vendor_err;
		return packet;
	}

	/** Breaks the chain: a comparison that does not hold. */
	void miss()
	{
		std::uint8_t operands[32] = {1};
		std::fill_n(operands + 16, 8, 0xff);
		prism_request request{};
		request.op = PRISM_CAS;
		request.cas_size = 8;
		request.va = Pair::va + 64;
		pair.post(request, 0, operands);
		send_and_finish();
		ASSERT_EQ(status, unsigned{PRISM_STATUS_CAS_MISS});
	}

	/** What the server answers to @p packet when it comes again. */
	std::vector<std::uint8_t> answer_again(const std::vector<std::uint8_t> &packet)
	{
		pair.deliver(pair.server_node, packet);
		EXPECT_EQ(pair.server_node.outbox.size(), 1u);
		return pair.server_node.outbox.at(0).bytes;
	}

	Pair pair;
	unsigned status = 0;
};

TEST_F(Duplicates, ASkippedRequestStaysSkipped)
{
	miss();
	pair.post_cas(0, 7, PRISM_FLAG_C);
	const std::vector<std::uint8_t> skipped = send_and_finish();
	ASSERT_EQ(status, unsigned{PRISM_STATUS_SKIPPED});
	pair.post_cas(32, 1);
	send_and_finish();
	ASSERT_TRUE(pair.server.qp.resp.chain_ok);
	prism_response response;
	const std::vector<std::uint8_t> answer = answer_again(skipped);
	ASSERT_TRUE(prism_response_decode(answer.data(), static_cast<std::uint32_t>(answer.size()), &response));
	EXPECT_EQ(response.status, PRISM_STATUS_SKIPPED);
	EXPECT_EQ(pair.memory[0], 0);
	EXPECT_TRUE(pair.server.qp.resp.chain_ok);
}

/** Resolved again, whether its resolution is good or not. */
TEST_F(Duplicates, AConditionalReadStaysExecuted)
{
	pair.post_read(128, 64, PRISM_FLAG_C);
	const std::vector<std::uint8_t> read = send_and_finish();
	ASSERT_EQ(status, unsigned{PRISM_STATUS_OK});
	miss();
	for (const bool forgotten : {false, true}) {
		if (forgotten)
			pair.server.qp.resp.saved[0].read.handed_out -= 1u << 20;
		const std::vector<std::uint8_t> answer = answer_again(read);
		EXPECT_EQ(answer[0], PRISM_OP_READ_RESPONSE_ONLY) << forgotten;
		EXPECT_FALSE(pair.server.qp.resp.chain_ok);
		pair.server_node.outbox.clear();
	}
	EXPECT_EQ(pair.server.qp.resp.resolution, 3u);
}

/** Opcode and PSN of each packet. */
using Trace = std::vector<std::pair<unsigned, std::uint32_t>>;

ConnectOptions from_psn_100()
{
	ConnectOptions options;
	options.send_psn = options.recv_psn = 100;
	return options;
}

TEST(WorkedSequence, IsThatOfTheDocument)
{
	Pair pair(from_psn_100());
	prism::soft::SharedReceiveQueue list(pair.server_node.engine.take_srqn(), 1, 1, 1, true);
	pair.server_node.engine.add_srq(list);
	pair.server_node.engine.post_free_list(list, 1, {Pair::va + 0x30000, 4096, pair.key});
	const prism::soft::Sge receive{Pair::va + 0x40000, 64, pair.key};
	pair.server.post_receive(1, {&receive, 1});

	constexpr std::uint64_t bounded = 64, null = 128, empty = 192;
	const auto point = [&pair](std::uint64_t at, std::uint64_t address, std::uint32_t bound) {
		put_unaligned_le64(address, &pair.memory[at]);
		put_unaligned_le32(bound, &pair.memory[at + 8]);
	};
	point(bounded, Pair::va + 0x10000, 1500);
	point(empty, Pair::va + 0x20000, 0);

	Trace asked, answered;
	bool lost = false;
	pair.loses = [&](bool to_client, const prism_bth &bth) {
		(to_client ? answered : asked).emplace_back(bth.opcode, bth.psn);
		if (!to_client || bth.psn != 101 || std::exchange(lost, true))
			return false;
		point(bounded, Pair::va + 0x10000, 2500);
		point(empty, 0, 0);
		return true;
	};

	pair.post_read(bounded, 2500, PRISM_FLAG_T | PRISM_FLAG_B);
	pair.post_read(null, 3000, PRISM_FLAG_T);
	pair.post_read(0, 64, PRISM_FLAG_C);
	prism_request request{};
	request.op = PRISM_WRITE;
	request.flags = PRISM_FLAG_C;
	request.va = Pair::va;
	request.length = 2500;
	pair.post(request, 2500);
	pair.post_read(empty, 5000, PRISM_FLAG_T | PRISM_FLAG_B);
	request = {};
	request.op = PRISM_READ;
	request.flags = PRISM_FLAG_R;
	request.va = Pair::va;
	request.aux_va = Pair::va + 0x50000;
	request.length = 8192;
	pair.post(request, 0);
	pair.post_send(10);
	request = {};
	request.op = PRISM_ALLOCATE;
	request.free_list = list.number;
	request.length = 1025;
	pair.post(request, 1025);

	const std::vector<ibv_wc> wc = pair.run(8);
	ASSERT_EQ(wc.size(), 8u);
	const unsigned statuses[] = {PRISM_STATUS_OK, PRISM_STATUS_NULL_POINTER, PRISM_STATUS_SKIPPED,
		PRISM_STATUS_SKIPPED, PRISM_STATUS_NULL_POINTER, PRISM_STATUS_OK, 0, PRISM_STATUS_OK};
	for (std::size_t i = 0; i < wc.size(); i++)
		EXPECT_EQ(wc[i].vendor_err, statuses[i]) << i;
	EXPECT_EQ(wc[0].byte_len, 1500u);
	EXPECT_EQ(list.popped, 1u);

	const Trace requests{{PRISM_OP_READ_REQUEST, 103}, {PRISM_OP_READ_REQUEST, 106}, {PRISM_OP_WRITE_FIRST, 107},
		{PRISM_OP_WRITE_MIDDLE, 108}, {PRISM_OP_WRITE_LAST, 109}, {PRISM_OP_READ_REQUEST, 110},
		{PRISM_OP_READ_REQUEST, 115}, {prism::soft::rc_send_only, 116}, {PRISM_OP_ALLOCATE_FIRST, 117},
		{PRISM_OP_ALLOCATE_LAST, 118}};
	Trace expected{{PRISM_OP_READ_REQUEST, 100}};
	expected.insert(expected.end(), requests.begin(), requests.end());
	expected.emplace_back(PRISM_OP_READ_REQUEST, 101);
	expected.insert(expected.end(), requests.begin(), requests.end());
	EXPECT_EQ(asked, expected);

	/* The ALLOCATE's answer acknowledges the SEND. */
	Trace answers{{PRISM_OP_RESPONSE, 103}, {PRISM_OP_RESPONSE, 106}, {PRISM_OP_RESPONSE, 109},
		{PRISM_OP_READ_RESPONSE_ONLY, 110}, {PRISM_OP_RESPONSE, 115}, {PRISM_OP_RESPONSE, 118}};
	expected = {{PRISM_OP_READ_RESPONSE_FIRST, 100}, {PRISM_OP_READ_RESPONSE_LAST, 101}};
	expected.insert(expected.end(), answers.begin(), answers.end());
	expected.emplace_back(PRISM_OP_READ_RESPONSE_LAST, 101);
	answers[3].first = PRISM_OP_RESPONSE; /* asked for from its first packet on, and resolved again */
	expected.insert(expected.end(), answers.begin(), answers.end());
	std::erase(answered, std::pair<unsigned, std::uint32_t>{prism::soft::rc_acknowledge, 118});
	EXPECT_EQ(answered, expected);
	pair.server_node.engine.remove_srq(list);
}

} // namespace
