/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Requests that arrive twice, packet by packet: the worked sequence of W.7, and the rules of W.8.2 for chains. */
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "craft.hpp"
#include "pair.hpp"

namespace
{

using namespace prism::test;
namespace soft = prism::soft;

class Duplicates : public testing::Test
{
protected:
	/** Sends the request that was posted last; returns its packet. */
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
		pair.post_miss();
		send_and_finish();
		ASSERT_EQ(status, unsigned{PRISM_STATUS_CAS_MISS});
	}

	/** Delivers @p packet again; returns the server's answer. */
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

/** The READ is resolved again, and its status stays, even if the resolution is forgotten. */
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

/** Duplicates that a peer of ours would not send, or that only a bad network brings. */
class OddDuplicates : public Duplicates
{
protected:
	/** Expects that the packet changes nothing but a counter. */
	void expect_dropped(const std::vector<std::uint8_t> &packet)
	{
		const std::uint64_t before = counters.rx_duplicate_dropped;
		pair.deliver(pair.server_node, packet);
		pair.server_node.engine.progress(pair.now);
		EXPECT_EQ(counters.rx_duplicate_dropped, before + 1);
		EXPECT_EQ(pair.server_node.outbox.size(), 0u);
		EXPECT_EQ(server.state, IBV_QPS_RTS);
	}

	prism_request read(std::uint32_t length, std::uint8_t flags = 0) const
	{
		return pair.whole(PRISM_READ, length, flags);
	}
	prism_request cas() const { return pair.whole(PRISM_CAS, 0); }

	void post_atomic(soft::SendKind kind)
	{
		soft::SendRequest &wr = *pair.client.next();
		wr.kind = kind;
		wr.wc_opcode = IBV_WC_FETCH_ADD;
		wr.fetch_add = true;
		wr.compare_add = 1;
		wr.remote_addr = Pair::va;
		wr.rkey = pair.key;
		const soft::Sge sge{Pair::va, 8, pair.local_key};
		pair.client.post(wr, {&sge, 1});
	}

	soft::QueuePair &server = pair.server.qp;
	soft::ProtocolCounters &counters = pair.server_node.engine.counters;
};

TEST_F(OddDuplicates, AreCountedAndSoAreReplays)
{
	pair.post_cas(0, 1);
	const std::vector<std::uint8_t> packet = send_and_finish();
	const std::vector<std::uint8_t> answer = answer_again(packet);
	EXPECT_EQ(answer[0], PRISM_OP_RESPONSE);
	EXPECT_EQ(counters.rx_duplicate, 1u);
	EXPECT_EQ(counters.prism_replays, 1u);
	EXPECT_EQ(counters.rx_duplicate_dropped, 0u);
}

/** The PSNs have wrapped around once. */
TEST_F(OddDuplicates, FindTheNewerOfTwoRequestsAtOnePsn)
{
	for (const std::uint64_t value : {1, 2}) {
		server.resp.expected_psn = pair.client.qp.req.next_psn = pair.client.qp.req.unacked = 0;
		pair.post_cas(0, value);
		send_and_finish();
	}
	prism_response response;
	const std::vector<std::uint8_t> answer = answer_again(craft_request(server, 0, cas()));
	ASSERT_TRUE(prism_response_decode(answer.data(), static_cast<std::uint32_t>(answer.size()), &response));
	EXPECT_EQ(response.result[0], 1) << "what the second swap found";
}

TEST_F(OddDuplicates, OfPacketsInBetweenAreAcknowledgedIfTheyAsk)
{
	prism_request request = read(2048);
	request.op = PRISM_WRITE;
	pair.post(request, request.length);
	send_and_finish();
	request.last = false;
	std::vector<std::uint8_t> first = craft_request(server, 0, request, 1024);
	pair.deliver(pair.server_node, first);
	pair.server_node.engine.progress(pair.now);
	EXPECT_EQ(pair.server_node.outbox.size(), 0u);
	first[8] |= PRISM_BTH_ACK_REQ;
	pair.deliver(pair.server_node, first);
	pair.server_node.engine.progress(pair.now);
	ASSERT_EQ(pair.server_node.outbox.size(), 1u);
	EXPECT_EQ(pair.server_node.outbox.at(0).bytes[0], soft::rc_acknowledge);
}

/** Duplicates of requests whose LAST has not arrived; with and without AckReq. */
class DuplicatesOfUnfinished : public OddDuplicates, public testing::WithParamInterface<std::tuple<prism_op, bool>>
{
protected:
	static constexpr std::uint64_t buffer = 0x30000;

