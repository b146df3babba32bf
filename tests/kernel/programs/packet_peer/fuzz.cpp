/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets from the seeds of tests/fuzz, mutated, to a responder and, as answers, to a requester with work requests
 * under way. Their only effects may be answers, errors of the queue pair and changes of memory that the peer has rights
 * to.
 */
#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/core.h>

#include "bench.hpp"

namespace prism::packet_peer
{

namespace
{

constexpr std::size_t secret_size = 8192, local_size = 64 << 10, piece = 1024;
constexpr unsigned outstanding = 12;
constexpr std::uint8_t secret_byte = 0x5c;
constexpr std::size_t longest = 1400;

/** Record of a seed, as in tests/fuzz/hostile.hpp: control, parameter, length of two bytes, packet. */
struct Record {
	std::uint8_t control = 0, parameter = 0;
	Packet packet;
};

std::vector<Record> read_seeds(const std::string &file)
{
	std::ifstream stream(file, std::ios::binary);
	const std::vector<char> text{std::istreambuf_iterator<char>(stream), {}};
	const Packet bytes(text.begin(), text.end());
	std::vector<Record> records;
	for (std::size_t at = 0; at + 4 <= bytes.size();) {
		const std::size_t size =
			std::min<std::size_t>(bytes[at + 2] | std::size_t{bytes[at + 3]} << 8, bytes.size() - at - 4);
		const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at + 4);
		records.push_back({bytes[at], bytes[at + 1], Packet(begin, begin + static_cast<std::ptrdiff_t>(size))});
		at += 4 + size;
	}
	return records;
}

void mutate(Packet &packet, test::Random &random)
{
	for (std::uint64_t n = random.below(4); n > 0 && !packet.empty(); n--) {
		const std::size_t at = random.below(packet.size());
		switch (random.below(6)) {
		case 0:
			packet[at] ^= static_cast<std::uint8_t>(1u << random.below(8));
			break;
		case 1:
			packet[at] = static_cast<std::uint8_t>(random.bits());
			break;
		case 2:
			packet.resize(at);
			break;
		case 3:
			packet.resize(std::min<std::size_t>(packet.size() + random.below(300), longest),
				static_cast<std::uint8_t>(random.bits()));
			break;
		case 4: /* a field of four bytes with a notable value */
			if (packet.size() >= at / 4 * 4 + 4)
				put_unaligned_be32(
					random.pick({0u, 1u, 0xffffffffu, 0x80000000u, 0x7fffffffu, 256u, 0x100000u}),
					packet.data() + at / 4 * 4);
			break;
		default:
			packet[0] = static_cast<std::uint8_t>(
				random.chance(80) ? 0xc0 + random.below(0x18) : random.bits());
			break;
		}
	}
	if (packet.size() > longest)
		packet.resize(longest);
}

class Fuzz
{
public:
	explicit Fuzz(Bench &bench)
		: bench_(bench), target_(bench.fresh()),
		  secret_(bench.device.pd(), secret_size, IBV_ACCESS_REMOTE_READ),
		  hidden_(bench.device.pd(), secret_size, IBV_ACCESS_LOCAL_WRITE),
		  local_(bench.device.pd(), local_size, IBV_ACCESS_LOCAL_WRITE)
	{
		std::fill_n(secret_.data(), secret_size, secret_byte);
		std::fill_n(hidden_.data(), secret_size, secret_byte);
		requests_ = read_seeds(bench.options.corpus + "/fuzz_responder.records");
		answers_ = read_seeds(bench.options.corpus + "/fuzz_requester.records");
		bench.expect(!requests_.empty() && !answers_.empty(), "there are no seeds");
		reconnect();
	}

	void run()
	{
		const auto deadline = Clock::now() + std::chrono::seconds(bench_.options.seconds);
		while (sent_ < bench_.options.packets && Clock::now() < deadline) {
			if (sent_ % 4 == 0)
				look_around();
			if (bench_.random.chance(50))
				send(requests_, recv_psn_, true);
			else
				send(answers_, oldest_psn(), false);
		}
		fmt::print("{} packets, {} connections, {} completions\n", sent_, connections_, completions_);
		bench_.expect(sent_ > 200, "too slow to tell anything");
		bench_.expect(intact(secret_) && intact(hidden_), "memory changed that the peer may not write");
		bench_.expect(strays_ == 0, "completions that nobody asked for");
	}

private:
	static bool intact(const MemoryRegion &region)
	{
		return std::all_of(
			region.data(), region.data() + region.size(), [](std::uint8_t b) { return b == secret_byte; });
	}

	void reconnect()
	{
		bench_.fresh(256, 0xfffff0);
		connections_++;
		ibv_wc wc;
		while (ibv_poll_cq(target_.cq(), 1, &wc) > 0)
			;
		posted_ = completed_ = 0;
		post();
	}

	/** Polls completions, reads the queue pair's PSNs, and posts requests for the peer to answer */
	void look_around()
	{
		ibv_wc wc;
		while (ibv_poll_cq(target_.cq(), 1, &wc) > 0) {
			completions_++;
			if (wc.opcode & IBV_WC_RECV && wc.status == IBV_WC_SUCCESS)
				continue;
			if (wc.wr_id >= 1000)
				continue; /* a flushed receive */
			strays_ += wc.wr_id != completed_ % 1000;
			completed_++;
		}
		ibv_qp_attr attr{};
		ibv_qp_init_attr init{};
		check(ibv_query_qp(target_.qp(), &attr, IBV_QP_STATE, &init), "ibv_query_qp");
		recv_psn_ = attr.rq_psn;
		send_psn_ = attr.sq_psn;
		if (attr.qp_state != IBV_QPS_RTS || bench_.random.chance(0.2))
			reconnect();
		else
			post();
		if (sent_ % 64 == 0)
			bench_.peer.drop_received();
		if (bench_.memory.list_state(list_own).available < 4)
			for (unsigned i = 0; i < 8; i++)
				bench_.supply(list_own, i);
	}

