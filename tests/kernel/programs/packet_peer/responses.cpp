/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The device as the requester: its packets are checked against the specification, and answers that W.6.4 and W.8.3 do
 * not accept must not complete anything.
 */
#include <infiniband/opcode.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "bench.hpp"

namespace prism::packet_peer
{

using reference::Op;

namespace
{

constexpr std::size_t requester_memory = 64 << 10, result_at = 60 << 10;
constexpr std::uint32_t rkey = 0x11223344, aux_rkey = 0x55667788, list_number = 0x00abcd;

/** A queue pair that requests, and the answers that we give it. */
class Requester
{
public:
	explicit Requester(Bench &bench_)
		: bench(bench_), local(bench_.device.pd(), requester_memory, IBV_ACCESS_LOCAL_WRITE)
	{
	}

	void connect(std::uint32_t psn = 0xfffff8, const Path &path = {})
	{
		bench.target(256).set_retries(path.timeout, path.retry);
		target = &bench.fresh(256, psn);
		ibv_wc wc;
		while (ibv_poll_cq(target->cq(), 1, &wc) > 0)
			;
	}

	/** Declares the features of this connection's peer */
	void declare(std::uint64_t features) const
	{
		prismdv_capability peer;
		check(prismdv_query_capability(bench.device.context(), &peer), "prismdv_query_capability");
		put_unaligned_be64(features, peer.bytes + 8);
		check(prismdv_set_peer_capability(target->qp(), &peer), "prismdv_set_peer_capability");
	}

	/** Posts @p request; its packets must be those of the specification. */
	void ask(const Request &request)
	{
		asked = request;
		Exchange expected = target->encode(request, {rkey, aux_rkey, list_number}, bench.random);
		first_psn = expected.first_psn;
		last_psn = expected.last_psn();
		prismdv_send_wr wr{};
		wr.wr.wr_id = ++wr_id;
		wr.wr.send_flags = IBV_SEND_SIGNALED;
		to_work_request(wr, request, {rkey, aux_rkey, list_number}, local.sge(result_at, 8));
		ibv_sge sge = local.sge(0, local_length(request));
		if (request.carries_payload())
			std::copy(request.payload.begin(), request.payload.end(), local.data());
		wr.wr.sg_list = &sge;
		wr.wr.num_sge = sge.length ? 1 : 0;
		ibv_send_wr *bad;
		bench.expect(!ibv_post_send(target->qp(), &wr.wr, &bad), "a request cannot be posted");
		for (Packet &packet : expected.packets)
			expect_packet(packet);
	}

	static bool is_behind(const Packet &packet, const Packet &other)
	{
		const std::uint32_t psn = get_unaligned_be32(&packet[8]) & PRISM_PSN_MASK;
		const std::uint32_t its = get_unaligned_be32(&other[8]) & PRISM_PSN_MASK;
		return ((psn - its) & PRISM_PSN_MASK) > PRISM_PSN_MASK / 2;
	}

	void expect_packet(Packet &expected)
	{
		set_qpn(expected, peer_qpn);
		/* On a machine so slow that the timer expires before we answer, earlier packets are repeated. */
		std::optional<Packet> got = bench.peer.receive();
		while (got && is_behind(*got, expected))
			got = bench.peer.receive();
		if (!bench.expect(got.has_value(), "a request packet does not come"))
			return;
		const std::string strange = bench.peer.take_complaint();
		bench.expect(strange.empty(), strange);
		(*got)[8] &= 0x7f; /* AckReq is the requester's choice */
		expected[8] &= 0x7f;
		if (asked.op >= Op::plain_read) { /* M is rxe's choice there */
			(*got)[1] &= 0xbf;
			expected[1] &= 0xbf;
		}
		bench.expect(*got == expected,
			fmt::format("a request packet: {}, expected {}", to_hex(*got), to_hex(expected)));
	}