	DuplicatesOfUnfinished()
	{
		pair.server_node.engine.add_srq(list);
		pair.server_node.engine.post_free_list(list, 1, {Pair::va + buffer, 4096, pair.key});
		request.va += buffer;
		request.free_list = list.number;
	}
	~DuplicatesOfUnfinished() override { pair.server_node.engine.remove_srq(list); }

	/** Delivers one half of the request, with a payload of @p fill bytes; @return the number of answers. */
	std::size_t bring_half(bool first, std::uint8_t fill)
	{
		request.first = first;
		request.last = !first;
		std::vector<std::uint8_t> packet = craft_request(server, first ? 0 : 1, request, half);
		std::fill(packet.end() - half, packet.end(), fill);
		if (first && std::get<bool>(GetParam()))
			packet[8] |= PRISM_BTH_ACK_REQ;
		pair.server_node.outbox.clear();
		pair.deliver(pair.server_node, packet);
		pair.server_node.engine.progress(pair.now);
		return pair.server_node.outbox.size();
	}

	static constexpr std::ptrdiff_t half = 1024;
	soft::SharedReceiveQueue list{pair.server_node.engine.take_srqn(), 1, 2, 1, true};
	prism_request request = pair.whole(std::get<prism_op>(GetParam()), 2 * half);
};

TEST_P(DuplicatesOfUnfinished, AreDropped)
{
	const std::size_t asked = std::get<bool>(GetParam());
	bring_half(true, 1);
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(bring_half(true, 9), asked);
	EXPECT_EQ(counters.rx_duplicate, 2u);
	EXPECT_EQ(counters.rx_duplicate_dropped, 0u);
	ASSERT_EQ(bring_half(false, 2), 1u);
	EXPECT_EQ(pair.server_node.outbox.at(0).bytes[0], PRISM_OP_RESPONSE);
	EXPECT_EQ(list.popped, request.op == PRISM_ALLOCATE);
	EXPECT_EQ(server.state, IBV_QPS_RTS);
	const auto at = pair.memory.begin() + buffer;
	EXPECT_EQ(std::count(at, at + half, 1), half);
	EXPECT_EQ(std::count(at + half, at + 2 * half, 2), half);
}

INSTANTIATE_TEST_SUITE_P(Messages, DuplicatesOfUnfinished,
	testing::Combine(testing::Values(PRISM_WRITE, PRISM_ALLOCATE), testing::Bool()));

TEST_F(OddDuplicates, OfABadFormatAreDropped)
{
	pair.post_cas(0, 1);
	send_and_finish();
	prism_request request = cas();
	request.va++;
	expect_dropped(craft_request(server, 0, request));
}

TEST_F(OddDuplicates, NeedTheQueuePairsRights)
{
	pair.post_read(0, 64);
	send_and_finish();
	server.attr.access = soft::access_remote_write;
	expect_dropped(craft_request(server, 0, read(64)));
}

TEST_F(OddDuplicates, OfAReadOfAnotherLengthAreDropped)
{
	pair.post_read(0, 2048);
	send_and_finish();
	expect_dropped(craft_request(server, 0, read(4096)));
	expect_dropped(craft_request(server, 0, read(64)));
}

TEST_F(OddDuplicates, OfAnotherRequestAtAReadsPsnAreDropped)
{
	pair.post_read(0, 64);
	send_and_finish();
	expect_dropped(craft_request(server, 0, cas()));
	expect_dropped(craft_request(server, 0, read(64, PRISM_FLAG_R)));
}

TEST_F(OddDuplicates, OfAnotherRequestWithinAReadAreDropped)
{
	pair.post_read(0, 2048);
	send_and_finish();
	expect_dropped(craft_request(server, 0, cas()));
	expect_dropped(craft_request(server, 1, read(2048, PRISM_FLAG_R)));
}

TEST_F(OddDuplicates, OfAnotherKindAreDropped)
{
	post_atomic(soft::SendKind::atomic);
	send_and_finish();
	post_atomic(soft::SendKind::atomic_write);
	send_and_finish();
	pair.post_cas(0, 1);
	send_and_finish();
	expect_dropped(craft_request(server, 0, cas()));
	expect_dropped(craft_request(server, 1, cas()));
	const std::size_t size = soft::bth_size + soft::atomic_eth_size;
	expect_dropped(craft(server, soft::rc_fetch_add, 2, size));
}

TEST_F(OddDuplicates, OfWhatIsForgottenAreDropped)
{
	for (int i = 0; i < 17; i++) {
		pair.post_cas(0, 1);
		send_and_finish();
	}
	expect_dropped(craft_request(server, 0, cas()));
	EXPECT_EQ(answer_again(craft_request(server, 1, cas()))[0], PRISM_OP_RESPONSE);
}

TEST_F(OddDuplicates, OfStandardRequestsAreAnsweredAgain)
{
	const soft::Sge receive{Pair::va + 4096, 64, pair.key};
	pair.server.post_receive(1, {&receive, 1});
	const std::function<void()> posts[] = {[this] { post_atomic(soft::SendKind::atomic); },
		[this] { post_atomic(soft::SendKind::atomic_write); }, [this] { post_atomic(soft::SendKind::read); },
		[this] { pair.post_send(64); }};
	for (const auto &post : posts) {
		post();
		const std::vector<std::uint8_t> packet = send_and_finish();
		const std::vector<std::uint8_t> memory = pair.memory;
		const std::uint32_t expected = server.resp.expected_psn;
		pair.deliver(pair.server_node, packet);
		pair.server_node.engine.progress(pair.now);
		EXPECT_EQ(pair.server_node.outbox.size(), 1u);
		EXPECT_EQ(pair.memory, memory);
		EXPECT_EQ(server.resp.expected_psn, expected);
		pair.server_node.outbox.clear();
	}
}

/** It has the first packet of an answer that was cut short; the requester has taken it for the start of a longer one.
 */
TEST_F(OddDuplicates, BehindTheEndOfAnAnswerBringItsBeginning)
{
	put_unaligned_le64(Pair::va + 8192, &pair.memory[64]);
	put_unaligned_le32(1500, &pair.memory[72]);
	prism_request request = read(2500, PRISM_FLAG_T | PRISM_FLAG_B);
	request.va = Pair::va + 64;
	pair.post(request, request.length);
	send_and_finish();
	pair.deliver(pair.server_node, craft_request(server, 2, request));
	ASSERT_EQ(pair.server_node.outbox.size(), 2u);
	EXPECT_EQ(pair.server_node.outbox.at(0).bytes[0], PRISM_OP_READ_RESPONSE_FIRST);
	EXPECT_EQ(pair.server_node.outbox.at(1).bytes[0], PRISM_OP_READ_RESPONSE_LAST);
	EXPECT_EQ(server.resp.resolution, 1u);
}

/** Results of a READ that is resolved again, and their effect on the chain (S.9.3). */
class ReadAgain : public OddDuplicates
{
protected:
	static constexpr std::uint64_t pointer = 64;

