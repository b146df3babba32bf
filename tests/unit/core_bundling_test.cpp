/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Engines that bundle (W.12.2, W.12.3): which requests they bundle, and that loss, repetition and refusal of a bundle
 * are those of its entries.
 */
#include <gtest/gtest.h>

#include <vector>

#include "pair.hpp"

extern "C" {
#include "prism_bundle.h"
}

namespace
{

using namespace prism;
using namespace prism::test;

ConnectOptions bundling(std::uint32_t mtu = 1024)
{
	ConnectOptions options;
	options.mtu = mtu;
	options.bundles = true;
	return options;
}

struct Counted {
	std::uint64_t bundles, entries;
	bool operator==(const Counted &) const = default;
};

std::ostream &operator<<(std::ostream &out, const Counted &counted)
{
	return out << counted.entries << " entries in " << counted.bundles << " bundles";
}

Counted sent_by(const Node &node)
{
	return {node.engine.counters.tx_bundles, node.engine.counters.tx_bundled};
}

void expect_all_ok(const std::vector<ibv_wc> &completions, std::size_t count)
{
	ASSERT_EQ(completions.size(), count);
	for (const ibv_wc &wc : completions) {
		EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
		EXPECT_EQ(wc.vendor_err, PRISM_STATUS_OK);
	}
}

TEST(Bundling, WhatIsPostedTogetherIsOnePacketEachWay)
{
	Pair pair(bundling());
	for (std::uint64_t i = 0; i < 3; i++)
		pair.post_cas(64 + 8 * i, 100 + i);
	expect_all_ok(pair.run(3), 3);
	EXPECT_EQ(sent_by(pair.client_node), (Counted{1, 3}));
	EXPECT_EQ(sent_by(pair.server_node), (Counted{1, 3}));
	EXPECT_EQ(pair.packets, 2u);
	for (std::uint64_t i = 0; i < 3; i++)
		EXPECT_EQ(pair.memory[64 + 8 * i], 100 + i);
}

/** As with rings, on which packets cost little and the peer waits. */
TEST(Bundling, WhereAPacketCostsLittleTheFirstGoAloneAndAtOnce)
{
	Pair pair(bundling());
	Outbox &requests = pair.client_node.outbox, &answers = pair.server_node.outbox;
	requests.has_room = answers.has_room = soft::Room::yes;
	for (std::uint64_t i = 0; i < 5; i++)
		pair.post_cas(64 + 8 * i, 100 + i);
	requests.flushes = 0;
	pair.client_node.engine.progress(pair.now);
	ASSERT_EQ(requests.flushes, 4u);
	EXPECT_EQ(std::vector(requests.flushed_at.begin(), requests.flushed_at.begin() + 4),
		(std::vector<std::size_t>{1, 2, 3, 4}));
	EXPECT_EQ(sent_by(pair.client_node), (Counted{1, 2}));
	expect_all_ok(pair.run(5), 5);
	EXPECT_EQ(sent_by(pair.server_node), (Counted{1, 2}));
	for (std::uint64_t i = 0; i < 5; i++)
		EXPECT_EQ(pair.memory[64 + 8 * i], 100 + i);
}

TEST(Bundling, WhileThePeerIsBusyTheyGatherThereToo)
{
	Pair pair(bundling());
	pair.client_node.outbox.has_room = pair.server_node.outbox.has_room = soft::Room::yes;
	pair.post_cas(64, 100);
	pair.client_node.engine.progress(pair.now);
	for (std::uint64_t i = 1; i < 4; i++)
		pair.post_cas(64 + 8 * i, 100 + i);
	pair.client_node.engine.progress(pair.now);
	EXPECT_EQ(pair.client_node.outbox.size(), 2u);
	EXPECT_EQ(sent_by(pair.client_node), (Counted{1, 3}));
	expect_all_ok(pair.run(4), 4);
	EXPECT_EQ(sent_by(pair.server_node), (Counted{1, 3})); /* in the order of their requests */
}

TEST(Bundling, AloneItIsThePacketOfVersionOne)
{
	Pair pair(bundling());
	pair.post_cas(64, 1);
	expect_all_ok(pair.run(1), 1);
	EXPECT_EQ(sent_by(pair.client_node), (Counted{0, 0}));
	EXPECT_EQ(pair.packets, 2u);
}

TEST(Bundling, APeerOfVersionOneGetsNone)
{
	Pair pair;
	for (std::uint64_t i = 0; i < 3; i++)
		pair.post_cas(64 + 8 * i, 1);
	expect_all_ok(pair.run(3), 3);
	EXPECT_EQ(pair.packets, 6u);
}

TEST(Bundling, ADeviceOfVersionOneDropsThem)
{
	Pair pair(bundling());
	pair.server_node.engine.protocol_version = 1;
	for (std::uint64_t i = 0; i < 3; i++)
		pair.post_cas(64 + 8 * i, 1);
	pair.pass(5);
	EXPECT_GE(pair.server_node.engine.counters.rx_unknown_opcode, 1u);
	EXPECT_EQ(pair.server_node.engine.counters.prism_cas, 0u);
}

TEST(Bundling, AResponderThatHasHeardOneBundlesUntilItIsReset)
{
	Pair pair(bundling());
	pair.server.qp.peer_features &= ~peer_bundles;
	ASSERT_FALSE(pair.server.qp.bundles(PRISM_OP_BUNDLE_RESPONSE));
	for (std::uint64_t i = 0; i < 3; i++)
		pair.post_cas(64 + 8 * i, 1);
	expect_all_ok(pair.run(3), 3);
	EXPECT_EQ(sent_by(pair.server_node), (Counted{1, 3}));
	pair.server_node.engine.reset_qp(pair.server.qp);
	EXPECT_FALSE(pair.server.qp.bundles(PRISM_OP_BUNDLE_RESPONSE));
}

/** The sequence numbers of two connections happen to follow each other. */
TEST(Bundling, ConnectionsDoNotMeetInOne)
{
	Pair pair(bundling());
	Endpoint server(pair.server_node, {}), client(pair.client_node, {});
	ConnectOptions options = bundling();
	options.send_psn = options.recv_psn = 1; /* the other's first is 0 */
	client.connect(server, options);
	server.connect(client, options);
	pair.post_cas(64, 5);
	soft::SendRequest &wr = *client.next();
	std::uint8_t operands[32] = {};
	prism_request request = pair.whole(PRISM_CAS, 0);
	request.va = Pair::va + 128;
	set_prism(client, wr, request, operands);
	client.post(wr, {});
	pair.client_node.engine.progress(pair.now);
	ASSERT_EQ(pair.client_node.outbox.size(), 2u);
	for (std::size_t i = 0; i < 2; i++)
		EXPECT_EQ(pair.client_node.outbox.at(i).bytes[0], PRISM_OP_CAS);
}

TEST(Bundling, HasSixteenEntriesAtMost)
{
	Pair pair(bundling(4096));
	for (std::uint64_t i = 0; i < 16; i++)
		pair.post_read(64 * i, 64);
	expect_all_ok(pair.run(16), 16);
	EXPECT_EQ(sent_by(pair.client_node), (Counted{1, 16}));
	EXPECT_EQ(sent_by(pair.server_node), (Counted{1, 16}));
	EXPECT_EQ(pair.packets, 2u);
}

class Sent : public soft::PacketSink
{
public:
	std::uint8_t *begin(const soft::Address &, std::size_t size) override
	{
		return packets.emplace_back(size).data();
	}
	void commit() override {}
	void flush() override {}