	void post()
	{
		while (posted_ - completed_ < outstanding) {
			prismdv_send_wr wr{};
			ibv_sge sges[2];
			Request request;
			request.op = static_cast<reference::Op>(posted_ % 8);
			request.length = request.op == reference::Op::read ? piece : 300;
			request.size = 16;
			if (request.op == reference::Op::read && posted_ % 3 == 0)
				request.flags = reference::indirect | reference::bounded;
			if (request.carries_payload())
				request.payload.resize(request.length);
			const std::size_t at = posted_ % 16 * piece;
			to_work_request(wr, request, {1, 2, 3}, local_.sge(at + 512, 8));
			wr.wr.wr_id = posted_ % 1000;
			wr.wr.send_flags = IBV_SEND_SIGNALED;
			const std::uint32_t length = request.op == reference::Op::cas          ? 16
						     : request.op >= reference::Op::plain_swap ? 8
											       : request.length;
			sges[0] = local_.sge(at, length / 3);
			sges[1] = local_.sge(at + length / 3, length - length / 3);
			wr.wr.sg_list = sges;
			wr.wr.num_sge = 2;
			ibv_send_wr *bad;
			if (ibv_post_send(target_.qp(), &wr.wr, &bad))
				break;
			posted_++;
		}
		ibv_sge sge = local_.sge(0, 512);
		ibv_recv_wr receive{1000, nullptr, &sge, 1}, *bad;
		ibv_post_recv(target_.qp(), &receive, &bad); /* the queue may be full */
	}

	/** Returns a PSN among the requests under way */
	std::uint32_t oldest_psn() { return send_psn_ - static_cast<std::uint32_t>(bench_.random.below(24)); }

	void set_keys(Packet &packet)
	{
		const auto set = [&](std::size_t at) {
			const std::uint32_t keys[] = {bench_.memory.key(region_main), bench_.memory.key(region_aux),
				bench_.memory.key(region_foreign), secret_.key(), hidden_.key()};
			if (at + 4 <= packet.size())
				put_unaligned_be32(keys[bench_.random.below(std::size(keys))], packet.data() + at);
		};
		const auto set_va = [&](std::size_t at) {
			const std::uint64_t vas[] = {main_va + bench_.random.below(main_size),
				main_va + 16 * bench_.random.below(main_size / 16), secret_.va(), hidden_.va(), aux_va};
			if (at + 8 <= packet.size())
				put_unaligned_be64(vas[bench_.random.below(std::size(vas))], packet.data() + at);
		};
		const std::uint8_t opcode = packet[0];
		const bool allocate = opcode >= PRISM_OP_ALLOCATE_FIRST && opcode <= PRISM_OP_ALLOCATE_ONLY;
		if (allocate && packet.size() >= bth_size + 4) {
			put_unaligned_be32(bench_.memory.number(list_own), packet.data() + bth_size);
		} else {
			set_va(bth_size);
			set(bth_size + 8);
		}
		if (packet[8] & (PRISM_FLAG_R | PRISM_FLAG_D)) {
			const std::size_t aux = bth_size + (allocate ? PRISM_ALETH_SIZE : PRISM_RETH_SIZE);
			set_va(aux);
			set(aux + 8);
		}
	}

	void send(const std::vector<Record> &seeds, std::uint32_t psn, bool request)
	{
		test::Random &random = bench_.random;
		Record record = seeds[random.below(seeds.size())];
		Packet &packet = record.packet;
		if (packet.size() >= bth_size && request && random.chance(90))
			set_keys(packet);
		mutate(packet, random);
		sent_++;
		if (packet.size() < bth_size) {
			bench_.peer.send_raw(packet);
			return;
		}
		set_qpn(packet, target_.qp()->qp_num);
		packet[1] &= 0xf0;
		packet[2] = packet[3] = 0xff;
		if (random.chance(80))
			set_psn(packet, psn);
		else if (random.chance(50))
			set_psn(packet, psn + static_cast<std::uint32_t>(random.below(64)) - 32);
		if (random.chance(98))
			bench_.peer.send(packet);
		else
			bench_.peer.send_raw(packet);
		if (request)
			recv_psn_++; /* a guess, until it is queried again */
	}

	Bench &bench_;
	WireTarget &target_;
	MemoryRegion secret_, hidden_, local_;
	std::vector<Record> requests_, answers_;
	std::uint32_t recv_psn_ = 0, send_psn_ = 0;
	std::uint64_t sent_ = 0, posted_ = 0, completed_ = 0, completions_ = 0, strays_ = 0;
	unsigned connections_ = 0;
};

} // namespace

void run_fuzz(Bench &bench)
{
	bench.section("mutated packets");
	{
		Fuzz fuzz(bench);
		fuzz.run();
	}
	bench.restore_memory();
	WireTarget &target = bench.fresh();
	const Request request = plain_read(500);
	const Outcome expected = bench.world.execute(request);
	const Exchange exchange = target.encode(request, bench.names(request), bench.random);
	target.send(exchange);
	bench.expect(target.answer(exchange) == expected, "no READ works afterwards");
}

} // namespace prism::packet_peer
