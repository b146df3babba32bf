/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A bundle means the same as its entries as single packets (W.12): two responders get the same requests, one of them in
 * bundles, and their answers must not differ. Includes duplicates, gaps, faults, long READs and packets that may not be
 * entries.
 */
#include <gtest/gtest.h>

#include <map>

#include "craft.hpp"
#include "random.hpp"

extern "C" {
#include "prism_bundle.h"
}

namespace
{

using namespace prism;
using namespace prism::test;

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t mtu = 256;
constexpr std::uint32_t slots = 32;
constexpr std::uint32_t list_number = 5;
constexpr std::uint64_t memory_va = 0x10'0000;
constexpr std::size_t memory_size = 512 << 10;
constexpr std::uint64_t pointers = 0x1000, words = 0x2000, data = 0x4000, buffers = 0x8000;

/** A responder with memory and a free list. */
struct World {
	World() : memory(memory_size)
	{
		key = server_node.engine.memory.add_region(memory.data(), memory_va, memory_size, rights, 1);
		server_node.engine.add_srq(list);
		list.number = list_number;
	}
	~World() { server_node.engine.remove_srq(list); }

	void begin(std::uint32_t psn)
	{
		ConnectOptions options;
		options.mtu = mtu;
		options.bundles = true;
		options.recv_psn = psn;
		options.max_rd_atomic = slots;
		server.connect(client, options);
		for (std::uint64_t i = 0; i < 64; i++)
			put_unaligned_le64(i % 5 ? memory_va + data + 64 * i : 0, memory.data() + pointers + 16 * i);
	}

	void receive(const Bytes &packet) { server_node.engine.receive({client_node.address, {}}, packet, now); }

	/** Lets time pass; returns the packets that the peer gets, bundles taken apart. */
	std::vector<Bytes> progress(soft::Time later)
	{
		now += later;
		server_node.engine.progress(now);
		std::vector<Bytes> sent;
		for (std::size_t i = 0; i < server_node.outbox.size(); i++)
			take_apart(server_node.outbox.at(i).bytes, sent);
		server_node.outbox.clear();
		return sent;
	}

	static void take_apart(const Bytes &packet, std::vector<Bytes> &into)
	{
		prism_bundle bundle;
		if (!prism_opcode_is_bundle(packet[0])) {
			into.push_back(packet);
			return;
		}
		ASSERT_TRUE(prism_bundle_open(&bundle, packet.data(), static_cast<u32>(packet.size()), mtu));
		for (Bytes entry(PRISM_MAX_ENTRY_PACKET(mtu));;) {
			const u32 size = prism_bundle_next(&bundle, entry.data());
			if (!size)
				return;
			into.emplace_back(entry.begin(), entry.begin() + size);
		}
	}

	/** Returns the next PSN that it would accept. */
	[[nodiscard]] std::uint32_t next_psn() const
	{
		const soft::ResponderState &state = server.qp.resp;
		return state.stream.active ? state.held_psn : state.expected_psn;
	}

	/** Returns all counters except those that tell bundles from packets. */
	[[nodiscard]] std::map<std::string, std::uint64_t> counted()
	{
		soft::ProtocolCounters &counters = server_node.engine.counters;
		std::map<std::string, std::uint64_t> all;
#define X(name) all[#name] = counters.name;
		PRISM_PROTOCOL_COUNTERS(X)
#undef X
		for (const char *bundles : {"rx_bundles", "rx_bundled", "tx_bundles", "tx_bundled", "rx_unknown_qp"})
			all.erase(bundles);
		return all;
	}

	static constexpr std::uint32_t rights = soft::access_local_write | soft::access_remote_read |
						soft::access_remote_write | soft::access_remote_atomic;
	Node server_node{1}, client_node{2};
	Endpoint server{server_node, {}}, client{client_node, {}};
	soft::SharedReceiveQueue list{list_number, 1, 64, 1, true};
	Bytes memory;
	std::uint32_t key = 0;
	soft::Time now = 1000;
};

/** A request, and, if it may not be an entry, the packet that breaks F4 in its place. */
struct Sent {
	Bytes packet;
	bool entry = false;
	Bytes alone = {}; /* empty: the packet itself */
};

class Meaning
{
public:
	explicit Meaning(std::uint64_t seed) : random_(seed) {}

	void run()
	{
		reconnect();
		for (unsigned i = 0; i < 60 && !testing::Test::HasFailure(); i++) {
			if (bundled_.server.qp.state == IBV_QPS_ERR)
				reconnect();
			post_buffer();
			batch();
			compare();
		}
		executed += bundled_.server_node.engine.counters.prism_cas;
		bundles += bundled_.server_node.engine.counters.rx_bundles;
	}