	std::vector<std::vector<std::uint8_t>> packets;
};

/** Begins a READ request that consists of @p byte behind its BTH. */
void begin(soft::Bundler &bundler, const soft::QueuePair &qp, std::uint32_t psn, std::uint8_t byte)
{
	prism_bth bth{};
	bth.opcode = PRISM_OP_READ_REQUEST;
	bth.psn = psn;
	bth.flags = PRISM_FLAG_R;
	constexpr std::uint32_t size = PRISM_BTH_SIZE + PRISM_RETH_SIZE + PRISM_AUXETH_SIZE;
	std::uint8_t *const packet = bundler.begin_for(qp, bth.opcode, size, false);
	std::fill_n(packet, size, byte);
	prism_bth_encode(packet, &bth);
}

/** Sends @p count requests, and begins one behind each of those in @p broken_off that is never completed. */
std::vector<std::vector<std::uint8_t>> send(unsigned count, unsigned broken_off)
{
	const Pair pair(bundling());
	Sent sink;
	soft::ProtocolCounters counters;
	soft::Bundler bundler(sink, counters);
	for (unsigned i = 0; i < count; i++) {
		begin(bundler, pair.client.qp, i, static_cast<std::uint8_t>(i + 1));
		bundler.commit();
		if (broken_off >> i & 1)
			begin(bundler, pair.client.qp, i + 1, 0xee);
	}
	bundler.flush();
	return sink.packets;
}

/** A request may be given up while it is made, as its data are unmapped. */
TEST(Bundling, APacketThatIsNeverCompletedLeavesNoTrace)
{
	for (unsigned count = 1; count <= 3; count++) {
		const auto whole = send(count, 0);
		ASSERT_EQ(whole.size(), 1u);
		for (unsigned broken_off = 1; broken_off < 1u << count; broken_off++)
			EXPECT_EQ(send(count, broken_off), whole) << count << ", " << broken_off;
	}
}

TEST(Bundling, IsNoLongerThanTheLongestPacket)
{
	std::size_t longest = 0;
	for (const std::uint32_t mtu : {256u, 1024u, 4096u}) {
		Pair pair(bundling(mtu));
		for (std::uint64_t i = 0; i < 16; i++)
			pair.post_read(mtu * i, mtu / 5 + static_cast<std::uint32_t>(i));
		pair.client_node.engine.progress(pair.now);
		for (std::size_t i = 0; i < pair.client_node.outbox.size(); i++)
			pair.server_node.engine.receive(
				{pair.client_node.address, {}}, pair.client_node.outbox.at(i).bytes, pair.now);
		pair.server_node.engine.progress(pair.now);
		ASSERT_GT(pair.server_node.outbox.size(), 1u);
		for (std::size_t i = 0; i < pair.server_node.outbox.size(); i++) {
			const std::size_t size = pair.server_node.outbox.at(i).bytes.size();
			longest = std::max(longest, size);
			EXPECT_LE(size, mtu + PRISM_BUNDLE_HEADERS);
		}
		pair.client_node.outbox.clear();
		pair.server_node.outbox.clear();
	}
	EXPECT_GT(longest, 3000u) << "they are filled";
}

/** A standard request, or a READ of several PSNs, ends a bundle; the order stays. */
TEST(Bundling, OthersGoBetweenThem)
{
	Pair pair(bundling());
	const soft::Sge sge{Pair::va, 64, pair.key};
	pair.server.post_receive(1, {&sge, 1});
	pair.post_cas(64, 1);
	pair.post_cas(72, 2);
	pair.post_read(0, 5000);
	pair.post_cas(80, 3);
	pair.post_cas(88, 4);
	pair.post_send(16);
	pair.post_cas(96, 5);
	expect_all_ok(pair.run(7), 7);
	EXPECT_EQ(sent_by(pair.client_node), (Counted{2, 4}));
}

TEST(Bundling, AnUnsuccessfulEntryStopsTheChainAndNothingElse)
{
	Pair pair(bundling());
	pair.memory[64] = 9;
	pair.post_miss();
	pair.post_cas(128, 7, PRISM_FLAG_C);
	pair.post_cas(136, 8);
	const auto completions = pair.run(3);
	ASSERT_EQ(completions.size(), 3u);
	EXPECT_EQ(completions[0].vendor_err, PRISM_STATUS_CAS_MISS);
	EXPECT_EQ(completions[1].vendor_err, PRISM_STATUS_SKIPPED);
	EXPECT_EQ(completions[2].vendor_err, PRISM_STATUS_OK);
	EXPECT_EQ(pair.memory[128], 0);
	EXPECT_EQ(pair.memory[136], 8);
	EXPECT_EQ(sent_by(pair.server_node), (Counted{1, 3}));
}

TEST(Bundling, AnEntryThatIsRefusedLeavesThoseBeforeItDone)
{
	Pair pair(bundling());
	pair.post_cas(64, 1);
	pair.post_cas(1 << 30, 2); /* outside the region */
	pair.post_cas(80, 3);
	const auto completions = pair.run(3);
	ASSERT_EQ(completions.size(), 3u);
	EXPECT_EQ(completions[0].status, IBV_WC_SUCCESS);
	EXPECT_EQ(completions[1].status, IBV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(completions[2].status, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(pair.memory[64], 1);
	EXPECT_EQ(pair.memory[80], 0) << "as if it had never been received";
	EXPECT_EQ(pair.server_node.engine.counters.prism_cas, 1u);
}

/** Posts an addition, whose result shows how often it was executed. */
void post_add(Pair &pair, std::uint64_t offset)
{
	std::uint8_t operands[32] = {};
	put_unaligned_le64(1, operands + 8);
	put_unaligned_le64(1, operands + 24);
	prism_request request = pair.whole(PRISM_CAS, 0);
	request.va = Pair::va + offset;
	pair.post(request, 0, operands);
}

/** The answers are lost, or the requests, and the repeats are bundled differently. */
TEST(Bundling, LostOnesAreRepeatedAndExecutedOnce)
{
	for (const bool answers : {false, true}) {
		Pair pair(bundling());
		pair.loses = [answers, lost = false](bool to_client, const prism_bth &bth) mutable {
			return to_client == answers && prism_opcode_is_bundle(bth.opcode) && !std::exchange(lost, true);
		};
		for (std::uint64_t i = 0; i < 5; i++)
			pair.post_cas(64 + 8 * i, 50 + i);
		pair.client_node.engine.progress(pair.now);
		pair.post_cas(104, 55);
		expect_all_ok(pair.run(6), 6);
		EXPECT_EQ(pair.server_node.engine.counters.prism_cas, 6u) << answers;
		EXPECT_GE(pair.client_node.engine.counters.retransmits, 1u);
		EXPECT_EQ(pair.server_node.engine.counters.prism_replays > 0, answers);
	}
}

/** The first entries of a bundle are duplicates: those are answered again, the others executed. */
TEST(Bundling, StraddlesWhatIsExpected)
{
	Pair pair(bundling());
	for (std::uint64_t i = 0; i < 2; i++)
		post_add(pair, 64);
	pair.client_node.engine.progress(pair.now);
	pair.server_node.engine.receive({pair.client_node.address, {}}, pair.client_node.outbox.at(0).bytes, pair.now);
	pair.client_node.outbox.clear();
	ASSERT_EQ(pair.server_node.engine.counters.prism_cas, 2u);
	/* Send the same two and two new ones, in one bundle. */
	pair.client.qp.sq.cursor = pair.client.qp.sq.head;
	for (std::uint64_t i = 0; i < 2; i++) {
		soft::SendRequest &wr = pair.client.qp.sq.at(pair.client.qp.sq.head + static_cast<std::uint32_t>(i));
		wr.sent = wr.slots = wr.flight = 0;
		pair.post_cas(128 + 8 * i, 7);
	}
	pair.client.qp.req.outstanding = pair.client.qp.req.flight = 0;
	expect_all_ok(pair.run(4), 4);
	EXPECT_EQ(pair.server_node.engine.counters.prism_cas, 4u);
	EXPECT_EQ(pair.server_node.engine.counters.rx_duplicate, 2u);
	EXPECT_EQ(pair.server_node.engine.counters.prism_replays, 2u);
}

/** Two requests in a bundle made by hand, so that the test can change anything in it. */
struct ByHand {
	ByHand()
	{
		for (std::uint64_t i = 0; i < 3; i++)
			pair.post_cas(64 + 8 * i, 1 + i);
		pair.client_node.engine.progress(pair.now);
		bundle = pair.client_node.outbox.at(0).bytes;
		pair.client_node.outbox.clear();
	}

	void receive() { pair.server_node.engine.receive({pair.client_node.address, {}}, bundle, pair.now); }
	[[nodiscard]] const soft::ProtocolCounters &counted() const { return pair.server_node.engine.counters; }

	Pair pair{bundling()};
	std::vector<std::uint8_t> bundle;
};

TEST(Bundling, MalformedAndLaterThanExpectedIsALoss)
{
	ByHand hand;
	hand.bundle[11] += 5; /* the PSN */
	hand.bundle.resize(hand.bundle.size() - 4);
	hand.receive();
	EXPECT_EQ(hand.counted().rx_out_of_sequence, 1u);
	EXPECT_EQ(hand.counted().rx_bad_format, 0u);
	EXPECT_EQ(hand.pair.server.qp.state, IBV_QPS_RTS);
}

TEST(Bundling, MalformedAndBeforeWhatIsExpectedIsDropped)
{
	ByHand hand;
	hand.receive();
	ASSERT_EQ(hand.counted().prism_cas, 3u);
	hand.bundle.resize(hand.bundle.size() - 4);
	hand.receive();
	EXPECT_EQ(hand.counted().rx_duplicate_dropped, 1u);
	EXPECT_EQ(hand.pair.server.qp.state, IBV_QPS_RTS);
}

TEST(Bundling, MalformedAndExpectedIsRefused)
{
	ByHand hand;
	hand.bundle.resize(hand.bundle.size() - 4);
	hand.receive();
	EXPECT_EQ(hand.counted().rx_bad_format, 1u);
	EXPECT_EQ(hand.counted().prism_cas, 0u);
	EXPECT_EQ(hand.pair.server.qp.state, IBV_QPS_ERR);
	EXPECT_FALSE(hand.pair.server.qp.heard_bundle);
}

TEST(Bundling, ABundleOfAPastConnectionFindsNobody)
{
	ByHand hand;
	hand.pair.server_node.engine.fail_qp(hand.pair.server.qp);
	hand.receive();
	EXPECT_EQ(hand.counted().rx_unknown_qp, 1u);
	EXPECT_EQ(hand.counted().rx_bundles, 0u);
}

/** Offset of the second CAS of 8 bytes in a bundle of such. */
constexpr std::size_t second_entry = PRISM_ENTRY_HEADER_SIZE + PRISM_CASETH_SIZE + std::size_t{4} * 8;

/** Behind a READ that is being answered it waits as every request does (W.8.1). */
TEST(Bundling, MalformedBehindALongReadIsRefusedInItsTurn)
{
	for (const bool whole : {false, true}) {
		Pair pair(bundling());
		pair.client.qp.attr.ack_timeout = 0;
		pair.post_read(0, 200 << 10);
		while (pair.client.qp.sq.at(0).acked < 128)
			pair.step();
		ASSERT_TRUE(pair.server.qp.resp.stream.active);
		for (std::uint64_t i = 0; i < 3; i++)
			pair.post_cas(64 + 8 * i, 1 + i);
		pair.client_node.engine.progress(pair.now);
		std::vector<std::uint8_t> bundle = pair.client_node.outbox.at(0).bytes;
		pair.client_node.outbox.clear();
		if (whole)
			bundle.resize(bundle.size() - 4);
		else
			bundle[PRISM_BTH_SIZE + second_entry] = soft::rc_send_only;
		pair.deliver(pair.server_node, bundle);
		const auto completions = pair.run(4, 1'000'000'000);
		ASSERT_EQ(completions.size(), 4u);
		EXPECT_EQ(completions[0].status, IBV_WC_SUCCESS) << "the READ";
		EXPECT_EQ(completions[1].status, whole ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_SUCCESS);
		EXPECT_EQ(completions[2].status, whole ? IBV_WC_WR_FLUSH_ERR : IBV_WC_REM_INV_REQ_ERR);
		EXPECT_EQ(completions[3].status, IBV_WC_WR_FLUSH_ERR);
		EXPECT_EQ(pair.memory[64], whole ? 0 : 1);
		EXPECT_EQ(pair.memory[80], 0);
		EXPECT_EQ(pair.server_node.engine.counters.rx_bad_format, 1u);
	}
}

/** A forbidden entry that is a duplicate is dropped; the entries behind it are handled as usual. */
TEST(Bundling, AForbiddenDuplicateDoesNotEndTheBundle)
{
	ByHand hand;
	hand.receive();
	hand.bundle[PRISM_BTH_SIZE] = PRISM_OP_WRITE_FIRST;
	hand.receive();
	EXPECT_EQ(hand.counted().rx_duplicate, 3u);
	EXPECT_EQ(hand.counted().rx_duplicate_dropped, 1u);
	EXPECT_EQ(hand.counted().prism_replays, 2u);
	EXPECT_EQ(hand.pair.server.qp.state, IBV_QPS_RTS);
}

/**
 * The peer's record says version 1, and still it bundles: it gets bundled answers, but unbundled requests, as declared.
 */
TEST(Bundling, RequestsGoByTheRecordAlone)
{
	Pair pair(bundling());
	pair.server.qp.peer_features &= ~peer_bundles;
	for (std::uint64_t i = 0; i < 2; i++)
		pair.post_cas(64 + 8 * i, 1);
	expect_all_ok(pair.run(2), 2);
	ASSERT_EQ(sent_by(pair.server_node), (Counted{1, 2}));
	for (std::uint64_t i = 0; i < 3; i++) {
		soft::SendRequest &wr = *pair.server.next();
		prism_request request = pair.whole(PRISM_READ, 8);
		request.rkey = pair.local_key;
		set_prism(pair.server, wr, request, {});
		const soft::Sge sge{Pair::va + 4096, 8, pair.key};
		pair.server.post(wr, {&sge, 1});
	}
	pair.pass(10);
	ibv_wc wc;
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(pair.server.send_cq.poll(1, &wc), 1);
		EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	}
	EXPECT_EQ(sent_by(pair.server_node), (Counted{1, 2})) << "no request among them";
}

/**
 * A sender that knows only a queue pair's number, and can use its peer's address, must not be able to end a connection
 * of version 1: a packet that needs no valid PSN makes neither side bundle.
 */
TEST(Bundling, ABundleAtAGuessedPsnProvesNothing)
{
	for (const std::uint32_t psn : {0x800000u, 0x1000u, 0xf00000u}) {
		ByHand hand;
		Pair victim;
		victim.client_node.engine.protocol_version = 1;
		hand.bundle[9] = static_cast<std::uint8_t>(psn >> 16);
		hand.bundle[10] = static_cast<std::uint8_t>(psn >> 8);
		victim.deliver(victim.server_node, hand.bundle);
		for (std::uint64_t i = 0; i < 3; i++)
			victim.post_cas(64 + 8 * i, 1);
		expect_all_ok(victim.run(3), 3);
		EXPECT_EQ(sent_by(victim.server_node), (Counted{0, 0}));
	}
}

/** The same holds for answers. */
TEST(Bundling, ABundleOfAnswersProvesNothing)
{
	Pair pair;
	pair.client_node.engine.protocol_version = 1;
	std::vector<std::uint8_t> bundle(PRISM_BTH_SIZE + 2 * PRISM_ENTRY_HEADER_SIZE);
	prism_bth bth{};
	bth.opcode = PRISM_OP_BUNDLE_RESPONSE;
	bth.qpn = pair.server.qp.qpn;
	prism_bth_encode(bundle.data(), &bth);
	bundle[PRISM_BTH_SIZE] = bundle[PRISM_BTH_SIZE + PRISM_ENTRY_HEADER_SIZE] = PRISM_OP_RESPONSE;
	pair.deliver(pair.server_node, bundle);
	EXPECT_EQ(pair.server_node.engine.counters.rx_response_dropped, 2u);
	for (std::uint64_t i = 0; i < 3; i++)
		pair.post_cas(64 + 8 * i, 1);
	expect_all_ok(pair.run(3), 3);
}

} // namespace
