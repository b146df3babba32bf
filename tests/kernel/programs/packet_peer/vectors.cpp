/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * tests/vectors/vectors.json against the device: each request as in the file, but for queue pair, PSN, keys and list,
 * executed with the chain intact and broken; and each packet that must be refused.
 */
#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "bench.hpp"

extern "C" {
#include "prism_bundle.h"
}

namespace prism::packet_peer
{

using nlohmann::json;
using reference::Op;

namespace
{

constexpr std::size_t icrc_size = 4;
constexpr std::uint32_t vector_psn = 0x100;

Packet from_hex(const std::string &text)
{
	Packet packet;
	for (std::size_t i = 0; i + 1 < text.size(); i += 2)
		packet.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
	return packet;
}

std::uint64_t number(const json &value)
{
	return value.is_string() ? std::stoull(value.get<std::string>(), nullptr, 0) : value.get<std::uint64_t>();
}

void put_key(Packet &packet, std::size_t at, std::uint32_t key)
{
	if (packet.size() >= at + 4)
		put_unaligned_be32(key, packet.data() + at);
}

/** Replaces keys and list of the file by live ones. */
void put_keys(const Bench &bench, Packet &packet)
{
	const std::uint8_t opcode = packet[0], flags = packet[8];
	const bool has_aux = flags & (PRISM_FLAG_R | PRISM_FLAG_D);
	if (opcode == PRISM_OP_ALLOCATE_FIRST || opcode == PRISM_OP_ALLOCATE_ONLY) {
		put_key(packet, bth_size, bench.memory.number(list_own));
		if (has_aux)
			put_key(packet, bth_size + PRISM_ALETH_SIZE + 8, bench.memory.key(region_aux));
	} else if (opcode == PRISM_OP_READ_REQUEST || opcode == PRISM_OP_WRITE_FIRST || opcode == PRISM_OP_WRITE_ONLY ||
		   opcode == PRISM_OP_CAS) {
		put_key(packet, bth_size + 8, bench.memory.key(region_main));
		if (has_aux)
			put_key(packet, bth_size + PRISM_RETH_SIZE + 8, bench.memory.key(region_aux));
	}
}

/** Returns the packet with live names in place of those of the file. */
Packet adapt(const Bench &bench, const WireTarget &target, const std::string &hex)
{
	Packet packet = from_hex(hex);
	packet.resize(packet.size() - icrc_size);
	set_qpn(packet, target.qp()->qp_num);
	put_keys(bench, packet);
	return packet;
}

std::array<std::uint8_t, 32> operand(const json &fields, const char *name)
{
	std::array<std::uint8_t, 32> bytes{};
	const Packet from = from_hex(fields.at(name).get<std::string>());
	std::copy(from.begin(), from.end(), bytes.begin());
	return bytes;
}

/** Returns the request that begins with the packet of @p fields, in the reference's form. */
Request to_request(const json &fields)
{
	static const std::map<std::string, Op> ops{
		{"READ", Op::read}, {"WRITE", Op::write}, {"CAS", Op::cas}, {"ALLOCATE", Op::allocate}};
	static const std::map<std::string, unsigned> modifiers{{"T", reference::indirect},
		{"D", reference::data_indirect}, {"B", reference::bounded}, {"C", reference::conditional},
		{"R", reference::redirect}};
	const std::string name = fields.at("opcode_name");
	Request request;
	request.op = ops.at(name.substr(0, name.find('_')));
	for (const std::string flag : fields.at("flags"))
		request.flags = static_cast<std::uint8_t>(request.flags | modifiers.at(flag));
	request.region = region_main;
	for (const char *header : {"reth", "caseth"})
		if (fields.contains(header))
			request.va = number(fields.at(header).at("va"));
	if (fields.contains("auxeth")) {
		request.aux_region = region_aux;
		request.aux_va = number(fields.at("auxeth").at("va"));
	}
	if (fields.contains("reth"))
		request.length = static_cast<std::uint32_t>(number(fields.at("reth").at("length")));
	if (fields.contains("aleth")) {
		request.list = list_own;
		request.length = static_cast<std::uint32_t>(number(fields.at("aleth").at("length")));
		request.tag = static_cast<std::uint32_t>(number(fields.at("aleth").at("tag")));
	}
	if (request.op == Op::cas) {
		const json &caseth = fields.at("caseth");
		request.mode = static_cast<std::uint8_t>(number(caseth.at("mode")));
		request.compare_data = number(caseth.at("flags")) & 1;
		request.size = static_cast<std::uint8_t>(number(caseth.at("n")));
		request.compare = operand(fields, "compare");
		request.swap = operand(fields, "swap");
		request.compare_mask = operand(fields, "compare_mask");
		request.swap_mask = operand(fields, "swap_mask");
	}
	return request;
}

/** Writes the targets of the vectors' pointers, and a value for each CAS to find. */
void furnish(Bench &bench)
{
	bench.poke_word(main_va + 0x1008, main_va + 0x2000);
	bench.poke_bounded(main_va + 0x1010, main_va + 0x3000, 1500);
	bench.poke_bounded(main_va + 0x1020, main_va + 0x5000, 600);
	bench.poke_word(main_va + 0x1040, 7);
	if (bench.world.lists[list_own].entries.empty())
		for (unsigned i = 0; i < 8; i++)
			bench.supply(list_own, i);
}

/** One request of the file, in one packet or several. */
struct Vector {
	std::string name;
	std::uint32_t mtu = 0;
	Request request;
	std::vector<std::string> packets;
};

std::vector<Vector> requests_of(const json &file)
{
	std::vector<Vector> vectors;
	for (const json &vector : file.at("vectors")) {
		const json &fields = vector.at("fields");
		const std::string opcode = fields.at("opcode_name");
		if (fields.at("opcode").get<unsigned>() < PRISM_OP_READ_REQUEST ||
			fields.at("opcode").get<unsigned>() > PRISM_OP_ALLOCATE_ONLY)
			continue;
		if (!opcode.ends_with("_MIDDLE") && !opcode.ends_with("_LAST"))
			vectors.push_back({vector.at("name"), vector.at("mtu"), to_request(fields), {}});
		if (fields.contains("payload")) {
			const Packet payload = from_hex(fields.at("payload"));
			Bytes &all = vectors.back().request.payload;
			all.insert(all.end(), payload.begin(), payload.end());
		}
		vectors.back().packets.push_back(vector.at("hex"));
	}
	return vectors;
}

void execute(Bench &bench, WireTarget &target, const Vector &vector, const std::string &what)
{
	Outcome expected = bench.world.execute(vector.request);
	std::vector<Packet> packets;
	for (const std::string &hex : vector.packets)
		packets.push_back(adapt(bench, target, hex));
	const Exchange exchange = target.adopt(vector.request, std::move(packets));
	target.send(exchange);
	const Outcome got = target.answer(exchange);
	bench.expect(got == expected,
		fmt::format("{}: outcome: status {} length {}, expected {} {}", what, static_cast<int>(got.status),
			got.byte_len, static_cast<int>(expected.status), expected.byte_len));
	bench.expect_agreement(target, what);
}

/** Returns a CAS that misses. */
Request broken_link()
{
	Request request;
	request.op = Op::cas;
	request.region = region_main;
	request.va = main_va + 0x40;
	request.mode = 1;
	return request; /* masks of zeros: greater never holds */
}

void right_ones(Bench &bench, const json &file)
{
	bench.section("vectors");
	for (const Vector &vector : requests_of(file))
		for (const bool intact : {true, false}) {
			WireTarget &target = bench.fresh(vector.mtu, 0xffffff);
			furnish(bench);
			if (!intact)
				bench.agree(target, broken_link(), "a CAS that misses");
			execute(bench, target, vector, vector.name + (intact ? "" : ", chain broken"));
			bench.expect_alive(target, vector.name);
		}
}

void refused(Bench &bench, const std::string &name, std::uint32_t mtu, const std::vector<std::string> &hexes,
	const std::string &reject)
{
	WireTarget &target = bench.fresh(mtu, vector_psn);
	furnish(bench);
	const Request nothing = plain_read(0);
	std::vector<Packet> packets;
	for (const std::string &hex : hexes)
		packets.push_back(adapt(bench, target, hex));
	if (reject == "unknown_opcode") {
		/* No answer: the next packet to arrive is the answer to the READ. */
		set_psn(packets[0], vector_psn);
		bench.peer.send(packets[0]);
		bench.expect_alive(target, name);
		return;
	}
	const std::string counter = "rx_" + reject;
	const std::uint64_t before = bench.device.counter(counter);
	const Exchange exchange = target.adopt(nothing, packets);
	target.send(exchange);
	std::vector<Packet> answers;
	const Outcome got = target.answer(exchange, &answers);
	bench.expect(got.verdict == Verdict::invalid_request, name + ": not refused as invalid");
	bench.expect(!answers.empty() && psn_of(answers.back()) == exchange.last_psn(),
		name + ": the NAK is not at the PSN of the refused packet");
	bench.expect(wait_until([&] { return bench.device.counter(counter) == before + 1; }, std::chrono::seconds(2)),
		name + ": not counted by " + counter);
	bench.expect(wait_until([&] { return state_of(target.qp()) == IBV_QPS_ERR; }), name + ": not in ERROR");
	bench.expect(target.complaint().empty(), name + ": " + target.complaint());
	target.forgive();
	const std::vector<ibv_event_type> events = bench.device.take_events();
	bench.expect(std::find(events.begin(), events.end(), IBV_EVENT_QP_REQ_ERR) != events.end(),
		name + ": no IBV_EVENT_QP_REQ_ERR");
	/* An unfinished message has written, and its buffer comes back. */
	if (packets.size() > 1) {
		bench.restore_memory();
		if (packets[0][0] == PRISM_OP_ALLOCATE_FIRST)
			bench.taken_back(list_own);
	}
	bench.expect_agreement(target, name);
}

void wrong_ones(Bench &bench, const json &file)
{
	bench.section("vectors to be refused");
	for (const json &vector : file.at("invalid"))
		if (vector.at("kind") == "request")
			refused(bench, vector.at("name"), vector.at("mtu"), {vector.at("hex")}, vector.at("reject"));
	for (const json &sequence : file.at("invalid_sequences"))
		refused(bench, sequence.at("name"), sequence.at("mtu"), sequence.at("packets"), sequence.at("reject"));
}

/* Bundles ------------------------------------------------------------------------------------------------------ */

/** A veth pair has an MTU of 1500. */
constexpr std::uint32_t largest_mtu = 1024;

/** As adapt(), including the keys of the entries, as far as there are entries. */
Packet adapt_bundle(const Bench &bench, const WireTarget &target, const std::string &hex)
{
	Packet packet = adapt(bench, target, hex);
	for (std::size_t at = bth_size; at + PRISM_ENTRY_HEADER_SIZE <= packet.size();) {
		const std::size_t length = std::size_t{packet[at + 2]} << 8 | packet[at + 3];
		const std::size_t size = std::min((length + 3) & ~std::size_t{3}, packet.size() - at - 4);
		Packet entry(bth_size);
		entry[0] = packet[at];
		entry[8] = packet[at + 1];
		const auto body = packet.begin() + static_cast<std::ptrdiff_t>(at + PRISM_ENTRY_HEADER_SIZE);
		entry.insert(entry.end(), body, body + static_cast<std::ptrdiff_t>(size));
		put_keys(bench, entry);
		std::copy(entry.begin() + bth_size, entry.end(), body);
		at += PRISM_ENTRY_HEADER_SIZE + size;
	}
	return packet;
}

/** Returns the exchanges of requests that are sent as one bundle, and answered one by one. */
std::vector<Exchange> adopt_all(Bench &bench, WireTarget &target, const std::vector<Request> &requests)
{
	std::vector<Exchange> exchanges;
	for (const Request &request : requests)
		exchanges.push_back(target.encode(request, bench.names(request), bench.random));
	return exchanges;
}

/** Expects the reference's answers, up to a request that is refused, which ends the connection. */
void expect_answers(Bench &bench, WireTarget &target, const std::vector<Exchange> &exchanges, const std::string &what)
{
	for (std::size_t i = 0; i < exchanges.size(); i++) {
		Outcome expected = bench.world.execute(*exchanges[i].request);
		expected.reason = reference::Reason::none;
		const Outcome got = target.answer(exchanges[i]);
		const bool completed = expected.verdict == Verdict::completed;
		bench.expect(completed ? got == expected : got.verdict == expected.verdict,
			fmt::format("{}: outcome of entry {}", what, i));
		if (!completed)
			break;
	}
	bench.expect_agreement(target, what);
}

void right_bundles(Bench &bench, const json &file)
{
	bench.section("bundles");
	for (const json &vector : file.at("bundles")) {
		const std::string name = vector.at("name");
		const std::uint32_t mtu = vector.at("mtu");
		if (vector.at("fields").at("opcode") != PRISM_OP_BUNDLE)
			continue;
		if (mtu > largest_mtu) {
			fmt::print("skip: {}: an MTU of {}\n", name, mtu);
			continue;
		}
		WireTarget &target = bench.fresh(mtu, 0xfffffe);
		furnish(bench);
		std::vector<Request> requests;
		for (const json &entry : vector.at("entries")) {
			requests.push_back(to_request(entry.at("fields")));
			if (entry.at("fields").contains("payload"))
				requests.back().payload = from_hex(entry.at("fields").at("payload"));
		}
		Packet bundle = adapt_bundle(bench, target, vector.at("hex"));
		set_psn(bundle, target.psn());
		const std::vector<Exchange> exchanges = adopt_all(bench, target, requests);
		const std::vector<std::uint64_t> before = bench.device.counters({"rx_bundles", "rx_bundled"});
		bench.peer.send(bundle);
		expect_answers(bench, target, exchanges, name);
		const std::vector<std::uint64_t> after = bench.device.counters({"rx_bundles", "rx_bundled"});
		bench.expect(after[0] == before[0] + 1 && after[1] == before[1] + requests.size(),
			name + ": not counted as a bundle of its entries");
	}
}

/**
 * Returns the request of entry @p k at offset @p at, which is not at fault: a WRITE of 16 bytes, or of none if there is
 * no room
 */
Request bundled_write(unsigned k, const Packet &bundle, std::size_t at)
{
	const std::uint32_t length = get_unaligned_be32(bundle.data() + at) & 0xffff;
	Request request;
	request.op = Op::write;
	request.region = region_main;
	request.va = main_va + 0x1000 + std::uint64_t{16} * k;
	request.length = length - PRISM_RETH_SIZE;
	request.payload.assign(request.length, static_cast<std::uint8_t>(0x10 + k));
	return request;
}

void refused_bundle(Bench &bench, const json &vector)
{
	const std::string name = vector.at("name");
	const unsigned executed = vector.at("executed");
	WireTarget &target = bench.fresh(vector.at("mtu"), vector_psn);
	furnish(bench);
	const Packet bundle = adapt_bundle(bench, target, vector.at("hex"));
	std::vector<Request> requests;
	std::size_t at = bth_size;
	for (unsigned k = 0; k < executed; k++) {
		requests.push_back(bundled_write(k, bundle, at));
		at += PRISM_ENTRY_HEADER_SIZE + PRISM_RETH_SIZE + requests.back().length;
	}
	const std::vector<Exchange> exchanges = adopt_all(bench, target, requests);
	const Request nothing = plain_read(0);
	const Exchange fault = target.adopt(nothing, {Packet(bth_size)});
	const std::string counter = "rx_" + vector.at("reject").get<std::string>();
	const std::uint64_t before = bench.device.counter(counter);
	bench.peer.send(bundle);
	expect_answers(bench, target, exchanges, name);
	bench.expect(target.answer(fault).verdict == Verdict::invalid_request, name + ": not refused as invalid");
	bench.expect(wait_until([&] { return bench.device.counter(counter) == before + 1; }, std::chrono::seconds(2)),
		name + ": not counted by " + counter);
	bench.expect(wait_until([&] { return state_of(target.qp()) == IBV_QPS_ERR; }), name + ": not in ERROR");
	bench.expect(!bench.peer.receive(std::chrono::milliseconds(0)), name + ": answered behind the refusal");
	bench.expect_agreement(target, name);
}

/** As for a single packet: dropped before the expected PSN, a sequence error behind it. */
void misplaced_bundle(Bench &bench, const json &vector)
{
	const std::string name = vector.at("name");
	WireTarget &target = bench.fresh(vector.at("mtu"), vector_psn);
	Packet bundle = adapt_bundle(bench, target, vector.at("hex"));
	for (unsigned i = 0; i < 4; i++)
		bench.agree(target, plain_read(64), "a READ before");
	const std::uint64_t dropped = bench.device.counter("rx_duplicate_dropped");
	set_psn(bundle, vector_psn);
	bench.peer.send(bundle);
	bench.expect_alive(target, name + " before the expected PSN");
	bench.expect(wait_until([&] { return bench.device.counter("rx_duplicate_dropped") == dropped + 1; },
			     std::chrono::seconds(2)),
		name + ": not dropped as a duplicate");
	set_psn(bundle, target.psn() + 1);
	bench.peer.send(bundle);
	const std::optional<Packet> nak = bench.peer.receive();
	bench.expect(nak && (*nak)[0] == 0x11 && (*nak)[bth_size] == 0x60 && psn_of(*nak) == target.psn(),
		name + " behind the expected PSN: no NAK of a sequence error");
	bench.expect_alive(target, name + " behind the expected PSN");
}

void wrong_bundles(Bench &bench, const json &file)
{
	bench.section("bundles to be refused");
	for (const json &vector : file.at("invalid_bundles"))
		if (vector.at("kind") == "request" && vector.at("mtu").get<std::uint32_t>() <= largest_mtu)
			refused_bundle(bench, vector);
	bench.section("bundles not well formed, at other PSNs");
	for (const json &vector : file.at("invalid_bundles")) {
		const Packet bundle = from_hex(vector.at("hex"));
		prism_bundle open{};
		if (vector.at("kind") == "request" && vector.at("mtu").get<std::uint32_t>() <= largest_mtu &&
			!prism_bundle_open(&open, bundle.data(), static_cast<std::uint32_t>(bundle.size() - icrc_size),
				vector.at("mtu")))
			misplaced_bundle(bench, vector);
	}
}

/* Bundles of answers ---------------------------------------------------------------------------------------------- */

constexpr unsigned asked = 3; /* at least as many as a vector answers */
constexpr std::uint64_t old_value = 0x1122334455667700;

/** Posts compare and swaps of words of @p local, one by one; request @p reads is a READ. */
void ask(Bench &bench, const WireTarget &target, MemoryRegion &local, unsigned reads)
{
	for (unsigned k = 0; k < asked; k++) {
		Request request = plain_read(16);
		if (k != reads)
			request.op = Op::cas;
		prismdv_send_wr wr{};
		to_work_request(wr, request, {1, 2, 3}, {});
		ibv_sge sge = local.sge(std::size_t{16} * k, k == reads ? 16 : request.size);
		wr.wr.wr_id = k;
		wr.wr.send_flags = IBV_SEND_SIGNALED;
		wr.wr.sg_list = &sge;
		wr.wr.num_sge = 1;
		ibv_send_wr *bad;
		bench.expect(!ibv_post_send(target.qp(), &wr.wr, &bad), "a request cannot be posted");
		bench.expect(bench.peer.receive().has_value(), "a request does not come");
	}
}

/** The answers before the entry at fault count; it and those behind it do not. */
void dropped_bundle(Bench &bench, MemoryRegion &local, const json &vector)
{
	const std::string name = vector.at("name");
	const unsigned executed = vector.at("executed");
	WireTarget &target = bench.fresh(vector.at("mtu"), vector_psn);
	ask(bench, target, local, name.find("_read_response_only_") != std::string::npos ? executed : asked);
	const std::uint64_t before = bench.device.counter("rx_response_dropped");
	bench.peer.send(adapt(bench, target, vector.at("hex")));
	for (unsigned k = 0; k < executed; k++) {
		const auto wc = next_completion(target.cq());
		bench.expect(wc && wc->wr_id == k && wc->status == IBV_WC_SUCCESS && !wc->vendor_err &&
				     local.word(std::size_t{16} * k) == old_value + k,
			fmt::format("{}: answer {} is not taken", name, k));
	}
	bench.expect(wait_until([&] { return bench.device.counter("rx_response_dropped") == before + 1; },
			     std::chrono::seconds(2)),
		name + ": not counted by rx_response_dropped");
	bench.expect(!next_completion(target.cq(), std::chrono::milliseconds(5)), name + ": taken");
}

void dropped_bundles(Bench &bench, const json &file)
{
	bench.section("bundles of answers to be dropped");
	MemoryRegion local(bench.device.pd(), 4096, IBV_ACCESS_LOCAL_WRITE);
	for (const json &vector : file.at("invalid_bundles"))
		if (vector.at("kind") == "response" && vector.at("mtu").get<std::uint32_t>() <= largest_mtu)
			dropped_bundle(bench, local, vector);
}

} // namespace

void run_vectors(Bench &bench)
{
	const json file = json::parse(std::ifstream(bench.options.vectors));
	right_ones(bench, file);
	wrong_ones(bench, file);
}

void run_bundle_vectors(Bench &bench)
{
	const json file = json::parse(std::ifstream(bench.options.vectors));
	right_bundles(bench, file);
	wrong_bundles(bench, file);
	dropped_bundles(bench, file);
}

} // namespace prism::packet_peer
