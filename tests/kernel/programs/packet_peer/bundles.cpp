/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Bundles (W.12) to the device and from it: an entry acts as the packet that it replaces, whatever happens to those
 * beside it. Malformed bundles are in the vectors.
 */
#include <infiniband/opcode.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "bench.hpp"

extern "C" {
#include "prism_bundle.h"
}

namespace prism::packet_peer
{

using reference::Op;

namespace
{

/** Returns a CAS of word @p i whose result tells if it was executed once. */
Request count_up(unsigned i)
{
	Request request = operation(Op::cas);
	request.va = word_va + std::uint64_t{16} * i;
	return request;
}

/** Requests of one connection with their exchanges, at stable addresses. */
class Series
{
public:
	Series(Bench &bench_, std::vector<Request> requests, std::uint32_t psn = 0xfffffd, std::uint32_t mtu = 256)
		: bench(bench_), target(bench_.fresh(mtu, psn)), requests_(std::move(requests))
	{
		if (bench.world.lists[list_own].entries.empty())
			for (unsigned i = 0; i < 8; i++)
				bench.supply(list_own, i);
		bench.poke_word(pointer_va, main_va + 0x4000);
		for (unsigned i = 0; i < 8; i++)
			bench.poke(word_va + std::uint64_t{16} * i, Bytes(16));
		for (const Request &request : requests_)
			exchanges.push_back(target.encode(request, bench.names(request), bench.random));
		for (const Exchange &exchange : exchanges)
			packets.push_back(exchange.packets.at(0));
	}

	void send(std::size_t begin, std::size_t end) const
	{
		bench.peer.send(bundle_of(std::span(packets).subspan(begin, end - begin)));
	}

	/** Expects that they were executed and answered so. Stops at the first that is refused. */
	void expect_executed(std::size_t begin, std::size_t end, const std::string &what)
	{
		for (std::size_t i = begin; i < end; i++) {
			Outcome expected = bench.world.execute(requests_[i]);
			expected.reason = reference::Reason::none;
			const Outcome got = target.answer(exchanges[i]);
			const bool completed = expected.verdict == Verdict::completed;
			bench.expect(completed ? got == expected : got.verdict == expected.verdict,
				fmt::format("{}: outcome of entry {}", what, i));
			outcomes_.push_back(got);
			if (!completed)
				break;
		}
		bench.expect_agreement(target, what);
	}

	/** Expects the answers of the first time, without execution. */
	void expect_replayed(std::size_t begin, std::size_t end, const std::string &what)
	{
		for (std::size_t i = begin; i < end; i++)
			bench.expect(target.answer_again(exchanges[i]) == outcomes_.at(i),
				fmt::format("{}: outcome of duplicate {}", what, i));
	}

	void expect_silence(const std::string &what) const
	{
		bench.expect(!bench.peer.receive(std::chrono::milliseconds(50)), what + ": something more is answered");
	}

