/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The invalid vectors as an engine receives them: the answer on the wire, the counter, and that nothing was executed.
 */
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "node.hpp"
#include "vectors.hpp"

extern "C" {
#include "prism_bundle.h"
}

namespace
{

using namespace prism;
using namespace prism::test;
using soft::ProtocolCounters;

constexpr std::uint32_t responder_qpn = 0x4001, requester_qpn = 0x8002, first_psn = 0x100;
constexpr std::uint64_t target_va = 0x7f1000000000, scratch_va = 0x7f2000000000, table_va = 0x7f1000001000;

const std::map<std::string, soft::Counter ProtocolCounters::*> counters{
	{"bad_format", &ProtocolCounters::rx_bad_format},
	{"bad_flags", &ProtocolCounters::rx_bad_flags},
	{"bad_operand", &ProtocolCounters::rx_bad_operand},
	{"bad_alignment", &ProtocolCounters::rx_bad_alignment},
	{"unknown_opcode", &ProtocolCounters::rx_unknown_opcode},
};

std::uint64_t refusals(const ProtocolCounters &c)
{
	return c.rx_bad_format + c.rx_bad_flags + c.rx_bad_operand + c.rx_bad_alignment + c.rx_unknown_opcode +
	       c.rx_access_error + c.rx_bad_free_list + c.rx_payload_too_large;
}

/** The responder of the vectors: its QP, and the regions and the free list that they name. */
class Responder
{
public:
	explicit Responder(std::uint32_t mtu) : node_(2, responder_qpn, 1), peer_(1, requester_qpn, 1)
	{
		memory_.resize(1 << 16);
		/* Keys of the table are index << 8 | generation: fill it up to those of the vectors. */
		soft::MemoryTable &table = node_.engine.memory;
		const std::uint32_t all = soft::access_local_write | soft::access_remote_read |
					  soft::access_remote_write | soft::access_remote_atomic;
		for (std::uint32_t key = 0; key >> 8 < 0x1b;)
			key = table.add_region(memory_.data(), (key >> 8) + 1 == 0x1b ? scratch_va : target_va,
				memory_.size(), all, 1);
		list_ = std::make_unique<soft::SharedReceiveQueue>(7, 1, 4, 1, true);
		node_.engine.add_srq(*list_);
		node_.engine.post_free_list(*list_, 1, {scratch_va + 0x8000, 1024, 0x1b01});
		ConnectOptions options;
		options.mtu = mtu;
		options.recv_psn = first_psn;
		endpoint_.connect(peer_endpoint_, options);
	}

	void receive(const Bytes &whole)
	{
		node_.engine.receive({peer_.address, {}}, std::span(whole).first(whole.size() - soft::icrc_size), 1);
		node_.engine.progress(1);
	}