	/** Returns an answer's BTH and AETH, with room for @p more bytes */
	[[nodiscard]] Packet head(
		std::uint8_t opcode, std::uint32_t psn, std::size_t more, std::uint8_t syndrome = 0x1f) const
	{
		Packet packet(bth_size + 4 + more);
		prism_bth bth{};
		bth.opcode = opcode;
		bth.qpn = target->qp()->qp_num;
		bth.psn = psn;
		prism_bth_encode(packet.data(), &bth);
		packet[bth_size] = syndrome;
		return packet;
	}
	[[nodiscard]] Packet short_response(std::uint32_t psn, std::uint8_t status, std::uint64_t value) const
	{
		Packet packet = head(PRISM_OP_RESPONSE, psn, 44);
		packet[16] = status;
		put_unaligned_be64(value, packet.data() + 20);
		return packet;
	}
	[[nodiscard]] Packet read_response(std::uint8_t opcode, std::uint32_t psn, std::uint32_t resolution,
		std::uint32_t length, std::size_t payload, std::uint8_t fill) const
	{
		const std::size_t pad = -payload & 3;
		Packet packet = head(opcode, psn, 8 + payload + pad);
		packet[1] = static_cast<std::uint8_t>(packet[1] | pad << 4);
		put_unaligned_be32(resolution, packet.data() + 16);
		put_unaligned_be32(length, packet.data() + 20);
		std::fill_n(packet.begin() + 24, payload, fill);
		return packet;
	}

	void answer(const Packet &packet) const { bench.peer.send(packet); }

	std::optional<ibv_wc> completion(int milliseconds = 10000) const
	{
		const std::optional<ibv_wc> wc = next_completion(target->cq(), std::chrono::milliseconds(milliseconds));
		if (wc)
			bench.expect(wc->wr_id == wr_id, "the completion of another request");
		return wc;
	}

	void expect_completion(
		ibv_wc_status status, std::uint32_t prism_status, std::uint32_t byte_len, const std::string &what) const
	{
		const std::optional<ibv_wc> wc = completion();
		if (!bench.expect(wc.has_value(), what + ": no completion"))
			return;
		bench.expect(wc->status == status,
			fmt::format("{}: completion status {}", what, static_cast<int>(wc->status)));
		if (status == IBV_WC_SUCCESS)
			bench.expect(wc->vendor_err == prism_status && wc->byte_len == byte_len,
				fmt::format("{}: status {} length {}", what, wc->vendor_err, wc->byte_len));
	}

	/** Sends a packet: it is dropped, counted by @p counter unless that is empty, and completes nothing. */
	void expect_dropped(const Packet &packet, const std::string &what, const char *counter = "rx_response_dropped")
	{
		const std::uint64_t before = *counter ? bench.device.counter(counter) : 0;
		answer(packet);
		if (*counter)
			bench.expect(wait_until([&] { return bench.device.counter(counter) > before; },
					     std::chrono::seconds(1)),
				what + ": not counted as dropped");
		if (!bench.expect(!completion(10), what + ": accepted")) {
			connect(first_psn);
			ask(asked);
		}
	}

	[[nodiscard]] static std::size_t local_length(const Request &request)
	{
		if (request.carries_payload())
			return request.payload.size();
		if (request.op == Op::cas)
			return request.size;
		if (request.op == Op::plain_read)
			return request.length;
		return request.op == Op::read && !request.has(reference::redirect) ? request.length : 0;
	}

