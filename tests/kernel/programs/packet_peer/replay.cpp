/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Duplicates (W.8.2), ALLOCATEs that are given up, and trains. */
#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "bench.hpp"
#include "commands.hpp"
#include "prism_abi.h"

namespace prism::packet_peer
{

using reference::Op;

namespace
{

/** Returns the packet without its MSN, which may be that of the repetition. */
Packet without_msn(Packet packet)
{
	std::fill_n(packet.begin() + bth_size + 1, 3, std::uint8_t{0});
	return packet;
}

/** Sends a request, changes what it would change, and sends it again: it must be executed once. */
void replayed(Bench &bench, WireTarget &target, const Request &request, const std::string &what)
{
	const Outcome expected = bench.world.execute(request);
	const Exchange exchange = target.encode(request, bench.names(request), bench.random);
	std::vector<Packet> first, again;
	target.send(exchange);
	bench.expect(target.answer(exchange, &first) == expected, what + ": outcome");
	bench.expect_agreement(target, what);
	/* Another request in between, which changes the word that a CAS compares. */
	bench.poke_word(word_va, 0);
	const Request other = operation(Op::plain_read, 0, 16);
	bench.agree(target, other, what + ": a READ in between");
	const std::uint64_t replays = bench.device.counter("prism_replays");
	target.send(exchange);
	const Outcome repeated = target.answer_again(exchange, &again);
	bench.expect(repeated == expected, what + ": outcome of the duplicate");
	bench.expect(!first.empty() && !again.empty() && without_msn(first.back()) == without_msn(again.back()),
		what + ": the duplicate's response has other bytes");
	bench.expect(wait_until([&] { return bench.device.counter("prism_replays") == replays + 1; },
			     std::chrono::seconds(2)),
		what + ": not counted by prism_replays");
	/* Acknowledgements of its earlier packets are at the PSN before the expected one. */
	bench.peer.drop_received();
	bench.expect_agreement(target, what + ": after the duplicate");
}

void executed_once(Bench &bench)
{
	using namespace reference;
	WireTarget &target = bench.fresh(256, 0xfffff0);
	for (unsigned i = 0; i < 8; i++)
		bench.supply(list_own, i);
	bench.poke_word(pointer_va, main_va + 0x4000);
	bench.poke_word(word_va, 0);
	replayed(bench, target, operation(Op::cas, 0, 0), "a CAS that swaps");
	bench.poke_word(word_va, 5);
	replayed(bench, target, operation(Op::cas, 0, 0), "a CAS that misses");
	replayed(bench, target, operation(Op::write, 0, 100), "a WRITE");
	replayed(bench, target, operation(Op::write, 0, 700), "a WRITE of several packets");
	replayed(bench, target, operation(Op::write, indirect, 100), "an indirect WRITE");
	replayed(bench, target, operation(Op::allocate, 0, 100), "an ALLOCATE");
	replayed(bench, target, operation(Op::allocate, redirect, 700), "an ALLOCATE of several packets");
	replayed(bench, target, operation(Op::read, redirect, 100), "a redirected READ");
	bench.poke_word(pointer_va, 0);
	replayed(bench, target, operation(Op::read, indirect, 100), "a READ through a null pointer");
	bench.poke_word(pointer_va, main_va + 0x4000);
}

/** A duplicate does not change the chain: neither success into failure nor failure into success. */
void chain_untouched(Bench &bench)
{
	WireTarget &target = bench.fresh(256, 0x50);
	bench.poke_word(word_va, 5);
	const Request miss = operation(Op::cas, 0, 0), good = operation(Op::write, 0, 8);
	Request conditional = operation(Op::write, reference::conditional, 8);
	conditional.va = main_va + 0x5000;

	const auto send_again = [&](const Exchange &exchange) {
		target.send(exchange);
		target.answer_again(exchange);
	};
	for (const bool broken : {true, false}) {
		const Request &earlier = broken ? good : miss, &later = broken ? miss : good;
		bench.poke_word(word_va, 5);
		bench.world.execute(earlier);
		const Exchange first = target.encode(earlier, bench.names(earlier), bench.random);
		target.send(first);
		target.answer(first);
		bench.poke_word(word_va, 5);
		bench.agree(target, later, "the later link");
		send_again(first);
		bench.agree(target, conditional, broken ? "a chain stays broken" : "a chain stays whole");
	}
}

/** A data-returning READ is resolved again, with a newer number, even if its result differs then. */
void resolved_again(Bench &bench)
{
	WireTarget &target = bench.fresh(256, 0xfffffe);
	bench.poke_bounded(main_va + 0x1010, main_va + 0x4000, 600);
	Request request = operation(Op::read, reference::indirect | reference::bounded, 1000);
	request.va = main_va + 0x1010;
	bench.world.execute(request);
	const Exchange exchange = target.encode(request, bench.names(request), bench.random);
	target.send(exchange);
	target.answer(exchange);
	bench.agree(target, operation(Op::write, 0, 8), "a request behind the READ");

	for (const std::uint32_t bound : {100u, 1000u, 0u, 513u}) {
		bench.poke_bounded(main_va + 0x1010, main_va + 0x4000 + bound, bound);
		target.send(exchange);
		const Outcome again = target.answer_again(exchange);
		bench.expect(
			again.byte_len == bound && again.local == bench.world.peek(main_va + 0x4000 + bound, bound),
			fmt::format("a READ resolved again with bound {}", bound));
		bench.expect_agreement(target, "a READ resolved again");
	}
	bench.poke_bounded(main_va + 0x1010, 0, 100);
	target.send(exchange);
	bench.expect(target.answer_again(exchange).status == reference::Status::null_pointer,
		"a READ resolved again that meets a null pointer");
	bench.poke_bounded(main_va + 0x1010, main_va + 0x4000, 100);
	target.send(exchange);
	bench.expect(target.answer_again(exchange).status == reference::Status::null_pointer,
		"the status of a READ resolved again is not the saved one");
	/* A fault in a duplicate is answered, and the queue pair survives. */
	bench.world.execute(request);
	const Exchange other = target.encode(request, bench.names(request), bench.random);
	target.send(other);
	target.answer(other);
	const std::uint64_t faults = bench.device.counter("rx_access_error");
	bench.poke_bounded(main_va + 0x1010, 0x1000, 100);
	target.send(other);
	bench.expect(target.answer_again(other).verdict == Verdict::access_error, "a duplicate READ that faults");
	bench.expect(wait_until([&] { return bench.device.counter("rx_access_error") == faults + 1; }),
		"a duplicate READ that faults is not counted");
	bench.expect(
		state_of(target.qp()) == IBV_QPS_RTS, "a duplicate READ that faults changes the queue pair's state");
	bench.expect_alive(target, "a duplicate READ that faults");
}

/** A READ of three packets through a pointer, and repeats of it afterwards */
class Resumption
{
public:
	Resumption(Bench &bench, std::uint64_t at, int region = region_main, std::uint64_t pointer = pointer_va)
		: bench_(bench), target_(bench.fresh(256, 0xfffffe)),
		  request_(operation(Op::read, reference::indirect, 700))
	{
		request_.region = region;
		request_.va = pointer;
		bench_.poke_word(pointer, at);
		bench_.world.execute(request_);
		exchange_ = target_.encode(request_, bench_.names(request_), bench_.random);
		target_.send(exchange_);
		target_.answer(exchange_, &first_);
		bench_.expect(first_.size() == 3, "a READ of three packets");
	}
	[[nodiscard]] WireTarget &target() { return target_; }

