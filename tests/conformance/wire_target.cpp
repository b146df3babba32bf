/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "wire_target.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/core.h>

extern "C" {
#include "prism_bundle.h"
}

namespace prism::conformance
{

using reference::Op;
using reference::Outcome;
using reference::Request;
using reference::Status;
using reference::Verdict;

namespace
{

/* Standard RC opcodes (IBTA 9.2) */
constexpr std::uint8_t rc_write_first = 0x06, rc_write_middle = 0x07, rc_write_last = 0x08, rc_write_only = 0x0a;
constexpr std::uint8_t rc_read = 0x0c, rc_read_first = 0x0d, rc_read_only = 0x10;
constexpr std::uint8_t rc_acknowledge = 0x11, rc_atomic_acknowledge = 0x12;
constexpr std::uint8_t rc_compare_swap = 0x13, rc_fetch_add = 0x14;

constexpr std::uint8_t syndrome_ack = 0x1f, syndrome_invalid = 0x61, syndrome_access = 0x62;
constexpr std::size_t short_response = 60, read_response_header = 24, acknowledge_size = 16;

/** Writes the BTH that every answer begins with. */
void put_response_bth(Packet &packet, std::uint8_t opcode, std::size_t pad, std::uint32_t psn)
{
	packet[0] = opcode;
	packet[1] = static_cast<std::uint8_t>(0x40 | pad << 4);
	packet[2] = packet[3] = 0xff;
	put_unaligned_be32(peer_qpn, packet.data() + 4);
	put_unaligned_be32(psn & PRISM_PSN_MASK, packet.data() + 8);
}

bool returns_data(const Request &request)
{
	return request.op == Op::read && !request.has(reference::redirect);
}

bool is_standard(const Request &request)
{
	return request.op >= Op::plain_read;
}

std::uint32_t psns_of(const Request &request, std::uint32_t mtu)
{
	std::uint64_t bytes = 0;
	if (returns_data(request) || request.op == Op::plain_read)
		bytes = request.length;
	else if (request.carries_payload())
		bytes = request.payload.size();
	return bytes ? static_cast<std::uint32_t>((bytes - 1) / mtu + 1) : 1;
}

void append(Packet &packet, const void *from, std::size_t size)
{
	const auto *bytes = static_cast<const std::uint8_t *>(from);
	packet.insert(packet.end(), bytes, bytes + size);
}

void append_be64(Packet &packet, std::uint64_t value)
{
	std::uint8_t bytes[8];
	put_unaligned_be64(value, bytes);
	append(packet, bytes, sizeof(bytes));
}

void append_be32(Packet &packet, std::uint32_t value)
{
	std::uint8_t bytes[4];
	put_unaligned_be32(value, bytes);
	append(packet, bytes, sizeof(bytes));
}

} // namespace

std::string to_hex(const Packet &packet)
{
	std::string text;
	for (const std::uint8_t byte : packet)
		text += fmt::format("{:02x}", byte);
	return text;
}

Packet bundle_of(std::span<const Packet> packets)
{
	Packet bundle(bth_size);
	prism_bundle_put_header(bundle.data(), packets[0].data());
	for (const Packet &packet : packets) {
		const auto size = static_cast<std::uint32_t>(packet.size());
		const std::size_t at = bundle.size();
		bundle.resize(at + prism_bundle_entry_size(packet.data(), size));
		prism_bundle_put_entry(bundle.data() + at, packet.data(), size);
	}
	return bundle;
}

WireTarget::WireTarget(const Device &device, WirePeer &peer, std::uint32_t mtu)
	: device_(device), peer_(peer), mtu_(mtu), cq_(create_cq(device)),
	  qp_(create_qp(device, device.pd(), cq_.get()))
{
}

void WireTarget::connect(unsigned access, std::uint32_t psn, std::uint8_t dest_rd_atomic)
{
	Path path;
	path.source = peer_.device();
	path.destination = peer_.own();
	path.qpn = peer_qpn;
	path.send_psn = path.recv_psn = psn;
	path.mtu = mtu_;
	path.access = access;
	path.dest_rd_atomic = dest_rd_atomic;
	path.timeout = timeout_;
	path.retry = retries_;
	conformance::connect(device_, qp_.get(), path);
	psn_ = psn;
	msn_ = 0;
	resolved_ = false;
}

/* Requests ----------------------------------------------------------------------------------------------------- */

Packet WireTarget::header(std::uint8_t opcode, bool ack_req, std::uint8_t flags) const
{
	Packet packet(bth_size);
	prism_bth bth{};
	bth.opcode = opcode;
	bth.ack_req = ack_req;
	bth.flags = flags;
	bth.qpn = qp_->qp_num;
	prism_bth_encode(packet.data(), &bth);
	return packet;
}

/** Cuts the payload into pieces; @p head makes the headers of each, from its offset and length. */
void WireTarget::append_payload(Exchange &exchange, const std::function<Packet(std::uint32_t, std::uint32_t)> &head)
{
	const Bytes none;
	const Bytes &payload = exchange.request->carries_payload() ? exchange.request->payload : none;
	const auto total = static_cast<std::uint32_t>(payload.size());
	std::uint32_t offset = 0;
	do {
		const std::uint32_t n = std::min(mtu_, total - offset);
		Packet packet = head(offset, n);
		append(packet, payload.data() + offset, n);
		packet.resize(packet.size() + (-n & 3));
		packet[1] = static_cast<std::uint8_t>((packet[1] & ~0x30u) | (-n & 3) << 4);
		exchange.packets.push_back(std::move(packet));
		offset += n;
	} while (offset < total);
}

void WireTarget::encode_prism(Exchange &exchange, const WireNames &names, test::Random &random)
{
	const Request &request = *exchange.request;
	std::uint8_t operands[4 * 255] = {};
	prism_request fields = to_wire(request, names, operands);
	append_payload(exchange, [&](std::uint32_t offset, std::uint32_t n) {
		fields.first = offset == 0;
		fields.last = !request.carries_payload() || offset + n == request.payload.size();
		const bool ack_req = random.chance(50);
		Packet packet = header(prism_request_opcode(&fields), ack_req, fields.flags);
		packet.resize(prism_request_header_size(&fields));
		prism_request_encode(packet.data(), &fields);
		if (ack_req && !fields.last)
			exchange.acknowledges.push_back(static_cast<std::uint32_t>(exchange.packets.size()));
		return packet;
	});
}

void WireTarget::encode_standard(Exchange &exchange, const WireNames &names)
{
	const Request &request = *exchange.request;
	append_payload(exchange, [&](std::uint32_t offset, std::uint32_t n) {
		const bool first = offset == 0;
		const bool last = !request.carries_payload() || offset + n == request.payload.size();
		std::uint8_t opcode = rc_read;
		if (request.op == Op::plain_write)
			opcode = first  ? (last ? rc_write_only : rc_write_first)
				 : last ? rc_write_last
					: rc_write_middle;
		else if (request.op != Op::plain_read)
			opcode = request.op == Op::plain_swap ? rc_compare_swap : rc_fetch_add;
		Packet packet = header(opcode, last, 0);
		if (!first)
			return packet;
		append_be64(packet, request.va);
		append_be32(packet, names.rkey);
		if (request.op == Op::plain_read || request.op == Op::plain_write) {
			append_be32(packet, request.length);
			return packet;
		}
		/* AtomicETH: the swap or add operand, then the compare operand */
		const bool swap = request.op == Op::plain_swap;
		append_be64(packet, get_unaligned_le64((swap ? request.swap : request.compare).data()));
		append_be64(packet, swap ? get_unaligned_le64(request.compare.data()) : 0);
		return packet;
	});
}

Exchange WireTarget::encode(const Request &request, const WireNames &names, test::Random &random)
{
	Exchange exchange;
	exchange.request = &request;
	if (is_standard(request))
		encode_standard(exchange, names);
	else
		encode_prism(exchange, names, random);
	std::vector<std::uint32_t> acknowledges = std::move(exchange.acknowledges);
	exchange = adopt(request, std::move(exchange.packets));
	for (const std::uint32_t index : acknowledges)
		exchange.acknowledges.push_back((exchange.first_psn + index) & PRISM_PSN_MASK);
	if (request.mangle != reference::Mangle::none)
		mangle_packet(exchange.packets[request.mangled_packet], request.mangle);
	/* rxe knows one transport version and one partition, and drops packets of others. */
	for (Packet &packet : exchange.packets) {
		packet[1] &= 0xf0;
		packet[2] = packet[3] = 0xff;
	}
	return exchange;
}

Exchange WireTarget::adopt(const Request &request, std::vector<Packet> packets)
{
	Exchange exchange;
	exchange.request = &request;
	exchange.packets = std::move(packets);
	exchange.first_psn = psn_;
	exchange.psns = psns_of(request, mtu_);
	for (std::size_t i = 0; i < exchange.packets.size(); i++)
		set_psn(exchange.packets[i], psn_ + static_cast<std::uint32_t>(i));
	psn_ = (psn_ + exchange.psns) & PRISM_PSN_MASK;
	return exchange;
}

void WireTarget::send(const Exchange &exchange) const
{
	for (const Packet &packet : exchange.packets)
		peer_.send(packet);
}

/* Answers ------------------------------------------------------------------------------------------------------ */

/** Returns the next packet, after checks that all answers share. Opcode 0 if none arrives. */
WireTarget::Answer WireTarget::next_answer(const Exchange &exchange)
{
	std::optional<Packet> packet = peer_.receive();
	if (const std::string strange = peer_.take_complaint(); !strange.empty())
		complain(strange);
	if (!packet || packet->size() < acknowledge_size) {
		complain(fmt::format("no answer to the request at PSN {:#x}", exchange.first_psn));
		return {};
	}
	if (seen_)
		seen_->push_back(*packet);
	Packet bth(bth_size);
	put_response_bth(bth, (*packet)[0], (*packet)[1] >> 4 & 3, psn_of(*packet));
	/* The migration state is not checked, and rxe sets it to 0 in its own answers. */
	if ((*packet)[0] < PRISM_OP_READ_RESPONSE_FIRST)
		bth[1] = static_cast<std::uint8_t>((bth[1] & ~0x40u) | ((*packet)[1] & 0x40));
	if (!std::equal(bth.begin(), bth.end(), packet->begin()))
		complain("an answer with a strange BTH: " + to_hex(*packet));
	return {(*packet)[0], psn_of(*packet), std::move(*packet)};
}

void WireTarget::check_msn(const Packet &packet, std::uint32_t expected)
{
	const std::uint32_t got = get_unaligned_be32(packet.data() + bth_size) & PRISM_PSN_MASK;
	if (!any_msn_ && got != (expected & PRISM_PSN_MASK))
		complain(fmt::format("MSN {}, expected {}", got, expected));
}

/** Returns true for a NAK that ends the request. */
bool WireTarget::is_negative(const Answer &answer, const Exchange &exchange, Outcome &outcome)
{
	if (answer.opcode != rc_acknowledge || answer.packet[bth_size] == syndrome_ack)
		return false;
	const std::uint8_t syndrome = answer.packet[bth_size];
	if (syndrome == syndrome_invalid)
		outcome.verdict = Verdict::invalid_request;
	else if (syndrome == syndrome_access)
		outcome.verdict = Verdict::access_error;
	else
		complain(fmt::format("a NAK of syndrome {:#x}", syndrome));
	if (answer.packet.size() != acknowledge_size)
		complain("a NAK of a wrong size");
	if (((answer.psn - exchange.first_psn) & PRISM_PSN_MASK) >=
		std::max<std::size_t>(exchange.psns, exchange.packets.size()))
		complain("a NAK at a PSN that is none of the request's");
	check_msn(answer.packet, msn_);
	return true;
}

/** Reads a RESPONSE (W.6.1): all bytes follow from the request, its PSN, and the fields taken from here. */
void WireTarget::read_short(const Exchange &exchange, const Answer &answer, Outcome &outcome)
{
	const Request &request = *exchange.request;
	if (answer.packet.size() != short_response) {
		complain("a short response of a wrong size");
		return;
	}
	const std::uint8_t *rspeth = answer.packet.data() + 16;
	const std::uint8_t status = rspeth[0];
	const std::uint64_t value = get_unaligned_be64(rspeth + 4);
	Packet expected(short_response);
	put_response_bth(expected, PRISM_OP_RESPONSE, 0,
		returns_data(request) ? exchange.first_psn : exchange.first_psn + exchange.psns - 1);
	std::copy_n(answer.packet.begin() + 12, 4, expected.begin() + 12);
	expected[12] = syndrome_ack;
	check_msn(answer.packet, msn_ + 1);
	expected[16] = status;

	outcome.status = static_cast<Status>(status);
	const bool cas_bytes = request.op == Op::cas && status <= 1;
	if (cas_bytes) {
		outcome.byte_len = request.size;
		outcome.local.assign(rspeth + 12, rspeth + 12 + request.size);
		std::copy_n(rspeth + 12, request.size, expected.begin() + 28);
	} else if (status == 0) {
		put_unaligned_be64(value, expected.data() + 20);
		outcome.byte_len = request.op == Op::allocate ? 8 : static_cast<std::uint32_t>(value);
		if (request.op != Op::allocate && value >> 32)
			complain("a length beyond 32 bits");
	}
	if (request.op == Op::allocate) {
		outcome.local.resize(8);
		put_unaligned_le64(status ? 0 : value, outcome.local.data());
	}
	if (returns_data(request) && status == 0)
		complain("OK and no data");
	if (status > 4 || answer.packet != expected)
		complain(fmt::format(
			"a short response to the request at PSN {:#x} that should be other bytes: {}, expected {}",
			exchange.first_psn, to_hex(answer.packet), to_hex(expected)));
	msn_++;
}

/** Reads a READ_RESPONSE (W.6.2) */
void WireTarget::read_data(const Exchange &exchange, Answer answer, Outcome &outcome)
{
	const Request &request = *exchange.request;
	std::uint32_t resolution = 0, length = 0;
	for (std::uint32_t index = 0;; index++) {
		if (index) {
			answer = next_answer(exchange);
			if (is_negative(answer, exchange, outcome))
				return;
		}
		if (answer.packet.size() < read_response_header) {
			complain("a READ response that is too short");
			return;
		}
		if (!index) {
			resolution = get_unaligned_be32(answer.packet.data() + 16);
			length = get_unaligned_be32(answer.packet.data() + 20);
			if (length > request.length || (!request.has(reference::bounded) && length != request.length))
				complain("a READ response of a length that was not asked for");
			if (resolved_ && static_cast<std::int32_t>(resolution - resolution_) <= 0)
				complain("a resolution number that is not newer than the one before");
			resolved_ = true;
			resolution_ = resolution;
		}
		const std::uint32_t n = std::min(mtu_, length - index * mtu_);
		const bool last = index * mtu_ + n == length;
		const std::uint8_t opcode =
			index == 0 ? (last ? PRISM_OP_READ_RESPONSE_ONLY : PRISM_OP_READ_RESPONSE_FIRST)
			: last     ? PRISM_OP_READ_RESPONSE_LAST
				   : PRISM_OP_READ_RESPONSE_MIDDLE;
		Packet expected(read_response_header + n + (-n & 3));
		put_response_bth(expected, opcode, -n & 3, exchange.first_psn + index);
		put_unaligned_be32(std::uint32_t{syndrome_ack} << 24 |
					   (get_unaligned_be32(answer.packet.data() + 12) & PRISM_PSN_MASK),
			expected.data() + 12);
		put_unaligned_be32(resolution, expected.data() + 16);
		put_unaligned_be32(length, expected.data() + 20);
		check_msn(answer.packet, msn_ + 1);
		if (answer.packet.size() != expected.size()) {
			complain("a READ response of a wrong size");
			return;
		}
		std::copy_n(answer.packet.begin() + read_response_header, n, expected.begin() + read_response_header);
		if (answer.packet != expected)
			complain(
				fmt::format("READ response {} at PSN {:#x} that should be other bytes: {}, expected {}",
					index, exchange.first_psn, to_hex(answer.packet), to_hex(expected)));
		outcome.local.insert(outcome.local.end(), answer.packet.begin() + read_response_header,
			answer.packet.begin() + read_response_header + n);
		if (last)
			break;
	}
	outcome.byte_len = length;
	msn_++;
}

void WireTarget::read_standard(const Exchange &exchange, Answer answer, Outcome &outcome)
{
	const Request &request = *exchange.request;
	check_msn(answer.packet, msn_ + 1);
	msn_++;
	outcome.byte_len = request.op == Op::plain_swap || request.op == Op::plain_add ? 8 : request.length;
	if (request.op == Op::plain_write) {
		if (answer.opcode != rc_acknowledge || answer.psn != exchange.last_psn())
			complain("a standard WRITE is not acknowledged as it should be");
		return;
	}
	if (request.op != Op::plain_read) {
		if (answer.opcode != rc_atomic_acknowledge || answer.packet.size() != 24) {
			complain("a standard atomic is not answered as it should be");
			return;
		}
		outcome.local.resize(8);
		put_unaligned_le64(get_unaligned_be64(answer.packet.data() + 16), outcome.local.data());
		return;
	}
	for (std::uint32_t index = 0; outcome.local.size() < request.length; index++) {
		if (index)
			answer = next_answer(exchange);
		const bool aeth = answer.opcode != rc_read_first + 1;
		const std::uint32_t n = std::min(mtu_, request.length - index * mtu_);
		const std::size_t head = bth_size + (aeth ? 4 : 0);
		if (answer.opcode < rc_read_first || answer.opcode > rc_read_only || answer.packet.size() < head + n ||
			answer.psn != ((exchange.first_psn + index) & PRISM_PSN_MASK)) {
			complain("a standard READ is not answered as it should be");
			return;
		}
		outcome.local.insert(outcome.local.end(), answer.packet.begin() + static_cast<std::ptrdiff_t>(head),
			answer.packet.begin() + static_cast<std::ptrdiff_t>(head + n));
	}
}

Outcome WireTarget::collect(const Exchange &exchange)
{
	const Request &request = *exchange.request;
	Outcome outcome;
	std::size_t acknowledged = 0;
	for (;;) {
		Answer answer = next_answer(exchange);
		if (answer.packet.empty())
			return outcome;
		if (is_negative(answer, exchange, outcome))
			return outcome;
		if (answer.opcode == rc_acknowledge && acknowledged < exchange.acknowledges.size() &&
			answer.psn == exchange.acknowledges[acknowledged]) {
			check_msn(answer.packet, msn_);
			acknowledged++;
			continue;
		}
		/* The earlier packets of a duplicate: acknowledgements are for its last packet or later ones. */
		if (any_msn_ && answer.opcode == rc_acknowledge && exchange.packets.size() > 1 &&
			((answer.psn - exchange.last_psn()) & PRISM_PSN_MASK) <
				((psn_ - exchange.last_psn()) & PRISM_PSN_MASK))
			continue;
		if (acknowledged != exchange.acknowledges.size())
			complain("an answer before an acknowledge that was asked for");
		if (is_standard(request))
			read_standard(exchange, std::move(answer), outcome);
		else if (answer.opcode == PRISM_OP_RESPONSE)
			read_short(exchange, answer, outcome);
		else if (returns_data(request) && answer.opcode >= PRISM_OP_READ_RESPONSE_FIRST &&
			 answer.opcode <= PRISM_OP_READ_RESPONSE_ONLY)
			read_data(exchange, std::move(answer), outcome);
		else
			complain(fmt::format("opcode {:#x} at PSN {:#x} in answer to the request at PSN {:#x}",
				answer.opcode, answer.psn, exchange.first_psn));
		return outcome;
	}
}

Outcome WireTarget::answer(const Exchange &exchange, std::vector<Packet> *packets)
{
	any_msn_ = false;
	seen_ = packets;
	const Outcome outcome = collect(exchange);
	seen_ = nullptr;
	return outcome;
}

Outcome WireTarget::answer_again(const Exchange &exchange, std::vector<Packet> *packets)
{
	const std::uint32_t msn = msn_;
	Exchange again = exchange;
	again.acknowledges.clear(); /* their PSN is that of the latest request */
	any_msn_ = true;
	seen_ = packets;
	const Outcome outcome = collect(again);
	seen_ = nullptr;
	msn_ = msn;
	return outcome;
}

} // namespace prism::conformance