	ReadAgain() { point_at(Pair::va + 8192); }
	void point_at(std::uint64_t address) { put_unaligned_le64(address, &pair.memory[pointer]); }

	std::vector<std::uint8_t> read_by_pointer()
	{
		pair.post_read(pointer, 64, PRISM_FLAG_T);
		return send_and_finish();
	}

	unsigned status_again(const std::vector<std::uint8_t> &packet)
	{
		pair.server_node.outbox.clear();
		const std::vector<std::uint8_t> answer = answer_again(packet);
		prism_response response;
		if (!prism_response_decode(answer.data(), static_cast<std::uint32_t>(answer.size()), &response))
			return PRISM_STATUS_OK;
		return response.status;
	}
};

TEST_F(ReadAgain, ItsNewStatusIsTheSavedOne)
{
	const std::vector<std::uint8_t> packet = read_by_pointer();
	point_at(0);
	EXPECT_EQ(status_again(packet), unsigned{PRISM_STATUS_NULL_POINTER});
	EXPECT_FALSE(server.resp.chain_ok);
	point_at(Pair::va + 8192);
	EXPECT_EQ(status_again(packet), unsigned{PRISM_STATUS_NULL_POINTER});
}

TEST_F(ReadAgain, LeavesTheChainOfALaterRequest)
{
	const std::vector<std::uint8_t> packet = read_by_pointer();
	pair.post_cas(0, 1);
	send_and_finish();
	point_at(0);
	EXPECT_EQ(status_again(packet), unsigned{PRISM_STATUS_NULL_POINTER});
	EXPECT_TRUE(server.resp.chain_ok);
}

/** A conditional request that depends on another request's status does not preserve this one's. */
TEST_F(ReadAgain, MayEndOtherwiseIfTheConditionWasNotOnIt)
{
	const soft::Sge receive{Pair::va + 4096, 64, pair.key};
	pair.server.post_receive(1, {&receive, 1});
	const std::vector<std::uint8_t> packet = read_by_pointer();
	pair.post_send(64);
	send_and_finish();
	pair.post_cas(0, 1, PRISM_FLAG_C);
	send_and_finish();
	point_at(0);
	EXPECT_EQ(status_again(packet), unsigned{PRISM_STATUS_NULL_POINTER});
}

TEST_F(ReadAgain, KeepsItsResolutionForItsChain)
{
	const std::vector<std::uint8_t> packet = read_by_pointer();
	pair.post_cas(0, 1, PRISM_FLAG_C);
	send_and_finish();
	point_at(Pair::va + 16384);
	EXPECT_EQ(status_again(packet), unsigned{PRISM_STATUS_OK});
	EXPECT_EQ(server.resp.resolution, 1u);
}

/** The region is smaller now, and the pointer leads into the rest of it. */
TEST_F(ReadAgain, LeavesARangeThatIsNoLongerPermitted)
{
	pair.post_read(pointer, 2048, PRISM_FLAG_T);
	send_and_finish();
	soft::Region smaller = *pair.server_node.engine.memory.find(pair.key);
	smaller.length = 8192;
	pair.server_node.engine.memory.replace(pair.key, smaller);
	point_at(Pair::va + 4096);
	prism_request request = read(2048, PRISM_FLAG_T);
	request.va = Pair::va + pointer;
	pair.deliver(pair.server_node, craft_request(server, 1, request));
	ASSERT_EQ(pair.server_node.outbox.size(), 2u);
	EXPECT_EQ(pair.server_node.outbox.at(0).bytes[0], PRISM_OP_READ_RESPONSE_FIRST);
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
	soft::SharedReceiveQueue list(pair.server_node.engine.take_srqn(), 1, 1, 1, true);
	pair.server_node.engine.add_srq(list);
	pair.server_node.engine.post_free_list(list, 1, {Pair::va + 0x30000, 4096, pair.key});
	const soft::Sge receive{Pair::va + 0x40000, 64, pair.key};
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
		{PRISM_OP_READ_REQUEST, 115}, {soft::rc_send_only, 116}, {PRISM_OP_ALLOCATE_FIRST, 117},
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
	answers[3].first = PRISM_OP_RESPONSE; /* requested from its first packet on, and resolved again */
	expected.insert(expected.end(), answers.begin(), answers.end());
	std::erase(answered, std::pair<unsigned, std::uint32_t>{soft::rc_acknowledge, 118});
	EXPECT_EQ(answered, expected);
	pair.server_node.engine.remove_srq(list);
}

/** ibv_modify_qp in SQD: what was executed stays known. */
TEST_F(Duplicates, AnswersStayWhenTheirNumberChanges)
{
	std::vector<std::vector<std::uint8_t>> swaps;
	for (std::uint64_t i = 0; i < 4; i++) {
		pair.post_cas(32 * i, i + 1);
		swaps.push_back(send_and_finish());
	}
	for (const std::uint32_t count : {32u, 3u, 5u}) {
		SCOPED_TRACE(count);
		soft::Engine::keep_answers(pair.server.qp, count);
		EXPECT_EQ(pair.server.qp.attr.max_dest_rd_atomic, count);
		for (std::size_t i = 1; i < swaps.size(); i++) {
			EXPECT_EQ(answer_again(swaps[i])[0], PRISM_OP_RESPONSE);
			pair.server_node.outbox.clear();
		}
	}
	pair.deliver(pair.server_node, swaps[0]);
	EXPECT_EQ(pair.server_node.outbox.size(), 0u) << "the oldest of four has made way";
	pair.post_cas(0, 9);
	swaps.push_back(send_and_finish());
	pair.post_cas(0, 10);
	swaps.push_back(send_and_finish());
	for (std::size_t i = 1; i < swaps.size(); i++) {
		EXPECT_EQ(answer_again(swaps[i])[0], PRISM_OP_RESPONSE) << i;
		pair.server_node.outbox.clear();
	}
}

} // namespace