	/** Requests it from packet @p at on; returns the packets of the answer, of which @p count are expected. */
	std::vector<Packet> ask(std::uint32_t at, std::size_t count)
	{
		Packet packet = exchange_.packets[0];
		set_psn(packet, exchange_.first_psn + at);
		bench_.peer.drop_received();
		bench_.peer.send(packet);
		std::vector<Packet> got;
		while (got.size() < count) {
			const std::optional<Packet> next = bench_.peer.receive();
			if (!next)
				break;
			got.push_back(*next);
		}
		bench_.expect(!bench_.peer.receive(std::chrono::milliseconds(5)), "more packets than are missing");
		return got;
	}
	/** Expects that the packets from @p at on equal those of the first answer. */
	void expect_resumed(std::uint32_t at, const std::string &what)
	{
		const std::vector<Packet> got = ask(at, 3 - at);
		bool same = got.size() == 3 - at;
		for (std::size_t i = 0; same && i < got.size(); i++)
			same = without_msn(got[i]) == without_msn(first_[at + i]);
		bench_.expect(same, what);
	}
	/** Expects all of it, of a newer resolution. */
	void expect_begun_anew(std::uint32_t at, const std::string &what)
	{
		const std::vector<Packet> got = ask(at, 3);
		bench_.expect(got.size() == 3 && got[0][0] == PRISM_OP_READ_RESPONSE_FIRST &&
				      psn_of(got[0]) == psn_of(first_[0]) &&
				      resolution(got[0]) > resolution(first_[0]) &&
				      resolution(got[2]) == resolution(got[0]),
			what);
	}
	/** Expects one packet, an Acknowledge with NAK "remote access error". */
	void expect_refused(std::uint32_t at, const std::string &what)
	{
		const std::vector<Packet> got = ask(at, 1);
		bench_.expect(got.size() == 1 && got[0][0] == 0x11 && got[0][bth_size] == 0x62, what);
		bench_.expect(state_of(target_.qp()) == IBV_QPS_RTS, what + ": the queue pair does not stay");
	}

private:
	static std::uint32_t resolution(const Packet &packet) { return get_unaligned_be32(&packet[bth_size + 4]); }