	static inline std::uint64_t executed = 0, bundles = 0;

private:
	void reconnect()
	{
		const auto psn = static_cast<std::uint32_t>(random_.pick({0u, 0xfffff8u, 0x1234u}));
		bundled_.begin(psn);
		single_.begin(psn);
		requests_.clear();
	}

	void post_buffer()
	{
		if (!random_.chance(30))
			return;
		const soft::Sge sge{memory_va + data, 64, bundled_.key};
		bundled_.server.post_receive(1, {&sge, 1});
		single_.server.post_receive(1, {&sge, 1});
		const std::uint64_t number = random_.below(16);
		for (World *world : {&bundled_, &single_})
			world->server_node.engine.post_free_list(
				world->list, number, {memory_va + buffers + 4096 * number, 200, world->key});
	}

	prism_request request()
	{
		prism_request request{};
		request.first = request.last = true;
		request.op = static_cast<prism_op>(random_.below(4));
		request.rkey = request.aux_rkey = bundled_.key;
		request.va = memory_va + words + 16 * random_.below(16);
		request.aux_va = memory_va + words + 16 * random_.below(16);
		request.free_list = list_number;
		request.tag = 7;
		if (request.op == PRISM_CAS)
			request.cas_size = 8;
		else
			request.length = static_cast<std::uint32_t>(random_.below(80));
		if (random_.chance(25))
			request.flags |= PRISM_FLAG_C;
		if (request.op == PRISM_READ && random_.chance(40)) {
			request.flags |= PRISM_FLAG_T;
			request.va = memory_va + pointers + 16 * random_.below(64);
		}
		if ((request.op == PRISM_READ || request.op == PRISM_ALLOCATE) && random_.chance(20))
			request.flags |= PRISM_FLAG_R;
		if (random_.chance(0.5))
			request.va = 0x10;
		if (random_.chance(0.5))
			request.flags |= PRISM_FLAG_B;
		return request;
	}

	Sent fresh(std::uint32_t psn)
	{
		prism_request wanted = request();
		const bool carries = wanted.op == PRISM_WRITE || wanted.op == PRISM_ALLOCATE;
		const soft::QueuePair &to = bundled_.server.qp;
		if (random_.chance(3)) {
			wanted = {};
			wanted.op = PRISM_READ;
			wanted.first = wanted.last = true;
			wanted.va = memory_va;
			wanted.rkey = bundled_.key;
			wanted.length = static_cast<std::uint32_t>(random_.between(mtu + 1, 300 << 10));
			return {craft_request(to, psn, wanted), false};
		}
		Bytes packet = craft_request(to, psn, wanted, carries ? (wanted.length + 3) & ~3u : 0);
		if (carries)
			packet[1] |= static_cast<std::uint8_t>((-wanted.length & 3) << 4);
		if (!random_.chance(40))
			packet[8] |= PRISM_BTH_ACK_REQ;
		return {packet, true};
	}

	/** Returns a packet that breaks F4. */
	Bytes broken(std::uint32_t psn) { return craft(bundled_.server.qp, PRISM_OP_WRITE_ONLY, psn, 29); }

	/** Returns a packet that W.12.1 does not allow in a bundle, and what the other responder gets in its place. */
	Sent forbidden(std::uint32_t psn)
	{
		const soft::QueuePair &to = bundled_.server.qp;
		const auto opcode = random_.pick<std::uint8_t>(
			{PRISM_OP_READ_REQUEST, PRISM_OP_WRITE_FIRST, PRISM_OP_ALLOCATE_LAST, soft::rc_send_only,
				PRISM_OP_BUNDLE, PRISM_OP_BUNDLE_RESPONSE, PRISM_OP_RESPONSE, 0xcf});
		if (random_.chance(30)) { /* not a bundle, as its first entry is longer than itself */
			Bytes none = craft(to, PRISM_OP_BUNDLE, psn, 16 + 4 * random_.below(20));
			none[14] = 1;
			return {none, false, broken(psn)};
		}
		if (opcode != PRISM_OP_READ_REQUEST)
			return {craft(to, opcode, psn, 12 + 4 * random_.below(20)), true, broken(psn)};
		prism_request longer = request();
		longer.op = PRISM_READ;
		longer.flags = 0;
		longer.length = static_cast<std::uint32_t>(random_.pick({mtu + 1, 1u << 20, 0x7fffffffu, ~0u}));
		return {craft_request(to, psn, longer), true, broken(psn)};
	}

