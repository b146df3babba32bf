/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The table of docs/semantics.md S.11.1, row by row, as far as one packet or a few can show it. */
#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "bench.hpp"

namespace prism::packet_peer
{

using reference::Op;
using reference::Rights;

namespace
{

constexpr std::uint64_t target_va = main_va + 0x2000;

Request request_of(Op op, unsigned flags = 0)
{
	Request request;
	request.op = op;
	request.flags = static_cast<std::uint8_t>(flags);
	request.region = region_main;
	request.aux_region = flags & (reference::redirect | reference::data_indirect) ? int{region_aux} : -1;
	request.va = flags & reference::indirect ? pointer_va : target_va;
	request.aux_va = aux_va + 0x40;
	request.length = op == Op::cas ? 0 : 32;
	request.size = 16;
	request.list = op == Op::allocate ? int{list_own} : reference::no_list;
	if (request.carries_payload())
		request.payload.assign(request.length, 0x3c);
	return request;
}

std::uint64_t count_of(const Bench &bench, const std::string &name)
{
	const std::string counter = counter_name(bench.device, name);
	return counter.empty() ? 0 : bench.device.counter(counter);
}

void expect_counted(Bench &bench, const std::string &name, std::uint64_t before, const std::string &what)
{
	const std::string counter = counter_name(bench.device, name);
	if (counter.empty())
		return; /* rxe does not count packets dropped below the protocol */
	bench.expect(wait_until([&] { return bench.device.counter(counter) == before + 1; }, std::chrono::seconds(2)),
		fmt::format("{}: {} grew by {}, not by 1", what, counter, bench.device.counter(counter) - before));
}

/* Dropped in silence ------------------------------------------------------------------------------------------- */

/** Spoils a valid READ and sends it by @p send. It must have no effect, and the next READ is answered. */
void dropped(Bench &bench, WireTarget &target, const std::string &what, const std::string &counter,
	const std::function<void(Packet &)> &send)
{
	const std::uint64_t before = count_of(bench, counter);
	const Request request = plain_read(64);
	Exchange exchange = target.encode(request, bench.names(request), bench.random);
	send(exchange.packets[0]);
	target.advance(0u - exchange.psns, 0);
	bench.expect_alive(target, what);
	expect_counted(bench, counter, before, what);
}

void short_packets(Bench &bench, WireTarget &target)
{
	for (std::size_t size = 0; size < bth_size + 4; size++)
		dropped(bench, target, fmt::format("{} bytes", size), "", [&](Packet &packet) {
			bench.peer.send_raw({packet.data(), std::min(size, packet.size())});
		});
	for (std::size_t size = bth_size + 4; size < 48; size += 3)
		dropped(bench, target, fmt::format("{} bytes without a right ICRC", size), "", [&](Packet &packet) {
			packet.resize(size);
			bench.peer.send_raw(packet);
		});
}

void corrupted(Bench &bench, WireTarget &target)
{
	for (std::size_t byte = 0; byte < 32; byte++) {
		if (byte == 4)
			continue; /* FECN and BECN: not covered */
		dropped(bench, target, fmt::format("byte {} corrupted", byte), "rx_bad_icrc", [&](Packet &packet) {
			Packet datagram = packet;
			datagram.resize(packet.size() + 4);
			soft::store_icrc(datagram.data() + packet.size(), bench.peer.icrc_of(packet));
			datagram[byte] ^= static_cast<std::uint8_t>(1u << bench.random.below(8));
			bench.peer.send_raw(datagram);
		});
	}
	dropped(bench, target, "the ICRC of another identification", "rx_bad_icrc", [&](Packet &packet) {
		Packet datagram = packet;
		datagram.resize(packet.size() + 4);
		soft::store_icrc(
			datagram.data() + packet.size(), bench.peer.icrc_of(packet, 0x1234) ^ bench.peer.ipv6());
		bench.peer.send_raw(datagram);
	});
}

void misdirected(Bench &bench, WireTarget &target)
{
	for (const std::uint32_t qpn : {0xfffffeu, 0x7fffffu, 0xffffffu, 0u, 1u})
		dropped(bench, target, fmt::format("QPN {:#x}", qpn), "rx_unknown_qp", [&](Packet &packet) {
			set_qpn(packet, qpn);
			bench.peer.send(packet);
		});
	if (!bench.options.other_address.empty()) {
		WirePath path = bench.options.path;
		path.peer = bench.options.other_address;
		const WirePeer stranger(path);
		dropped(bench, target, "another source address", "rx_wrong_source",
			[&](Packet &packet) { stranger.send(packet); });
	}
	const WirePeer other_port(bench.options.path, 40000);
	Request request = plain_read(64);
	const Exchange exchange = target.encode(request, bench.names(request), bench.random);
	other_port.send(exchange.packets[0]);
	const Outcome expected = bench.world.execute(request);
	bench.expect(target.answer(exchange) == expected, "another source port is not ignored");
}

/** Queue pairs that do not receive, or do not speak PRISM */
void not_receiving(Bench &bench)
{
	WireTarget &target = bench.fresh();
	const Request request = plain_read(64);
	for (const ibv_qp_state state : {IBV_QPS_ERR, IBV_QPS_RESET}) {
		bench.fresh();
		check(set_state(target.qp(), state), "set_state");
		target.send(target.encode(request, bench.names(request), bench.random));
		bench.expect(!bench.peer.receive(std::chrono::milliseconds(100)),
			fmt::format("an answer from a queue pair in state {}", static_cast<int>(state)));
	}
	const Owned<ibv_cq> cq = create_cq(bench.device);
	QpLimits limits;
	limits.prism = false;
	const Owned<ibv_qp> ordinary = create_qp(bench.device, bench.device.pd(), cq.get(), limits);
	Path path;
	path.source = bench.peer.device();
	path.destination = bench.peer.own();
	path.qpn = peer_qpn;
	path.send_psn = path.recv_psn = 0x100;
	path.mtu = 256;
	connect(bench.device, ordinary.get(), path);
	bench.fresh();
	for (unsigned opcode = 0xc0; opcode < 0x100; opcode++) {
		Packet packet = target.encode(request, bench.names(request), bench.random).packets[0];
		target.advance(0u - 1, 0);
		packet[0] = static_cast<std::uint8_t>(opcode);
		set_qpn(packet, ordinary->qp_num);
		bench.peer.send(packet);
	}
	bench.expect(!bench.peer.receive(std::chrono::milliseconds(100)) && state_of(ordinary.get()) == IBV_QPS_RTS,
		"an ordinary queue pair takes notice of PRISM opcodes");
	bench.expect_alive(target, "PRISM opcodes to an ordinary queue pair");
}

/** NAK 0x60, once until the expected PSN has arrived */
void out_of_sequence(Bench &bench)
{
	WireTarget &target = bench.fresh(256, 0xfffffe);
	const Request request = plain_read(64);
	for (unsigned round = 0; round < 3; round++) {
		const std::uint32_t expected_psn = target.psn();
		for (const std::uint32_t ahead : {1u, 2u, 0x7ffffeu}) {
			target.advance(ahead, 0);
			target.send(target.encode(request, bench.names(request), bench.random));
			target.advance(0u - ahead - 1, 0);
		}
		const std::optional<Packet> nak = bench.peer.receive();
		bench.expect(nak && (*nak)[0] == 0x11 && (*nak)[bth_size] == 0x60 && psn_of(*nak) == expected_psn,
			"no NAK of a PSN sequence error at the expected PSN");
		bench.expect_alive(target, "a PSN sequence error (one NAK alone)");
	}
}

/* Refused ------------------------------------------------------------------------------------------------------ */

/** Expects that the device and the reference refuse @p request alike, and that the counter matches the reference. */
void refused(Bench &bench, const Request &request, const std::string &what, const char *counter,
	const Rights &access = reference::all_rights, std::uint8_t dest_rd_atomic = 16)
{
	WireTarget &target = bench.fresh(256, 0x100, access, dest_rd_atomic);
	const std::uint64_t before = bench.device.counter(counter);
	const Outcome expected = bench.world.execute(request);
	const Exchange exchange = target.encode(request, bench.names(request), bench.random);
	target.send(exchange);
	const Outcome got = target.answer(exchange);
	const Verdict verdict = dest_rd_atomic ? expected.verdict : Verdict::invalid_request;
	if (!dest_rd_atomic)
		bench.restore_memory();
	bench.expect(got.verdict == verdict && verdict != Verdict::completed, what + ": not refused as it should be");
	expect_counted(bench, counter, before, what);
	bench.expect(wait_until([&] { return state_of(target.qp()) == IBV_QPS_ERR; }), what + ": not in ERROR");
	const ibv_event_type event =
		verdict == Verdict::invalid_request ? IBV_EVENT_QP_REQ_ERR : IBV_EVENT_QP_ACCESS_ERR;
	const std::vector<ibv_event_type> events = bench.device.take_events();
	bench.expect(std::find(events.begin(), events.end(), event) != events.end(),
		fmt::format("{}: no event {}", what, ibv_event_type_str(event)));
	/* and no other answer */
	target.send(exchange);
	bench.expect_agreement(target, what);
}

void missing_rights(Bench &bench)
{
	constexpr Rights no_read{true, false, true, true}, no_write{true, true, false, true},
		no_atomic{true, true, true, false};
	using namespace reference;
	const struct {
		Op op;
		unsigned flags;
		const Rights &access;
	} rows[] = {
		{Op::read, 0, no_read},
		{Op::write, indirect, no_read},
		{Op::cas, data_indirect, no_read},
		{Op::write, 0, no_write},
		{Op::allocate, 0, no_write},
		{Op::read, redirect, no_write},
		{Op::cas, 0, no_atomic},
	};
	for (const auto &row : rows)
		refused(bench, request_of(row.op, row.flags), "access flags of the queue pair", "rx_bad_flags",
			row.access);
	Request skipped = request_of(Op::read, conditional);
	refused(bench, skipped, "access flags, a conditional request", "rx_bad_flags", no_read);
	refused(bench, request_of(Op::write), "no room for a request at all", "rx_excess_request", all_rights, 0);
}

void wrong_keys(Bench &bench)
{
	using namespace reference;
	const struct {
		Op op;
		unsigned flags;
	} operations[] = {{Op::read, 0}, {Op::write, 0}, {Op::cas, 0}, {Op::read, indirect}, {Op::write, indirect},
		{Op::cas, indirect}, {Op::read, indirect | bounded}, {Op::read, redirect}, {Op::write, data_indirect},
		{Op::cas, data_indirect}, {Op::allocate, redirect}, {Op::allocate, redirect | bounded},
		{Op::read, indirect | redirect}, {Op::write, indirect | data_indirect}};
	bench.poke_bounded(main_va + 0x1010, target_va, 100);
	bench.poke_word(pointer_va, target_va);
	for (const auto &[op, flags] : operations)
		for (int region = no_region; region < region_count; region++)
			for (const bool aux : {false, true}) {
				Request request = request_of(op, flags);
				if (flags & bounded && op == Op::read)
					request.va = main_va + 0x1010;
				if (flags & indirect && op == Op::cas)
					request.va = pointer_va;
				(aux ? request.aux_region : request.region) = region;
				World probe = bench.world;
				probe.reset(all_rights);
				if ((aux ? !(flags & (redirect | data_indirect)) : op == Op::allocate) ||
					probe.execute(request).verdict == Verdict::completed)
					continue;
				refused(bench, request,
					fmt::format("operation {} flags {} {} of region {}", static_cast<int>(op),
						flags, aux ? "aux" : "target", region),
					"rx_access_error");
			}
}

/** Beginning and end of a region, and the top of the address space */
void ranges(Bench &bench)
{
	for (const Op op : {Op::read, Op::write, Op::cas})
		for (const std::uint64_t va :
			{main_va - 32, main_va - 16, main_va + main_size - 16, main_va + main_size, std::uint64_t{0},
				~std::uint64_t{31}, ~std::uint64_t{15}, std::uint64_t{1} << 63}) {
			Request request = request_of(op);
			request.va = va;
			request.size = 32;
			reference::World probe = bench.world;
			if (op == Op::cas && va % 32)
				continue;
			probe.reset(reference::all_rights);
			if (probe.execute(request).verdict != Verdict::completed)
				refused(bench, request, fmt::format("range at {:#x}", va), "rx_access_error");
			Request indirect = request_of(op, reference::indirect);
			indirect.size = 32;
			bench.poke_word(pointer_va, va);
			reference::World probe2 = bench.world;
			probe2.reset(reference::all_rights);
			if (probe2.execute(indirect).verdict != Verdict::completed)
				refused(bench, indirect, fmt::format("pointer to {:#x}", va), "rx_access_error");
		}
	bench.poke_word(pointer_va, target_va + 8);
	Request misaligned = request_of(Op::cas, reference::indirect);
	refused(bench, misaligned, "a CAS target behind a pointer that is misaligned", "rx_bad_alignment");
	bench.poke_word(pointer_va, target_va);
}

void free_lists(Bench &bench)
{
	for (const int list : {reference::no_list, int{list_foreign}, int{list_ordinary}}) {
		Request request = request_of(Op::allocate);
		request.list = list;
		refused(bench, request, fmt::format("free list {}", list), "rx_bad_free_list");
	}
	Request large = request_of(Op::allocate);
	large.payload.assign(buffer_size + 1, 1);
	large.length = buffer_size + 1;
	WireTarget &target = bench.fresh();
	bench.agree(target, large, "a payload larger than the buffer");
}

/* Between two packets ------------------------------------------------------------------------------------------ */

/** Deregisters the region after the first packet of @p request: the second one's access is an access error. */
void deregistered_between(Bench &bench, Request request, const std::string &what, bool takes_buffer)
{
	bench.memory.set_live(region_loose, false);
	bench.memory.set_live(region_loose, true);
	bench.world.regions[region_loose].generation++;
	if (takes_buffer)
		bench.supply(list_loose, 0);
	WireTarget &target = bench.fresh();
	request.payload.assign(600, 0x77);
	request.length = 600;
	const std::uint64_t before = bench.device.counter("rx_access_error");
	const Exchange exchange = target.encode(request, bench.names(request), bench.random);
	bench.peer.send(exchange.packets[0]);
	const bool acknowledged = exchange.packets[0][8] & 0x80;
	if (acknowledged)
		bench.expect(bench.peer.receive().has_value(), what + ": the first packet is not acknowledged");
	else
		std::this_thread::sleep_for(std::chrono::milliseconds(20));
	bench.memory.set_live(region_loose, false);
	Exchange rest = exchange;
	rest.acknowledges.erase(std::remove(rest.acknowledges.begin(), rest.acknowledges.end(), exchange.first_psn),
		rest.acknowledges.end());
	for (std::size_t i = 1; i < exchange.packets.size(); i++)
		bench.peer.send(exchange.packets[i]);
	bench.expect(target.answer(rest).verdict == Verdict::access_error, what + ": not refused");
	expect_counted(bench, "rx_access_error", before, what);
	bench.restore_memory();
	bench.memory.set_live(region_loose, true);
	bench.world.regions[region_loose].generation++;
	if (request.op == Op::allocate)
		bench.taken_back(request.list);
	bench.expect_agreement(target, what);
	if (!takes_buffer)
		return;
	/* S.7.2: its region is gone, so the buffer that came back is no longer a valid entry. */
	bench.supply(list_loose, 1);
	WireTarget &again = bench.fresh();
	Request small = request_of(Op::allocate);
	small.list = list_loose;
	bench.agree(again, small, what + ": the next ALLOCATE of the list");
}

void regions_that_go(Bench &bench)
{
	Request write = request_of(Op::write);
	write.region = region_loose;
	write.va = bench.world.regions[region_loose].va;
	deregistered_between(bench, write, "the target of a WRITE goes between its packets", false);
	Request allocate = request_of(Op::allocate, reference::redirect);
	allocate.aux_region = region_loose;
	allocate.aux_va = bench.world.regions[region_loose].va;
	deregistered_between(bench, allocate, "the aux of an ALLOCATE goes between its packets", false);
	Request buffer = request_of(Op::allocate);
	buffer.list = list_loose;
	deregistered_between(bench, buffer, "the buffer of an ALLOCATE goes between its packets", true);
}

/** Standard requests inside unfinished PRISM ones, and vice versa */
void inside_each_other(Bench &bench)
{
	const Request next[] = {
		plain_read(10), request_of(Op::plain_read), request_of(Op::plain_write), request_of(Op::plain_add)};
	for (const Op op : {Op::write, Op::allocate, Op::plain_write})
		for (const Request &second : next) {
			const std::string what = fmt::format("operation {} inside an unfinished {}",
				static_cast<int>(second.op), static_cast<int>(op));
			WireTarget &target = bench.fresh();
			const std::uint64_t before = bench.device.counter("rx_bad_format");
			Request first = request_of(op);
			first.payload.assign(600, 0x11);
			first.length = 600;
			Exchange exchange = target.encode(first, bench.names(first), bench.random);
			exchange.packets[0][8] &= 0x7f;
			bench.peer.send(exchange.packets[0]);
			target.advance(1 - exchange.psns, 0);
			const Exchange inner = target.encode(second, bench.names(second), bench.random);
			target.send(inner);
			const Outcome got = target.answer(inner);
			bench.expect(got.verdict == Verdict::invalid_request, what + ": not refused");
			expect_counted(bench, "rx_bad_format", before, what);
			bench.restore_memory();
			if (op == Op::allocate)
				bench.taken_back(list_own);
			bench.expect_agreement(target, what);
		}
}

/** The receive of the unfinished SEND was not at fault: it is flushed, and the event reports the error. */
void inside_a_send(Bench &bench)
{
	constexpr std::uint8_t send_first = 0x00, send_only = 0x04;
	constexpr std::size_t size = bth_size + 256;
	const MemoryRegion room(bench.device.pd(), 1024);
	const Request request = plain_read(10);
	for (const std::uint8_t opcode : {send_first, send_only, std::uint8_t{PRISM_OP_READ_REQUEST}}) {
		const std::string what = fmt::format("opcode {:#x} inside an unfinished SEND", opcode);
		WireTarget &target = bench.fresh();
		ibv_sge sge = room.sge(0, room.size());
		ibv_recv_wr receive{7, nullptr, &sge, 1}, *bad;
		check(ibv_post_recv(target.qp(), &receive, &bad), "ibv_post_recv");
		Packet begun = target.encode(request, bench.names(request), bench.random).packets[0];
		begun[0] = send_first;
		begun[8] &= 0x7f; /* not to be acknowledged */
		begun.resize(size);
		bench.peer.send(begun);
		Exchange inner = target.encode(request, bench.names(request), bench.random);
		if (opcode != PRISM_OP_READ_REQUEST) {
			inner.packets[0][0] = opcode;
			inner.packets[0].resize(size);
		}
		target.send(inner);
		bench.expect(target.answer(inner).verdict == Verdict::invalid_request, what + ": not refused");
		const auto wc = next_completion(target.cq());
		bench.expect(wc && wc->wr_id == 7 && wc->status == IBV_WC_WR_FLUSH_ERR, what + ": not flushed");
		const std::vector<ibv_event_type> events = bench.device.take_events();
		bench.expect(std::count(events.begin(), events.end(), IBV_EVENT_QP_REQ_ERR) == 1,
			what + ": not one IBV_EVENT_QP_REQ_ERR");
		bench.expect_agreement(target, what);
	}
}

/* Statuses ----------------------------------------------------------------------------------------------------- */

void statuses(Bench &bench)
{
	WireTarget &target = bench.fresh();
	bench.poke_word(pointer_va, 0);
	for (const Op op : {Op::read, Op::write, Op::cas})
		bench.agree(target, request_of(op, reference::indirect), "a null pointer");
	bench.poke_word(pointer_va, target_va);
	Request empty = request_of(Op::allocate);
	empty.list = list_empty;
	bench.agree(target, empty, "an empty list");
	bench.agree(target, request_of(Op::read, reference::conditional), "after NO_BUFFER");

	/* Bad entries: two requests use up nine of them, then a good one is found. */
	for (unsigned i = 0; i < 9; i++) {
		reference::Entry entry;
		entry.id = 1000 + i;
		entry.region = i % 3 == 0   ? int{region_read_only}
			       : i % 3 == 1 ? int{region_foreign}
					    : int{region_buffers};
		entry.va = entry.region == region_buffers ? buffers_va + buffers_size - 8 : main_va;
		entry.length = 64;
		bench.world.lists[list_empty].entries.push_back(entry);
		bench.expect(bench.memory.post(list_empty, entry), "a bad entry cannot be posted");
	}
	bench.supply(list_empty, 3);
	for (unsigned i = 0; i < 3; i++)
		bench.agree(target, empty, fmt::format("bad entries, request {}", i));
}

} // namespace

/*
 * If the length were believed, the ICRC would be read 64 KiB behind the packet. There is no ICRC there, so the packet
 * is dropped all the same: only a kernel that watches memory reveals it.
 */
void run_without_length(Bench &bench)
{
	bench.section("packets without a UDP length");
	if (!bench.peer.ipv6())
		return;
	WireTarget &target = bench.fresh();
	for (unsigned i = 0; i < 16; i++)
		dropped(bench, target, "a UDP length of 0", "",
			[&](Packet &packet) { bench.peer.send_without_length(packet); });
}

void run_bad_packets(Bench &bench)
{
	bench.section("packets that are dropped");
	WireTarget &target = bench.fresh();
	short_packets(bench, target);
	corrupted(bench, target);
	misdirected(bench, target);
	not_receiving(bench);
	bench.section("sequence errors");
	out_of_sequence(bench);
	bench.section("requests that are refused");
	for (unsigned i = 0; i < 4; i++)
		bench.supply(list_own, i);
	missing_rights(bench);
	ranges(bench);
	free_lists(bench);
	bench.section("wrong keys on every hop");
	wrong_keys(bench);
	bench.section("between two packets");
	regions_that_go(bench);
	inside_each_other(bench);
	inside_a_send(bench);
	bench.section("statuses");
	statuses(bench);
}

} // namespace prism::packet_peer