	Bench &bench;
	WireTarget &target;
	std::vector<Exchange> exchanges;
	std::vector<Packet> packets;

private:
	std::vector<Request> requests_;
	std::vector<Outcome> outcomes_;
};

std::vector<Request> counts(unsigned number)
{
	std::vector<Request> requests;
	for (unsigned i = 0; i < number; i++)
		requests.push_back(count_up(i));
	return requests;
}

/** Every operation, a chain that breaks, pads, and the fewest and most entries */
void well_formed(Bench &bench)
{
	using namespace reference;
	const std::vector<Request> all{operation(Op::write, 0, 13), operation(Op::read, 0, 100), operation(Op::cas),
		operation(Op::write, conditional, 8), operation(Op::allocate, redirect, 5),
		operation(Op::read, indirect | redirect), operation(Op::write, data_indirect, 16)};
	for (std::size_t begin = 0; begin + 1 < all.size(); begin++) {
		Series series(bench, {all.begin() + static_cast<std::ptrdiff_t>(begin), all.end()}, 0xfffffd, 512);
		series.send(0, series.exchanges.size());
		series.expect_executed(0, series.exchanges.size(), "every operation");
		series.expect_silence("every operation");
	}
	std::vector<Request> writes;
	for (std::uint32_t i = 0; i < PRISM_BUNDLE_MAX_ENTRIES; i++)
		writes.push_back(operation(Op::write, 0, i % 9));
	Series most(bench, writes, 0x10, 1024);
	most.send(0, writes.size());
	most.expect_executed(0, writes.size(), "the most entries");
}

/** Answers to requests that waited together are one packet, however many READs with data are among them. */
void answers_bundled(Bench &bench)
{
	Series series(bench, {count_up(0), count_up(1), operation(Op::read, 0, 64), count_up(2), count_up(0)}, 0x20);
	const std::size_t before = bench.peer.bundles().size();
	const std::vector<std::string> names{"tx_bundles", "tx_bundled"};
	const std::vector<std::uint64_t> counted = bench.device.counters(names);
	series.send(0, 5);
	series.expect_executed(0, 5, "answers");
	bench.expect(bench.peer.bundles().size() == before + 1 && bench.peer.bundles().back() == 5,
		"the answers to a bundle are not one packet");
	const std::vector<std::uint64_t> now = bench.device.counters(names);
	bench.expect(now[0] == counted[0] + 1 && now[1] == counted[1] + 5, "tx_bundles, tx_bundled: other counts");
}

/** For the device, the peer is of version 1 until it sends a bundle, and again after a reset */
void answers_single(Bench &bench)
{
	for (unsigned round = 0; round < 2; round++) {
		Series series(bench, counts(4), 0x30);
		const std::size_t before = bench.peer.bundles().size();
		bench.peer.send_train(series.packets);
		series.expect_executed(0, 4, "a train to who knows no bundles");
		bench.expect(bench.peer.bundles().size() == before, "a bundle to who has sent none");
		if (round)
			return;
		Series next(bench, counts(2), 0x40);
		next.send(0, 2);
		next.expect_executed(0, 2, "a bundle before the reset");
	}
}

/** Access errors and F rules alike: entries before it are answered, those behind it have no effect. */
void refused_in_the_middle(Bench &bench)
{
	Request foreign = operation(Op::write);
	foreign.region = region_foreign;
	for (unsigned at = 0; at < 4; at++) {
		std::vector<Request> requests = counts(4);
		requests[at] = foreign;
		Series series(bench, requests);
		series.send(0, 4);
		series.expect_executed(0, 4, "an entry that is refused");
		series.expect_silence("an entry that is refused");
		bench.expect(wait_until([&] { return state_of(series.target.qp()) == IBV_QPS_ERR; }),
			"an entry that is refused: not in ERROR");
		bench.expect_agreement(series.target, "an entry that is refused");
	}
}

/** The same again: whole, in part with new ones behind, bundled differently, and singly */
void duplicates(Bench &bench)
{
	Series series(bench, counts(8));
	const std::uint64_t replays = bench.device.counter("prism_replays");
	series.send(0, 4);
	series.expect_executed(0, 4, "a bundle");
	for (unsigned i = 0; i < 8; i++)
		bench.poke(word_va + std::uint64_t{16} * i, Bytes(16));
	series.send(0, 4);
	series.expect_replayed(0, 4, "a bundle again");
	series.send(2, 6);
	series.expect_replayed(2, 4, "a bundle that straddles the expected PSN");
	series.expect_executed(4, 6, "a bundle that straddles the expected PSN");
	series.send(1, 3);
	series.send(3, 6);
	series.expect_replayed(1, 6, "bundled otherwise");
	for (std::size_t i = 0; i < 6; i++)
		bench.peer.send(series.packets[i]);
	series.expect_replayed(0, 6, "repeated singly");
	series.send(5, 8);
	series.expect_replayed(5, 6, "one repeated, two new");
	series.expect_executed(6, 8, "one repeated, two new");
	series.expect_silence("duplicates");
	bench.expect_agreement(series.target, "duplicates");
	bench.expect(wait_until([&] { return bench.device.counter("prism_replays") == replays + 4 + 2 + 5 + 6 + 1; }),
		"duplicates: another count of replays");
}

/** If a request before it was lost, a bundle is a sequence error, once. */
void ahead(Bench &bench)
{
	Series series(bench, counts(5), 0xfffffe);
	for (unsigned round = 0; round < 2; round++)
		series.send(1, 5);
	const std::optional<Packet> nak = bench.peer.receive();
	bench.expect(nak && (*nak)[0] == 0x11 && (*nak)[bth_size] == 0x60 && psn_of(*nak) == 0xfffffe,
		"a bundle behind the expected PSN: no NAK of a sequence error");
	series.expect_silence("a bundle behind the expected PSN");
	bench.expect_agreement(series.target, "a bundle behind the expected PSN");
	series.send(0, 5);
	series.expect_executed(0, 5, "and then the right one");
}

/** Bundles on both sides of a READ of many packets, of messages and of standard requests */
void among_others(Bench &bench)
{
	Series series(bench,
		{count_up(0), count_up(1), operation(Op::read, 0, 20000), count_up(2), operation(Op::read, 0, 200),
			operation(Op::plain_read, 0, 1000), count_up(3), count_up(4)});
	series.send(0, 2);
	bench.peer.send(series.packets[2]);
	series.send(3, 5);
	bench.peer.send(series.packets[5]);
	series.send(6, 8);
	series.expect_executed(0, 8, "bundles among others");
	series.expect_silence("bundles among others");
}

/** Inside an unfinished message no entry is allowed. */
void inside_a_message(Bench &bench)
{
	Series series(bench, {operation(Op::write, 0, 600), count_up(0), count_up(1)});
	Packet first = series.packets[0];
	first[8] &= 0x7f;
	bench.peer.send(first);
	Packet one = series.packets[1], two = series.packets[2];
	set_psn(one, psn_of(first) + 1);
	set_psn(two, psn_of(first) + 2);
	bench.peer.send(bundle_of(std::vector<Packet>{one, two}));
	const std::optional<Packet> nak = bench.peer.receive();
	bench.expect(nak && (*nak)[0] == 0x11 && (*nak)[bth_size] == 0x61 && psn_of(*nak) == psn_of(one),
		"a bundle inside of a message is not refused");
	series.expect_silence("a bundle inside of a message");
	bench.restore_memory();
	bench.expect_agreement(series.target, "a bundle inside of a message");
}

/** Many at once: each entry's answer arrives, in order. */
void many(Bench &bench)
{
	constexpr std::uint32_t number = 256, each = 16;
	std::vector<Request> requests;
	for (std::uint32_t i = 0; i < number; i++)
		requests.push_back(
			operation(i % 3 ? Op::write : Op::read, i % 5 ? 0u : unsigned{reference::conditional}, i % 20));
	Series series(bench, requests, 0xffffc0, 1024);
	for (std::uint32_t i = 0; i < number; i += each)
		series.send(i, i + each);
	series.expect_executed(0, number, "many bundles");
	series.expect_silence("many bundles");
}

/* The device as requester ---------------------------------------------------------------------------------------- */

/** Posts @p number WRITEs of 8 bytes by one doorbell */
void post_writes(
	Bench &bench, WireTarget &target, MemoryRegion &local, unsigned number,
	const std::function<Request(unsigned)> &write = [](unsigned) { return operation(Op::write, 0, 8); })
{
	std::vector<prismdv_send_wr> requests(number);
	std::vector<ibv_sge> sges(number, local.sge(0, 8));
	for (unsigned i = 0; i < number; i++) {
		requests[i] = {};
		to_work_request(requests[i], write(i), {1, 2, 3}, {});
		requests[i].wr.wr_id = i;
		requests[i].wr.send_flags = IBV_SEND_SIGNALED;
		requests[i].wr.sg_list = &sges[i];
		requests[i].wr.num_sge = 1;
		requests[i].wr.next = i + 1 < number ? &requests[i + 1].wr : nullptr;
	}
	ibv_send_wr *bad;
	bench.expect(!ibv_post_send(target.qp(), &requests[0].wr, &bad), "WRITEs cannot be posted");
}

std::vector<Packet> receive_all(Bench &bench, unsigned number)
{
	std::vector<Packet> packets;
	while (packets.size() < number) {
		std::optional<Packet> packet = bench.peer.receive();
		if (!bench.expect(packet.has_value(), "a request does not come"))
			break;
		packets.push_back(std::move(*packet));
	}
	const std::string strange = bench.peer.take_complaint();
	bench.expect(strange.empty(), strange);
	return packets;
}

Packet answer_to(const WireTarget &target, const Packet &request)
{
	Packet packet(PRISM_RESPONSE_SIZE);
	prism_bth bth{};
	bth.opcode = PRISM_OP_RESPONSE;
	bth.qpn = target.qp()->qp_num;
	bth.psn = psn_of(request);
	prism_bth_encode(packet.data(), &bth);
	packet[bth_size] = 0x1f;
	put_unaligned_be64(8, packet.data() + 20);
	return packet;
}

void expect_completions(Bench &bench, const WireTarget &target, unsigned begin, unsigned end, const std::string &what)
{
	for (unsigned i = begin; i < end; i++) {
		const auto wc = next_completion(target.cq(), std::chrono::seconds(10));
		bench.expect(wc && wc->wr_id == i && wc->status == IBV_WC_SUCCESS,
			fmt::format("{}: completion {}", what, i));
	}
}

/** One doorbell makes one packet to a peer of version 2, and no bundle to one of version 1. */
void requests_bundled(Bench &bench)
{
	MemoryRegion local(bench.device.pd(), 4096, IBV_ACCESS_LOCAL_WRITE);
	for (const std::uint8_t version : {2, 1}) {
		constexpr unsigned number = 5;
		WireTarget &target = bench.fresh(256, 0xfffffe);
		prismdv_capability peer = bench.device.capability();
		peer.bytes[4] = 1;
		peer.bytes[5] = version;
		check(prismdv_set_peer_capability(target.qp(), &peer), "prismdv_set_peer_capability");
		const std::size_t before = bench.peer.bundles().size();
		post_writes(bench, target, local, number);
		const std::vector<Packet> requests = receive_all(bench, number);
		for (std::size_t i = 0; i < requests.size(); i++)
			bench.expect(requests[i][0] == PRISM_OP_WRITE_ONLY &&
					     psn_of(requests[i]) == ((0xfffffe + i) & PRISM_PSN_MASK),
				"requests out of order");
		const std::size_t bundles = bench.peer.bundles().size() - before;
		bench.expect(version == 2 ? bundles >= 1 && bench.peer.bundles().back() > 1 : !bundles,
			fmt::format("{} bundles to a peer of version {}", bundles, version));
		for (const Packet &request : requests)
			bench.peer.send(answer_to(target, request));
		expect_completions(bench, target, 0, number, "answered singly");
	}
}

/** A standard request ends a bundle, and does not overtake it; a single request is sent as its packet. */
void requests_mixed(Bench &bench)
{
	constexpr std::uint8_t order[] = {PRISM_OP_WRITE_ONLY, IBV_OPCODE_RC_RDMA_WRITE_ONLY, PRISM_OP_WRITE_ONLY,
		PRISM_OP_WRITE_ONLY, IBV_OPCODE_RC_RDMA_WRITE_ONLY, PRISM_OP_WRITE_ONLY};
	constexpr std::size_t number = std::size(order);
	MemoryRegion local(bench.device.pd(), 4096, IBV_ACCESS_LOCAL_WRITE);
	WireTarget &target = bench.fresh(256, 0xfffffe);
	const std::size_t before = bench.peer.bundles().size();
	post_writes(bench, target, local, number, [&](unsigned i) {
		return operation(order[i] == PRISM_OP_WRITE_ONLY ? Op::write : Op::plain_write, 0, 8);
	});
	const std::vector<Packet> requests = receive_all(bench, number);
	for (std::size_t i = 0; i < requests.size(); i++)
		bench.expect(requests[i][0] == order[i] && psn_of(requests[i]) == ((0xfffffe + i) & PRISM_PSN_MASK),
			fmt::format("request {} of a mixed list: opcode {:#x} PSN {:#x}", i, requests[i][0],
				psn_of(requests[i])));
	bench.expect(bench.peer.bundles().size() == before + 1 && bench.peer.bundles().back() == 2,
		"a mixed list: not one bundle of two");
	for (const Packet &request : requests) {
		Packet answer = answer_to(target, request);
		if (request[0] != PRISM_OP_WRITE_ONLY) {
			answer.resize(bth_size + 4);
			answer[0] = IBV_OPCODE_RC_ACKNOWLEDGE;
		}
		bench.peer.send(answer);
	}
	expect_completions(bench, target, 0, number, "a mixed list");
}

/** Answers in bundles: right ones, some missing, some repeated, and malformed ones */
void answers_from_peer(Bench &bench)
{
	constexpr unsigned number = 6;
	MemoryRegion local(bench.device.pd(), 4096, IBV_ACCESS_LOCAL_WRITE);
	WireTarget &target = bench.fresh(256, 0xfffffe);
	post_writes(bench, target, local, number);
	std::vector<Packet> answers;
	for (const Packet &request : receive_all(bench, number))
		answers.push_back(answer_to(target, request));
	if (answers.size() < number)
		return;
	const std::span<const Packet> all(answers);
	const std::uint64_t dropped = bench.device.counter("rx_response_dropped");
	Packet cut = bundle_of(all.first(2)), trailing = cut, one = bundle_of(all.first(1));
	cut.resize(cut.size() - 4);
	trailing.resize(trailing.size() + 4, 0xff);
	for (const Packet &bad : {cut, trailing, one, Packet(cut.begin(), cut.begin() + bth_size)})
		bench.peer.send(bad);
	bench.expect(wait_until([&] { return bench.device.counter("rx_response_dropped") == dropped + 4; }),
		"answers not well formed: not dropped");
	bench.expect(!next_completion(target.cq(), std::chrono::milliseconds(20)), "answers not well formed: accepted");
	bench.peer.send(bundle_of(all.first(3)));
	expect_completions(bench, target, 0, 3, "a bundle of answers");
	/* An acknowledgement is not allowed there: the entries before it count. */
	std::vector<Packet> mixed{answers[3], answers[4], answers[5]};
	mixed[1][0] = 0x11;
	bench.peer.send(bundle_of(mixed));
	expect_completions(bench, target, 3, 4, "a bundle with an entry that may not be one");
	bench.expect(!next_completion(target.cq(), std::chrono::milliseconds(20)),
		"answers behind an entry that may not be one: accepted");
	bench.peer.send(bundle_of(all.subspan(2)));
	expect_completions(bench, target, 4, number, "answers again and new ones in one bundle");
	bench.peer.drop_received();
}

/** Unanswered requests are sent again, bundled if possible. */
void requests_repeated(Bench &bench)
{
	constexpr unsigned number = 4;
	MemoryRegion local(bench.device.pd(), 4096, IBV_ACCESS_LOCAL_WRITE);
	WireTarget &target = bench.fresh(256, 0x50);
	post_writes(bench, target, local, number);
	receive_all(bench, number);
	Packet loss = answer_to(target, Packet(bth_size));
	loss.resize(bth_size + 4);
	loss[0] = 0x11;
	loss[bth_size] = 0x60;
	set_psn(loss, 0x51);
	bench.peer.send(loss);
	std::vector<Packet> again = receive_all(bench, number);
	bench.expect(again.size() == number && psn_of(again.front()) == 0x50 && psn_of(again.back()) == 0x53,
		"not all is sent again");
	for (Packet &packet : again)
		packet = answer_to(target, packet);
	bench.peer.send(bundle_of(again));
	expect_completions(bench, target, 0, number, "sent again");
	bench.peer.drop_received();
}

} // namespace

void run_bundles(Bench &bench)
{
	bench.section("bundles of requests");
	well_formed(bench);
	answers_bundled(bench);
	answers_single(bench);
	refused_in_the_middle(bench);
	duplicates(bench);
	ahead(bench);
	among_others(bench);
	inside_a_message(bench);
	many(bench);
	bench.section("the device as requester, in bundles");
	requests_bundled(bench);
	requests_mixed(bench);
	answers_from_peer(bench);
	requests_repeated(bench);
}

} // namespace prism::packet_peer