	Sent standard(std::uint32_t psn)
	{
		const auto opcode =
			random_.pick<std::uint8_t>({soft::rc_fetch_add, soft::rc_write_only, soft::rc_send_only});
		const std::uint32_t payload = opcode == soft::rc_send_only ? 0 : opcode == soft::rc_fetch_add ? 28 : 16;
		Bytes packet = craft(bundled_.server.qp, opcode, psn, PRISM_BTH_SIZE + payload);
		packet[8] |= PRISM_BTH_ACK_REQ;
		if (payload) {
			put_unaligned_be64(memory_va + words, packet.data() + 12);
			put_unaligned_be32(bundled_.key, packet.data() + 20);
		}
		return {packet, false};
	}

	Sent at(std::uint32_t psn)
	{
		const auto known = requests_.find(psn);
		if (known != requests_.end() && random_.chance(85))
			return known->second;
		if (random_.chance(1.5))
			return forbidden(psn);
		return requests_[psn] = random_.chance(5) ? standard(psn) : fresh(psn);
	}

	void batch()
	{
		std::uint32_t psn = bundled_.next_psn();
		if (random_.chance(35))
			psn = soft::psn_add(psn, -static_cast<std::uint32_t>(random_.below(20)) & PRISM_PSN_MASK);
		else if (random_.chance(8))
			psn = soft::psn_add(psn, static_cast<std::uint32_t>(random_.between(1, 3)));
		const std::uint64_t count = random_.below(24);
		std::vector<Bytes> gathered;
		for (std::uint64_t i = 0; i < count; i++) {
			const Sent sent = at(psn);
			if (!sent.entry || random_.chance(15))
				flush(gathered);
			if (sent.entry)
				gathered.push_back(sent.packet);
			else
				bundled_.receive(sent.packet);
			deliver_single(sent);
			if (gathered.size() == PRISM_BUNDLE_MAX_ENTRIES)
				flush(gathered);
			psn = soft::psn_add(psn, sent.alone.empty() ? psns_of(sent.packet) : 1);
		}
		flush(gathered);
	}

	void deliver_single(const Sent &sent) { pending_.push_back(sent.alone.empty() ? sent.packet : sent.alone); }

	void flush(std::vector<Bytes> &gathered)
	{
		Bytes bundle(PRISM_BTH_SIZE);
		std::size_t entries = 0;
		const auto leave = [&] {
			if (entries >= PRISM_BUNDLE_MIN_ENTRIES)
				bundled_.receive(bundle);
			entries = 0;
			bundle.resize(PRISM_BTH_SIZE);
		};
		for (std::size_t i = 0; i < gathered.size(); i++) {
			const Bytes &packet = gathered[i];
			const auto size = static_cast<u32>(packet.size());
			const u32 more = prism_bundle_entry_size(packet.data(), size);
			if (bundle.size() + more > mtu + PRISM_BUNDLE_HEADERS)
				end_bundle(bundle, entries, gathered, i);
			if (!entries)
				prism_bundle_put_header(bundle.data(), packet.data());
			bundle[0] = PRISM_OP_BUNDLE;
			bundle.resize(bundle.size() + more);
			prism_bundle_put_entry(bundle.data() + bundle.size() - more, packet.data(), size);
			entries++;
		}
		if (entries == 1)
			end_bundle(bundle, entries, gathered, gathered.size());
		else
			leave();
		gathered.clear();
		for (const Bytes &packet : std::exchange(pending_, {}))
			single_.receive(packet);
	}

	/** Delivers the bundle; a single entry is delivered as its packet. */
	void end_bundle(Bytes &bundle, std::size_t &entries, const std::vector<Bytes> &gathered, std::size_t behind)
	{
		if (entries == 1)
			bundled_.receive(alone_of(gathered[behind - 1]));
		else if (entries)
			bundled_.receive(bundle);
		entries = 0;
		bundle.resize(PRISM_BTH_SIZE);
	}

	/**
	 * Returns what the unbundled responder gets for @p packet: a packet that breaks F4 if a bundle may not have it
	 * as an entry.
	 */
	Bytes alone_of(const Bytes &packet)
	{
		if (prism_bundle_takes(packet.data(), static_cast<u32>(packet.size()), mtu) &&
			prism_bundle_opcode_of(packet[0]) == PRISM_OP_BUNDLE)
			return packet;
		return broken(get_unaligned_be32(packet.data() + 8) & PRISM_PSN_MASK);
	}