	Bench &bench_;
	WireTarget &target_;
	Request request_;
	Exchange exchange_;
	std::vector<Packet> first_;
};

/** A READ that lost packets resumes, as long as it reads the same memory. */
void goes_on(Bench &bench)
{
	Resumption read(bench, main_va + 0x4000);
	bench.poke_word(pointer_va, main_va + 0x5000);
	read.expect_resumed(1, "a READ asked for from its second packet");
	read.expect_resumed(2, "a READ asked for from its last packet");
	read.expect_resumed(2, "once more");
	read.expect_begun_anew(0, "a READ asked for from its first packet");
}

/** A READ keeps its resolution once a conditional request has acted on it. */
void followed(Bench &bench)
{
	Resumption read(bench, main_va + 0x4000);
	bench.agree(read.target(), operation(Op::write, reference::conditional, 8), "a request that follows a READ");
	bench.poke_word(pointer_va, 0);
	read.expect_resumed(1, "a READ that was followed");
	read.expect_resumed(0, "the whole READ that was followed");
	bench.expect_alive(read.target(), "a READ that was followed");
}

/** A buffer that a free list has handed out since is not read any more. */
void handed_out(Bench &bench)
{
	constexpr std::uint64_t buffer = buffers_va + 2 * buffer_size, pointer = buffers_va + 6 * buffer_size;
	const Request allocate = operation(Op::allocate, 0, 8);
	for (const bool inside : {true, false}) {
		bench.fresh();
		while (!bench.world.lists[list_own].entries.empty())
			bench.agree(bench.target(256), allocate, "an ALLOCATE");
		Resumption read(bench, buffer, region_read_buffers, pointer);
		bench.supply(list_own, inside ? 2 : 4);
		bench.agree(read.target(), allocate, "an ALLOCATE of a buffer");
		if (inside)
			read.expect_begun_anew(1, "a READ of a buffer that was handed out");
		else
			read.expect_resumed(1, "a READ beside a buffer that was handed out");
	}
	Resumption read(bench, buffer, region_read_buffers, pointer);
	bench.agree(read.target(), operation(Op::write, reference::conditional, 8), "a request that follows a READ");
	bench.supply(list_own, 2);
	bench.agree(read.target(), allocate, "an ALLOCATE of a buffer");
	bench.poke_word(pointer, 0);
	read.expect_refused(1, "a READ that was followed, of a buffer that was handed out");
}

/** If its status changes, the new one decides the chain behind it. */
void decides_anew(Bench &bench)
{
	Resumption read(bench, main_va + 0x4000);
	bench.poke_word(pointer_va, 0);
	const std::vector<Packet> got = read.ask(0, 1);
	bench.expect(
		got.size() == 1 && got[0][0] == PRISM_OP_RESPONSE && got[0][bth_size + 4] == PRISM_STATUS_NULL_POINTER,
		"a READ whose pointer has gone");
	bench.world.chain_ok = false;
	bench.agree(read.target(), operation(Op::write, reference::conditional, 8),
		"a request behind a READ that was resolved again");
}

/** The last max_dest_rd_atomic answers are remembered; duplicates of older or other requests get no answer. */
void forgotten(Bench &bench)
{
	constexpr std::uint8_t remembered = 4;
	WireTarget &target = bench.fresh(256, 0x100, reference::all_rights, remembered);
	const Request request = operation(Op::write, 0, 8);
	std::vector<Exchange> exchanges;
	for (unsigned i = 0; i < remembered + 2; i++) {
		bench.world.execute(request);
		exchanges.push_back(target.encode(request, bench.names(request), bench.random));
		target.send(exchanges.back());
		target.answer(exchanges.back());
	}
	const std::uint64_t before = bench.device.counter("rx_duplicate_dropped");
	target.send(exchanges[0]);
	target.send(exchanges[1]);
	for (std::size_t i = 2; i < exchanges.size(); i++) {
		target.send(exchanges[i]);
		bench.expect(target.answer_again(exchanges[i]).verdict == Verdict::completed,
			"a duplicate of what is still remembered");
	}
	/* A READ at the PSN of a WRITE, and at no request's PSN at all */
	const Request read = plain_read(64);
	Exchange other = target.encode(read, bench.names(read), bench.random);
	target.advance(0u - other.psns, 0);
	set_psn(other.packets[0], exchanges[0].first_psn - 1000);
	target.send(other);
	bench.expect_alive(target, "duplicates that match nothing");
	bench.expect(wait_until([&] { return bench.device.counter("rx_duplicate_dropped") == before + 3; },
			     std::chrono::seconds(2)),
		"duplicates that match nothing are not counted");
}

} // namespace

void run_duplicates(Bench &bench)
{
	bench.section("duplicates");
	executed_once(bench);
	chain_untouched(bench);
	resolved_again(bench);
	goes_on(bench);
	followed(bench);
	handed_out(bench);
	decides_anew(bench);
	forgotten(bench);
}

/* ALLOCATEs that are given up ---------------------------------------------------------------------------------- */

void run_abandoned(Bench &bench)
{
	bench.section("ALLOCATEs given up");
	Request request = operation(Op::allocate, 0, 700), small = operation(Op::allocate, 0, 8);
	request.list = small.list = list_empty;
	bench.fresh();
	while (!bench.world.lists[list_empty].entries.empty())
		bench.agree(bench.target(256), small, "an ALLOCATE");
	const auto before = bench.memory.list_state(list_empty);
	bench.supply(list_empty, 5);
	for (unsigned round = 0; round < 6; round++) {
		WireTarget &target = bench.fresh();
		const Exchange exchange = target.encode(request, bench.names(request), bench.random);
		for (unsigned i = 0; i < 1 + round % 2; i++)
			bench.peer.send(exchange.packets[i]);
		const auto popped = [&] {
			return bench.memory.list_state(list_empty).popped == before.popped + round + 1;
		};
		bench.expect(wait_until(popped), "the first packet takes no buffer");
		bench.expect(bench.memory.list_state(list_empty).available == 0, "the buffer is still in the list");
		check(set_state(target.qp(), round % 3 == 0 ? IBV_QPS_RESET : IBV_QPS_ERR), "set_state");
		const auto back = [&] {
			const ListState state = bench.memory.list_state(list_empty);
			return state.available == 1 && state.reclaimed == before.reclaimed + round + 1;
		};
		bench.expect(wait_until(back), "the buffer does not come back");
		bench.restore_memory();
		bench.taken_back(list_empty);
	}
	WireTarget &target = bench.fresh();
	bench.agree(target, request, "an ALLOCATE of the buffer that came back");
	/* The list is destroyed while a buffer is taken: the buffer belongs to its owner again. */
	std::optional<Owned<ibv_srq>> doomed(create_srq(bench.device, bench.device.pd(), 4, true));
	check(post_buffer(doomed->get(), 1, {buffers_va, buffer_size, bench.memory.key(region_buffers)}), "post");
	WireTarget &last = bench.fresh();
	const Exchange exchange = last.encode(request, {0, 0, number_of(doomed->get())}, bench.random);
	bench.peer.send(exchange.packets[0]);
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	doomed.reset();
	check(set_state(last.qp(), IBV_QPS_RESET), "set_state");
	bench.restore_memory();
	bench.expect_alive(bench.fresh(), "a list destroyed under an ALLOCATE");
}

/* List numbers that are reused ------------------------------------------------------------------------------------- */

namespace
{

/** Makes and destroys an ordinary SRQ; returns its number. */
std::uint32_t passing_number(const Device &device)
{
	const int fd = device.context()->cmd_fd;
	Answer answer{};
	ib_uverbs_create_srq create{};
	create.pd_handle = device.pd()->handle;
	create.max_wr = create.max_sge = 1;
	check(command(fd, IB_USER_VERBS_CMD_CREATE_SRQ, create, {}, &answer), "IB_USER_VERBS_CMD_CREATE_SRQ");
	ib_uverbs_destroy_srq destroy{};
	destroy.srq_handle = answer[0];
	check(command(fd, IB_USER_VERBS_CMD_DESTROY_SRQ, destroy), "IB_USER_VERBS_CMD_DESTROY_SRQ");
	prism_abi_create_srq_resp ours;
	std::memcpy(&ours, answer.data() + sizeof(ib_uverbs_create_srq_resp) / 4, sizeof(ours));
	return ours.srq_num;
}

} // namespace

/** A buffer whose list is gone does not return to a list of another domain that has reused its number. */
void run_recycled(Bench &bench)
{
	bench.section("a number given out again");
	const Device &device = bench.device;
	passing_number(device); /* the number before it is free: when that returns, its own is next */
	std::optional<Owned<ibv_srq>> doomed(create_srq(device, device.pd(), 4, true));
	const std::uint32_t number = number_of(doomed->get());
	check(post_buffer(doomed->get(), 1, {buffers_va, buffer_size, bench.memory.key(region_buffers)}), "post");
	WireTarget &target = bench.fresh();
	const Request request = operation(Op::allocate, 0, 700);
	const Exchange exchange = target.encode(request, {0, 0, number}, bench.random);
	bench.peer.send(exchange.packets[0]);
	const auto popped = [&] {
		prismdv_free_list_attr attr{};
		return !prismdv_query_free_list(doomed->get(), &attr) && attr.popped == 1;
	};
	bench.expect(wait_until(popped), "the first packet takes no buffer");
	doomed.reset();
	constexpr std::uint32_t numbers = 1 << 20; /* then they start again */
	std::uint32_t passed = 0;
	while (passed < numbers && passing_number(device) + 1 != number)
		passed++;
	const Owned<ibv_pd> others(made(ibv_alloc_pd(device.context()), "ibv_alloc_pd"));
	const Owned<ibv_srq> list = create_srq(device, others.get(), 4, true);
	bench.expect(number_of(list.get()) == number, fmt::format("{} numbers later, another one comes", passed));
	check(set_state(target.qp(), IBV_QPS_RESET), "set_state");
	prismdv_free_list_attr attr{};
	check(prismdv_query_free_list(list.get(), &attr), "prismdv_query_free_list");
	bench.expect(attr.reclaimed == 0 && attr.available == 0, "a buffer comes to the list of another domain");
	bench.restore_memory();
	bench.expect_alive(bench.fresh(), "a number given out again");
}

/* Trains ------------------------------------------------------------------------------------------------------- */

/** Sends WRITEs of one size as one UDP_SEGMENT train. This host cuts it up, and numbers the IPv4 identifications as a
 * NIC would. */
void run_trains(Bench &bench)
{
	bench.section("trains");
	for (const std::size_t count : {2u, 7u, 16u}) {
		WireTarget &target = bench.fresh(1024, 0x100);
		std::vector<Request> requests;
		for (std::size_t i = 0; i < count; i++) {
			requests.push_back(operation(Op::write, 0, 512));
			requests.back().payload.assign(512, static_cast<std::uint8_t>(i + count));
			requests.back().va = main_va + 0x6000 + i * 512;
		}
		std::vector<Exchange> exchanges;
		std::vector<Packet> train;
		for (const Request &request : requests) {
			exchanges.push_back(target.encode(request, bench.names(request), bench.random));
			train.push_back(exchanges.back().packets[0]);
		}
		bench.peer.send_train(train);
		for (std::size_t i = 0; i < count; i++) {
			const Outcome expected = bench.world.execute(requests[i]);
			bench.expect(target.answer(exchanges[i]) == expected, fmt::format("packet {} of {}", i, count));
		}
		bench.expect_agreement(target, fmt::format("a train of {}", count));
	}
}

} // namespace prism::packet_peer