	[[nodiscard]] const ProtocolCounters &counted() const { return node_.engine.counters; }
	[[nodiscard]] ibv_qp_state state() const { return endpoint_.qp.state; }
	[[nodiscard]] std::uint64_t reclaimed() const { return list_->reclaimed; }
	[[nodiscard]] std::uint64_t popped() const { return list_->popped; }
	[[nodiscard]] bool untouched() const
	{
		return std::all_of(memory_.begin(), memory_.end(), [](std::uint8_t byte) { return byte == 0; });
	}
	[[nodiscard]] const std::vector<std::uint8_t> &memory() const { return memory_; }
	Outbox &sent() { return node_.outbox; }

private:
	Node node_, peer_;
	std::vector<std::uint8_t> memory_;
	std::unique_ptr<soft::SharedReceiveQueue> list_;
	Endpoint endpoint_{node_, {}}, peer_endpoint_{peer_, {}};
};

void expect_invalid_request(Responder &responder, const std::string &reject)
{
	EXPECT_EQ(refusals(responder.counted()), 1u);
	EXPECT_EQ(responder.counted().*counters.at(reject), 1u);
	if (reject == "unknown_opcode") {
		EXPECT_EQ(responder.sent().size(), 0u) << "dropped without an answer";
		EXPECT_EQ(responder.state(), IBV_QPS_RTS);
		return;
	}
	ASSERT_GE(responder.sent().size(), 1u);
	const Bytes &nak = responder.sent().at(responder.sent().size() - 1).bytes;
	ASSERT_EQ(nak.size(), 16u);
	EXPECT_EQ(nak[0], soft::rc_acknowledge);
	EXPECT_EQ(nak[12], soft::syndrome_invalid_request);
	EXPECT_EQ(responder.state(), IBV_QPS_ERR);
}

TEST(InvalidVectors, RequestsAreRefused)
{
	for (const Json &vector : vectors()["invalid"]) {
		if (vector["kind"] != "request")
			continue;
		SCOPED_TRACE(vector["name"].get<std::string>());
		Responder responder(vector["mtu"].get<std::uint32_t>());
		responder.receive(bytes_of(vector["hex"]));
		expect_invalid_request(responder, vector["reject"]);
		EXPECT_TRUE(responder.untouched());
		EXPECT_EQ(responder.popped(), 0u);
	}
}

TEST(InvalidVectors, SequencesAreRefusedAtTheirLastPacket)
{
	for (const Json &vector : vectors()["invalid_sequences"]) {
		SCOPED_TRACE(vector["name"].get<std::string>());
		Responder responder(vector["mtu"].get<std::uint32_t>());
		const Json &packets = vector["packets"];
		for (std::size_t i = 0; i < packets.size(); i++) {
			EXPECT_EQ(refusals(responder.counted()), 0u) << "before packet " << i;
			responder.receive(bytes_of(packets[i]));
		}
		expect_invalid_request(responder, vector["reject"]);
		EXPECT_EQ(responder.reclaimed(), responder.popped()) << "the buffer comes back";
	}
}

/** A requester with one READ or CAS under way drops malformed responses. */
TEST(InvalidVectors, ResponsesAreDropped)
{
	for (const Json &vector : vectors()["invalid"]) {
		if (vector["kind"] != "response")
			continue;
		SCOPED_TRACE(vector["name"].get<std::string>());
		const Bytes whole = bytes_of(vector["hex"]);
		const std::uint32_t psn = get_unaligned_be32(whole.data() + 8) & PRISM_PSN_MASK;
		Node node(1, requester_qpn, 1), peer(2, responder_qpn, 1);
		Endpoint endpoint(node, {}), other(peer, {});
		ConnectOptions options;
		options.mtu = vector["mtu"].get<std::uint32_t>();
		options.send_psn = psn;
		endpoint.connect(other, options);
		std::vector<std::uint8_t> local(4096, 0x5a);
		const std::uint32_t key =
			node.engine.memory.add_region(local.data(), 0x1000, local.size(), soft::access_local_write, 1);

		soft::SendRequest &wr = *endpoint.next();
		prism_request request{};
		const soft::Sge sge{0x1000, whole[0] == PRISM_OP_RESPONSE ? 8u : 1024u, key};
		request.op = whole[0] == PRISM_OP_RESPONSE ? PRISM_CAS : PRISM_READ;
		request.cas_size = 8;
		request.length = 1024;
		set_prism(endpoint, wr, request, std::vector<std::uint8_t>(32));
		endpoint.post(wr, {&sge, 1});
		node.engine.progress(1);

		node.engine.receive({peer.address, {}}, std::span(whole).first(whole.size() - soft::icrc_size), 2);
		const ProtocolCounters &counted = node.engine.counters;
		EXPECT_EQ(counted.rx_response_dropped + counted.rx_resolution_dropped, 1u);
		EXPECT_TRUE(endpoint.send_cq.empty());
		EXPECT_EQ(endpoint.qp.state, IBV_QPS_RTS);
		EXPECT_TRUE(std::all_of(local.begin(), local.end(), [](std::uint8_t byte) { return byte == 0x5a; }));
	}
}

/** Returns the memory that the first @p entries of an invalid bundle write, and nothing else. */
std::vector<std::uint8_t> written_by(unsigned entries, std::size_t size)
{
	std::vector<std::uint8_t> memory(size);
	for (unsigned k = 0; k < entries; k++)
		std::fill_n(memory.begin() + (table_va - target_va) + 16 * k, 16, static_cast<std::uint8_t>(0x10 + k));
	return memory;
}

std::uint32_t psn_in(const Bytes &packet)
{
	return get_unaligned_be32(packet.data() + 8) & PRISM_PSN_MASK;
}

/** Returns the PSNs of all answers sent, in bundles or not, without the NAK. */
std::vector<std::uint32_t> answered(Responder &responder)
{
	std::vector<std::uint32_t> psns;
	for (std::size_t i = 0; i < responder.sent().size(); i++) {
		const Bytes &packet = responder.sent().at(i).bytes;
		if (packet[0] == PRISM_OP_RESPONSE)
			psns.push_back(psn_in(packet));
		prism_bundle bundle;
		if (packet[0] != PRISM_OP_BUNDLE_RESPONSE ||
			!prism_bundle_open(&bundle, packet.data(), static_cast<u32>(packet.size()), 4096))
			continue;
		Bytes entry(PRISM_MAX_ENTRY_PACKET(4096));
		while (prism_bundle_next(&bundle, entry.data()))
			psns.push_back(psn_in(entry));
	}
	return psns;
}

/** Refused at the entry at fault: those before it are executed and answered, it and those behind it are not. */
TEST(InvalidVectors, BundlesAreRefused)
{
	for (const Json &vector : vectors()["invalid_bundles"]) {
		if (vector["kind"] != "request")
			continue;
		SCOPED_TRACE(vector["name"].get<std::string>());
		const auto executed = vector["executed"].get<std::uint32_t>();
		Responder responder(vector["mtu"].get<std::uint32_t>());
		responder.receive(bytes_of(vector["hex"]));
		expect_invalid_request(responder, vector["reject"]);
		ASSERT_GE(responder.sent().size(), 1u);
		EXPECT_EQ(psn_in(responder.sent().at(responder.sent().size() - 1).bytes), first_psn + executed);
		EXPECT_EQ(responder.memory(), written_by(executed, responder.memory().size()));
		EXPECT_EQ(responder.counted().prism_writes, executed);
		EXPECT_EQ(responder.popped(), 0u);
		const std::vector<std::uint32_t> psns = answered(responder);
		EXPECT_EQ(psns.size(), executed);
		for (std::uint32_t k = 0; k < psns.size(); k++)
			EXPECT_EQ(psns[k], first_psn + k);
	}
}

/** A requester that waits for the answers of the bundles. */
class Requester
{
public:
	Requester(std::uint32_t mtu, unsigned reads_at) : local_(8192, 0x5a)
	{
		ConnectOptions options;
		options.mtu = mtu;
		options.send_psn = first_psn;
		endpoint_.connect(other_, options);
		const std::uint32_t key = node_.engine.memory.add_region(
			local_.data(), 0x1000, local_.size(), soft::access_local_write, 1);
		for (unsigned k = 0; k < 4; k++) {
			soft::SendRequest &wr = *endpoint_.next();
			prism_request request{};
			request.op = k == reads_at ? PRISM_READ : PRISM_CAS;
			request.cas_size = 8;
			request.length = 16;
			const soft::Sge sge{0x1000 + 1024 * k, k == reads_at ? 16u : 8u, key};
			set_prism(endpoint_, wr, request, std::vector<std::uint8_t>(32));
			endpoint_.post(wr, {&sge, 1});
		}
		node_.engine.progress(1);
	}