	static std::uint32_t psns_of(const Bytes &packet)
	{
		if (packet[0] != PRISM_OP_READ_REQUEST || (packet[8] & PRISM_FLAG_R))
			return 1;
		const std::uint32_t length = get_unaligned_be32(packet.data() + 24);
		return std::max(1u, (length + mtu - 1) / mtu);
	}

	void compare()
	{
		const soft::Time later = random_.pick({1'000, 20'000, 200'000, 3'000'000});
		const std::vector<Bytes> expected = single_.progress(later), sent = bundled_.progress(later);
		ASSERT_EQ(sent.size(), expected.size());
		for (std::size_t i = 0; i < sent.size(); i++)
			ASSERT_EQ(sent[i], expected[i]) << "answer " << i << " of " << sent.size();
		ASSERT_EQ(bundled_.counted(), single_.counted());
		ASSERT_EQ(bundled_.server.qp.state, single_.server.qp.state);
		ASSERT_EQ(bundled_.next_psn(), single_.next_psn());
		ASSERT_TRUE(bundled_.memory == single_.memory);
		ASSERT_EQ(bundled_.list.popped, single_.list.popped);
	}

	Random random_;
	World bundled_, single_;
	std::map<std::uint32_t, Sent> requests_;
	std::vector<Bytes> pending_;
};

TEST(BundleMeaning, ABundleIsItsEntries)
{
	for (std::uint64_t seed = 1; seed <= 150 && !HasFailure(); seed++) {
		SCOPED_TRACE(seed);
		Meaning(seed).run();
	}
	EXPECT_GT(Meaning::executed, 5'000u);
	EXPECT_GT(Meaning::bundles, 5'000u);
}

/** A requester whose answers the test makes up. */
struct Asker {
	Asker() : memory(1 << 16)
	{
		key = client_node.engine.memory.add_region(memory.data(), memory_va, memory.size(), World::rights, 1);
		ConnectOptions options;
		options.mtu = mtu;
		options.bundles = true;
		options.send_psn = options.recv_psn = 0xfffff0;
		client.connect(server, options);
	}

	void post(prism_request request)
	{
		soft::SendRequest *wr = client.next();
		if (!wr)
			return;
		const Bytes operands(32);
		set_prism(client, *wr, request,
			request.op == PRISM_CAS ? std::span(operands) : std::span<std::uint8_t>());
		const bool plain = request.op == PRISM_WRITE || request.op == PRISM_READ;
		const soft::Sge sge{memory_va, request.length, key};
		client.post(*wr, {&sge, plain && request.length ? 1u : 0u});
	}

	void receive(const Bytes &packet) { client_node.engine.receive({server_node.address, {}}, packet, now); }

	/** Lets time pass; adds the packets that it sends, bundles taken apart, and its completions. */
	void progress(soft::Time later, std::vector<Bytes> &sent, std::vector<std::pair<int, unsigned>> &completed)
	{
		now += later;
		client_node.engine.progress(now);
		for (std::size_t i = 0; i < client_node.outbox.size(); i++)
			World::take_apart(client_node.outbox.at(i).bytes, sent);
		client_node.outbox.clear();
		for (ibv_wc wc; client.send_cq.poll(1, &wc);)
			completed.emplace_back(wc.status, wc.vendor_err);
	}

	Node client_node{1}, server_node{2};
	Endpoint client{client_node, {}}, server{server_node, {}};
	Bytes memory;
	std::uint32_t key = 0;
	soft::Time now = 1000;
};

class Answered
{
public:
	explicit Answered(std::uint64_t seed) : random_(seed) {}

	void run()
	{
		for (unsigned i = 0; i < 80 && !testing::Test::HasFailure(); i++) {
			post();
			compare();
			answer();
			compare();
		}
		bundles += bundled_.client_node.engine.counters.rx_bundles;
	}

	static inline std::uint64_t bundles = 0, completions = 0;

private:
	void post()
	{
		for (std::uint64_t count = random_.below(12); count; count--) {
			prism_request request{};
			request.op = static_cast<prism_op>(random_.below(4));
			request.va = memory_va;
			request.flags = random_.chance(30) ? PRISM_FLAG_C : 0;
			if (request.op == PRISM_CAS)
				request.cas_size = 8;
			else if (request.op != PRISM_ALLOCATE)
				request.length = static_cast<std::uint32_t>(random_.below(100));
			bundled_.post(request);
			single_.post(request);
		}
	}

	/** Returns an answer to the request in the queue at @p psn, if there is one; by chance the right answer. */
	Bytes answer_at(std::uint32_t psn)
	{
		soft::QueuePair &to = bundled_.client.qp;
		prism_request request{};
		for (std::uint32_t i = to.sq.head; i != to.sq.tail; i++)
			if (to.sq.at(i).started && to.sq.at(i).first_psn == psn)
				request = to.sq.at(i).prism;
		if (random_.chance(2)) /* of a length that no answer has */
			return craft(to, PRISM_OP_RESPONSE, psn, PRISM_BTH_SIZE + 4 * random_.below(4));
		if (random_.chance(2)) {
			Bytes longer = craft(to, PRISM_OP_RESPONSE, psn, 80);
			longer.back() = 1;
			return longer;
		}
		if ((request.flags & PRISM_FLAG_C) && random_.chance(30))
			return craft_response(to, psn, PRISM_STATUS_SKIPPED);
		if (request.op != PRISM_READ || random_.chance(2))
			return craft_response(
				to, psn, PRISM_STATUS_OK, request.op == PRISM_ALLOCATE ? 1 : request.length);
		const std::uint32_t length = request.length + (random_.chance(2) ? 4 : 0);
		Bytes data =
			craft_data(to, PRISM_OP_READ_RESPONSE_ONLY, psn, ++resolution_, length, (length + 3) & ~3u);
		data[1] |= static_cast<std::uint8_t>((-length & 3) << 4);
		return data;
	}

	void answer()
	{
		std::uint32_t psn = bundled_.client.qp.req.unacked;
		if (random_.chance(20))
			psn = soft::psn_add(psn, static_cast<std::uint32_t>(random_.below(9) - 4) & PRISM_PSN_MASK);
		Bytes bundle(PRISM_BTH_SIZE);
		const std::uint64_t wanted = random_.between(2, PRISM_BUNDLE_MAX_ENTRIES);
		std::vector<Bytes> packets;
		for (std::uint64_t i = 0; i < wanted; i++) {
			const Bytes packet = answer_at(psn);
			const u32 more = prism_bundle_entry_size(packet.data(), static_cast<u32>(packet.size()));
			if (bundle.size() + more > mtu + PRISM_BUNDLE_HEADERS)
				break;
			if (!i)
				prism_bundle_put_header(bundle.data(), packet.data());
			bundle.resize(bundle.size() + more);
			prism_bundle_put_entry(
				bundle.data() + bundle.size() - more, packet.data(), static_cast<u32>(packet.size()));
			packets.push_back(packet);
			psn = soft::psn_add(psn, 1);
		}
		if (packets.size() >= PRISM_BUNDLE_MIN_ENTRIES)
			bundled_.receive(bundle);
		for (const Bytes &packet : packets)
			if (packets.size() >= PRISM_BUNDLE_MIN_ENTRIES)
				single_.receive(packet);
	}

	void compare()
	{
		const soft::Time later = random_.pick({1'000, 20'000, 2'000'000});
		std::vector<Bytes> sent, expected;
		std::vector<std::pair<int, unsigned>> completed, due;
		bundled_.progress(later, sent, completed);
		single_.progress(later, expected, due);
		ASSERT_EQ(completed, due);
		ASSERT_TRUE(sent == expected);
		const soft::ProtocolCounters &a = bundled_.client_node.engine.counters;
		const soft::ProtocolCounters &b = single_.client_node.engine.counters;
		ASSERT_EQ(a.rx_response_dropped, b.rx_response_dropped);
		ASSERT_EQ(a.rx_resolution_dropped, b.rx_resolution_dropped);
		ASSERT_EQ(a.retransmits, b.retransmits);
		ASSERT_EQ(a.timeouts, b.timeouts);
		ASSERT_EQ(bundled_.client.qp.req.flight, single_.client.qp.req.flight);
		ASSERT_EQ(bundled_.client.qp.req.outstanding, single_.client.qp.req.outstanding);
		ASSERT_EQ(bundled_.client_node.engine.next_deadline(), single_.client_node.engine.next_deadline());
		completions += completed.size();
	}

	Random random_;
	Asker bundled_, single_;
	std::uint32_t resolution_ = 0;
};

TEST(BundleMeaning, ABundleOfAnswersIsItsEntries)
{
	for (std::uint64_t seed = 1; seed <= 150 && !HasFailure(); seed++) {
		SCOPED_TRACE(seed);
		Answered(seed).run();
	}
	EXPECT_GT(Answered::completions, 10'000u);
	EXPECT_GT(Answered::bundles, 5'000u);
}

} // namespace