	Bench &bench;
	MemoryRegion local;
	WireTarget *target = nullptr;
	Request asked;
	std::uint32_t first_psn = 0, last_psn = 0;
	std::uint64_t wr_id = 0;
};

Request request_of(Op op, unsigned flags, std::uint32_t length)
{
	Request request;
	request.op = op;
	request.flags = static_cast<std::uint8_t>(flags);
	request.va = 0x7f1234567000;
	request.aux_va = 0x7f7654321040;
	request.length = length;
	request.size = 16;
	request.compare.fill(0x01);
	request.swap.fill(flags & reference::data_indirect ? 0 : 0x23); /* not sent with D */
	request.compare_mask.fill(0xf0);
	request.swap_mask.fill(0x0f);
	request.tag = flags & reference::bounded ? 0xcafe : 0;
	if (request.carries_payload())
		for (std::uint32_t i = 0; i < length; i++)
			request.payload.push_back(static_cast<std::uint8_t>(i * 5 + 3));
	return request;
}

/** Sends every operation with every legal combination, answered correctly */
void packets_of_requests(Requester &requester)
{
	Bench &bench = requester.bench;
	std::uint32_t resolution = 0;
	requester.connect();
	for (const Op op : {Op::read, Op::write, Op::cas, Op::allocate})
		for (unsigned flags = 0; flags < 32; flags++)
			for (const std::uint32_t length : {0u, 13u, 256u, 700u}) {
				if (!reference::legal(op, flags) || (op == Op::cas && length != 13))
					continue;
				if (op == Op::write && (flags & reference::indirect) && length > 256)
					continue;
				const Request request = request_of(op, flags, op == Op::cas ? 0 : length);
				const std::string what = fmt::format(
					"operation {} flags {} length {}", static_cast<int>(op), flags, length);
				requester.ask(request);
				const bool data = op == Op::read && !(flags & reference::redirect);
				if (data) {
					resolution++;
					for (std::uint32_t at = 0, i = 0; at < length || !at; at += 256, i++) {
						const std::uint32_t n = std::min(256u, length - at);
						const bool last = at + n == length;
						const std::uint8_t opcode = at ? (last ? PRISM_OP_READ_RESPONSE_LAST
										       : PRISM_OP_READ_RESPONSE_MIDDLE)
									       : (last ? PRISM_OP_READ_RESPONSE_ONLY
										       : PRISM_OP_READ_RESPONSE_FIRST);
						requester.answer(requester.read_response(
							opcode, requester.first_psn + i, resolution, length, n, 0x5a));
					}
				} else {
					const std::uint64_t value = op == Op::cas        ? 0
								    : op == Op::allocate ? 0x7f0011223344
											 : length;
					requester.answer(requester.short_response(requester.last_psn, 0, value));
				}
				requester.expect_completion(IBV_WC_SUCCESS, 0,
					op == Op::cas        ? 16
					: op == Op::allocate ? 8
							     : length,
					what);
				if (op == Op::allocate)
					bench.expect(
						requester.local.word(result_at) == 0x7f0011223344, what + ": address");
			}
}

/** RESPONSEs that do not fit a WRITE */
void strange_short_responses(Requester &requester)
{
	requester.connect();
	const Request request = request_of(Op::write, 0, 16);
	requester.ask(request);
	const std::uint32_t psn = requester.first_psn;
	Packet cut = requester.short_response(psn, 0, 16), longer = cut;
	cut.resize(cut.size() - 4);
	longer.resize(longer.size() + 4);
	requester.expect_dropped(cut, "a response cut short");
	requester.expect_dropped(longer, "a response with trailing bytes");
	for (const std::uint8_t status : {1, 2, 3, 4, 5, 255})
		requester.expect_dropped(
			requester.short_response(psn, status, 0), fmt::format("status {} to a WRITE", status));
	requester.expect_dropped(requester.short_response(psn, 0, 17), "more bytes written than were sent");
	requester.expect_dropped(requester.short_response(psn, 0, 15), "fewer bytes written than were sent, without B");
	requester.expect_dropped(requester.short_response(psn - 1, 0, 16), "a response before the request");
	requester.expect_dropped(requester.short_response(psn + 1, 0, 16), "a response to what was not sent");
	requester.expect_dropped(requester.short_response(psn + 0x7fffff, 0, 16), "a response far ahead");
	requester.expect_dropped(
		requester.read_response(PRISM_OP_READ_RESPONSE_ONLY, psn, 1, 16, 16, 1), "READ data to a WRITE");
	requester.expect_dropped(requester.head(0x12, psn, 8), "an atomic acknowledge to a WRITE");
	requester.expect_dropped(requester.head(0x10, psn, 16), "a standard READ response to a WRITE");
	Packet request_packet = requester.short_response(psn, 0, 16);
	for (const std::uint8_t opcode : {0xcb, 0xd5, 0xd6, 0xe0, 0xff}) {
		request_packet[0] = opcode;
		requester.expect_dropped(request_packet, fmt::format("opcode {:#x}", opcode), "");
	}
	requester.answer(requester.short_response(psn, 0, 16));
	requester.expect_completion(IBV_WC_SUCCESS, 0, 16, "the right response after the wrong ones");
}

void strange_read_responses(Requester &requester)
{
	requester.connect();
	requester.ask(request_of(Op::read, 0, 600));
	const std::uint32_t psn = requester.first_psn;
	std::uint32_t resolution = 1; /* each newer, so that one that is accepted does not hide the next */
	const auto response = [&](std::uint8_t opcode, std::uint32_t at, std::uint32_t length, std::size_t payload) {
		return requester.read_response(opcode, psn + at, at ? resolution : ++resolution, length, payload, 0xee);
	};
	constexpr std::uint8_t first = PRISM_OP_READ_RESPONSE_FIRST, middle = PRISM_OP_READ_RESPONSE_MIDDLE,
			       last = PRISM_OP_READ_RESPONSE_LAST, only = PRISM_OP_READ_RESPONSE_ONLY;
	const struct {
		Packet packet;
		const char *what;
	} strange[] = {
		{response(first, 0, 601, 256), "more bytes than were asked for"},
		{response(first, 0, 599, 256), "fewer bytes than were asked for, without B"},
		{response(only, 0, 16, 16), "an ONLY of fewer bytes, without B"},
		{response(first, 0, 600, 252), "a FIRST that is no full MTU"},
		{response(first, 0, 600, 260), "a FIRST longer than the MTU"},
		{response(first, 0, 600, 0), "a FIRST without payload"},
		{response(only, 0, 600, 256), "an ONLY shorter than its length"},
		{response(only, 0, 16, 20), "an ONLY longer than its length"},
	};
	for (const auto &row : strange)
		requester.expect_dropped(row.packet, row.what);
	/* A MIDDLE without a FIRST reveals a loss: the READ is sent again. */
	Packet cut = response(first, 0, 600, 256);
	cut.resize(20);
	requester.expect_dropped(cut, "an RDETH cut short");
	requester.answer(response(first, 0, 600, 256));
	requester.answer(response(middle, 1, 600, 256));
	requester.answer(response(last, 2, 600, 88));
	requester.expect_completion(IBV_WC_SUCCESS, 0, 600, "the right responses after the wrong ones");
}

/** Two resolutions are never spliced. */
void spliced(Requester &requester)
{
	Bench &bench = requester.bench;
	requester.connect();
	requester.ask(request_of(Op::read, reference::indirect | reference::bounded, 700));
	const std::uint32_t psn = requester.first_psn;
	const auto response = [&](std::uint8_t opcode, std::uint32_t at, std::uint32_t resolution, std::uint32_t length,
				      std::size_t payload) {
		return requester.read_response(
			opcode, psn + at, resolution, length, payload, static_cast<std::uint8_t>(resolution));
	};
	std::fill_n(requester.local.data(), 1024, std::uint8_t{0xa5});
	requester.answer(response(PRISM_OP_READ_RESPONSE_FIRST, 0, 8, 600, 256));
	requester.expect_dropped(response(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 7, 600, 256), "an older resolution",
		"rx_resolution_dropped");
	requester.expect_dropped(
		response(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 9, 600, 256), "a newer resolution", "rx_resolution_dropped");
	requester.answer(response(PRISM_OP_READ_RESPONSE_FIRST, 0, 9, 500, 256));
	requester.expect_dropped(response(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 8, 600, 256), "the resolution before",
		"rx_resolution_dropped");
	requester.answer(response(PRISM_OP_READ_RESPONSE_LAST, 1, 9, 500, 244));
	requester.expect_completion(IBV_WC_SUCCESS, 0, 500, "the newer resolution");
	bench.expect(std::all_of(requester.local.data(), requester.local.data() + 500, [](auto b) { return b == 9; }),
		"two resolutions are spliced");
	bench.expect(std::all_of(requester.local.data() + 600, requester.local.data() + 1024,
			     [](auto b) { return b == 0xa5; }),
		"bytes behind the effective length change");
	bench.peer.drop_received();
}

/**
 * Two READs were resolved again, as the first answer was lost; the first answer to the second one arrives late. It is
 * older than the first READ's resolution, and is refused; but it is accepted if a conditional request was sent behind
 * it, which may have acted on it.
 */
void late(Requester &requester, bool followed)
{
	Bench &bench = requester.bench;
	const Request read = request_of(Op::read, 0, 16);
	requester.connect();
	const std::uint64_t first_id = requester.wr_id + 1;
	requester.ask(read);
	const std::uint32_t psn = requester.first_psn;
	requester.ask(read);
	if (followed)
		requester.ask(request_of(Op::cas, reference::conditional, 0));
	const auto answer = [&](std::uint32_t at, std::uint32_t resolution) {
		requester.answer(
			requester.read_response(PRISM_OP_READ_RESPONSE_ONLY, psn + at, resolution, 16, 16, 0x5a));
	};
	const auto completed = [&](int milliseconds) {
		const auto wc = next_completion(requester.target->cq(), std::chrono::milliseconds(milliseconds));
		bench.expect(!wc || wc->status == IBV_WC_SUCCESS, "a READ fails whose answer came late");
		return wc ? wc->wr_id : 0;
	};
	answer(0, 3);
	bench.expect(completed(10000) == first_id, "a READ is not completed");
	answer(1, 2);
	bench.expect(completed(followed ? 10000 : 10) == (followed ? first_id + 1 : 0),
		followed ? "a READ whose chain goes on is not completed" : "a READ is older than the one before it");
	if (!followed) {
		answer(1, 4);
		bench.expect(completed(10000) == first_id + 1, "a READ whose answer came late is not completed");
	}
	bench.peer.drop_received();
}

void negative(Requester &requester)
{
	static constexpr std::pair<std::uint8_t, ibv_wc_status> answers[] = {
		{0x61, IBV_WC_REM_INV_REQ_ERR}, {0x62, IBV_WC_REM_ACCESS_ERR}, {0x63, IBV_WC_REM_OP_ERR}};
	for (const Op op : {Op::read, Op::write, Op::cas, Op::allocate})
		for (const auto &[syndrome, status] : answers) {
			requester.connect();
			requester.ask(request_of(op, 0, op == Op::cas ? 0 : 700));
			requester.answer(requester.head(0x11, requester.last_psn, 0, syndrome));
			requester.expect_completion(
				status, 0, 0, fmt::format("NAK {:#x} to operation {}", syndrome, static_cast<int>(op)));
		}
	/* An acknowledgement at the last PSN, and a PSN sequence error: the request is sent again. */
	for (const std::uint8_t syndrome : {0x1f, 0x60}) {
		requester.connect();
		const Request request = request_of(Op::write, 0, 16);
		requester.ask(request);
		requester.answer(requester.head(0x11, requester.first_psn, 0, syndrome));
		const std::optional<Packet> again = requester.bench.peer.receive(std::chrono::milliseconds(3000));
		requester.bench.expect(again && psn_of(*again) == requester.first_psn,
			fmt::format("syndrome {:#x} does not make it send again", syndrome));
		requester.answer(requester.short_response(requester.first_psn, 0, 16));
		requester.expect_completion(IBV_WC_SUCCESS, 0, 16, "a request sent again");
		requester.bench.peer.drop_received();
	}
}

/** A READ that lost a packet is requested from there, if the peer has declared that it resumes READs. */
void resumed(Requester &requester, std::uint64_t features)
{
	Bench &bench = requester.bench;
	requester.connect();
	requester.declare(features);
	const bool resumes = features & PRISMDV_FEATURE_RESUME;
	requester.ask(request_of(Op::read, 0, 1000));
	const std::uint32_t psn = requester.first_psn;
	const auto response = [&](std::uint8_t opcode, std::uint32_t at, std::uint32_t resolution) {
		return requester.read_response(opcode, psn + at, resolution, 1000, at == 3 ? 232 : 256, 0x5a);
	};
	const auto expect_asked = [&](std::uint32_t at, const std::string &what) {
		std::optional<Packet> again = bench.peer.receive();
		/* Before we answer, the timer may expire once more. */
		for (int i = 0; i < 4 && again && psn_of(*again) != ((psn + at) & PRISM_PSN_MASK); i++)
			again = bench.peer.receive();
		bench.expect(again && psn_of(*again) == ((psn + at) & PRISM_PSN_MASK), what);
	};
	requester.answer(response(PRISM_OP_READ_RESPONSE_FIRST, 0, 5));
	requester.answer(response(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 5));
	requester.answer(response(PRISM_OP_READ_RESPONSE_LAST, 3, 5));
	expect_asked(resumes ? 2 : 0, resumes ? "a READ is not resumed" : "a READ is not repeated whole");
	/* It has been resolved again, and the first packet of that is lost: all of it is requested. */
	if (resumes)
		requester.answer(response(PRISM_OP_READ_RESPONSE_MIDDLE, 2, 5));
	requester.expect_dropped(
		response(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 6), "a newer resolution", "rx_resolution_dropped");
	expect_asked(0, "a READ that was resolved again is not asked for as a whole");
	for (const std::uint8_t at : {0, 1, 2, 3})
		requester.answer(response(at == 0   ? PRISM_OP_READ_RESPONSE_FIRST
					  : at == 3 ? PRISM_OP_READ_RESPONSE_LAST
						    : PRISM_OP_READ_RESPONSE_MIDDLE,
			at, 7));
	requester.expect_completion(IBV_WC_SUCCESS, 0, 1000, "a READ that lost packets");
	bench.peer.drop_received();
}

/** The third of four packets of a READ never arrives. The retry count ends that, whatever is repeated. */
void lost_for_ever(Requester &requester, std::uint64_t features)
{
	constexpr std::uint32_t most = 6;
	Bench &bench = requester.bench;
	Path path;
	path.timeout = 15; /* 0.13 s */
	path.retry = 2;
	requester.connect(0xfffff8, path);
	requester.declare(features);
	requester.ask(request_of(Op::read, 0, 1000));
	const auto answer = [&](std::uint8_t opcode, std::uint32_t at, std::uint32_t resolution) {
		requester.answer(requester.read_response(
			opcode, requester.first_psn + at, resolution, 1000, at == 3 ? 232 : 256, 0x5a));
	};
	std::uint32_t asked = 0;
	std::optional<Packet> again;
	do {
		const std::uint32_t resolution = features & PRISMDV_FEATURE_RESUME ? 1 : asked + 1;
		if (!again || psn_of(*again) == requester.first_psn) {
			answer(PRISM_OP_READ_RESPONSE_FIRST, 0, resolution);
			answer(PRISM_OP_READ_RESPONSE_MIDDLE, 1, resolution);
		}
		answer(PRISM_OP_READ_RESPONSE_LAST, 3, resolution);
		again = bench.peer.receive(std::chrono::milliseconds(500));
		asked++;
	} while (again && asked <= most);
	bench.expect(asked <= most, "a READ whose third packet is lost for ever is asked for on and on");
	requester.expect_completion(IBV_WC_RETRY_EXC_ERR, 0, 0, "a READ whose third packet is lost for ever");
	bench.peer.drop_received();
}

/** The error is reported for the refused request; one before it whose answer was lost is flushed. */
void refused_later(Requester &requester, std::uint8_t loss)
{
	Bench &bench = requester.bench;
	requester.connect();
	const Request cas = request_of(Op::cas, 0, 0), read = request_of(Op::plain_read, 0, 16),
		      send = request_of(Op::plain_write, 0, 16), last = request_of(Op::write, 0, 16);
	const std::uint64_t first_id = requester.wr_id + 1;
	requester.ask(cas);
	const std::uint32_t psn = requester.first_psn;
	requester.ask(read);
	requester.ask(send);
	requester.ask(last);
	/* A sign of the loss: the requester goes back, and has not sent the last again when it is refused. */
	if (loss)
		requester.answer(requester.head(0x11, psn + 2, 0, loss));
	requester.answer(requester.head(0x11, psn + 3, 0, 0x62));
	constexpr ibv_wc_status expected[] = {
		IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR, IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR};
	for (std::uint64_t i = 0; i < std::size(expected); i++) {
		const auto wc = next_completion(requester.target->cq(), std::chrono::seconds(10));
		bench.expect(wc && wc->wr_id == first_id + i && wc->status == expected[i],
			fmt::format("request {} of 4, of which the last is refused, ends with status {}", i,
				wc ? static_cast<int>(wc->status) : -1));
		bench.expect(state_of(requester.target->qp()) == IBV_QPS_ERR, "the queue pair is not in ERROR yet");
	}
	bench.peer.drop_received();
}

/** Unfinished work of a connection does not affect the next one. */
void reset_in_mid_read(Requester &requester)
{
	requester.connect();
	requester.ask(request_of(Op::plain_read, 0, 600));
	requester.answer(requester.head(IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST, requester.first_psn, 256));
	requester.bench.expect(!requester.completion(50), "a READ that is not complete is completed");
	requester.connect();
	requester.ask(request_of(Op::plain_write, 0, 16));
	requester.answer(requester.head(IBV_OPCODE_RC_ACKNOWLEDGE, requester.first_psn, 0));
	requester.expect_completion(IBV_WC_SUCCESS, 0, 16, "a WRITE after a connection that ended inside a READ");
}

/** It is reset after it has gone back for a loss; the first loss of the next connection makes it go back, too. */
void reset_in_mid_retry(Requester &requester)
{
	Bench &bench = requester.bench;
	Path path;
	path.timeout = 20; /* 4 s: so the loss is acted on, not the timer */
	for (const char *what : {"a first loss", "a first loss after a connection that ended inside a retry"}) {
		requester.connect(0xfffff8, path);
		requester.ask(request_of(Op::write, 0, 16));
		requester.answer(requester.head(IBV_OPCODE_RC_ACKNOWLEDGE, requester.first_psn, 0, 0x60));
		const std::optional<Packet> again = bench.peer.receive(std::chrono::seconds(2));
		bench.expect(again && psn_of(*again) == requester.first_psn,
			fmt::format("{} does not make it send again", what));
	}
	requester.answer(requester.short_response(requester.first_psn, 0, 16));
	requester.expect_completion(IBV_WC_SUCCESS, 0, 16, "a WRITE sent again after a reset");
	bench.peer.drop_received();
}

} // namespace

void run_responses(Bench &bench)
{
	bench.section("the device as requester");
	Requester requester(bench);
	packets_of_requests(requester);
	strange_short_responses(requester);
	strange_read_responses(requester);
	spliced(requester);
	late(requester, false);
	late(requester, true);
	negative(requester);
	for (const std::uint64_t features : {~std::uint64_t{0}, ~std::uint64_t{PRISMDV_FEATURE_RESUME}}) {
		resumed(requester, features);
		lost_for_ever(requester, features);
	}
	for (const std::uint8_t loss : {0, 0x1f, 0x60})
		refused_later(requester, loss);
	reset_in_mid_read(requester);
	reset_in_mid_retry(requester);
}

} // namespace prism::packet_peer