	void receive(const Bytes &whole)
	{
		node_.engine.receive({peer_.address, {}}, std::span(whole).first(whole.size() - soft::icrc_size), 2);
	}

	/** Returns the number of requests that have completed, all of them well. */
	unsigned completed()
	{
		unsigned count = 0;
		for (ibv_wc wc; endpoint_.send_cq.poll(1, &wc); count++)
			EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
		return count;
	}
	[[nodiscard]] const ProtocolCounters &counted() const { return node_.engine.counters; }
	[[nodiscard]] ibv_qp_state state() const { return endpoint_.qp.state; }
	[[nodiscard]] const std::vector<std::uint8_t> &local() const { return local_; }

private:
	Node node_{1, requester_qpn, 1}, peer_{2, responder_qpn, 1};
	std::vector<std::uint8_t> local_;
	Endpoint endpoint_{node_, {}}, other_{peer_, {}};
};

TEST(InvalidVectors, BundledResponsesAreDropped)
{
	for (const Json &vector : vectors()["invalid_bundles"]) {
		if (vector["kind"] != "response")
			continue;
		SCOPED_TRACE(vector["name"].get<std::string>());
		const auto accepted = vector["executed"].get<unsigned>();
		const bool reads = vector["name"].get<std::string>().find("read_response_only") != std::string::npos;
		Requester requester(vector["mtu"].get<std::uint32_t>(), reads ? accepted : 4);
		requester.receive(bytes_of(vector["hex"]));
		EXPECT_EQ(requester.counted().rx_response_dropped, 1u);
		EXPECT_EQ(requester.counted().rx_resolution_dropped, 0u);
		EXPECT_EQ(requester.completed(), accepted);
		EXPECT_EQ(requester.state(), IBV_QPS_RTS);
		std::vector<std::uint8_t> expected(requester.local().size(), 0x5a);
		for (unsigned k = 0; k < accepted; k++)
			put_unaligned_le64(0x1122334455667700 + k, expected.data() + std::size_t{1024} * k);
		EXPECT_EQ(requester.local(), expected);
	}
}

/** Valid responses of the same construction are accepted: those above are not dropped for another reason. */
TEST(InvalidVectors, BundledResponsesAroundThemAreTaken)
{
	Bytes bundle;
	for (const Json &vector : vectors()["invalid_bundles"])
		if (vector["name"] == "bundle_response_1_words_of_zeros_behind_the_last_entry")
			bundle = bytes_of(vector["hex"]);
	ASSERT_FALSE(bundle.empty());
	bundle.resize(bundle.size() - 4); /* without the faulty word; the engine does not check the ICRC */
	Requester requester(256, 4);
	requester.receive(bundle);
	EXPECT_EQ(requester.counted().rx_response_dropped, 0u);
	EXPECT_EQ(requester.completed(), 2u);
}

} // namespace
