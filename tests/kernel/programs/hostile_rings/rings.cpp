/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rings.hpp"

#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace prism::hostile
{

using namespace prism::conformance;

namespace
{

/** Reads the header of the queue that begins there; returns false if there is none. */
bool read_header(Ring &ring)
{
	const prism_abi_queue *header = ring.header();
	const std::uint32_t log2 = header->log2_entry_size, mask = header->index_mask;
	if (log2 < 3 || log2 > 16 || mask == 0 || (mask & (mask + 1)))
		return false;
	if (sizeof(*header) + ((std::size_t{mask} + 1) << log2) > ring.mapping.size)
		return false;
	ring.log2_entry_size = log2;
	ring.mask = mask;
	return true;
}

template <typename T>
void store(T *to, T value)
{
	std::atomic_ref<T>(*to).store(value, std::memory_order_release);
}

} // namespace

std::vector<Mapping> uverbs_mappings()
{
	std::vector<Mapping> mappings;
	std::ifstream maps("/proc/self/maps");
	for (std::string line; std::getline(maps, line);) {
		unsigned long start, end;
		char rights[5];
		if (line.find("/dev/infiniband/uverbs") != std::string::npos &&
			std::sscanf(line.c_str(), "%lx-%lx %4s", &start, &end, rights) == 3 && rights[1] == 'w')
			mappings.push_back({start, end - start});
	}
	return mappings;
}

void ring_doorbell(ibv_qp *qp)
{
	struct {
		ib_uverbs_cmd_hdr header;
		ib_uverbs_post_send post;
	} command{};
	ib_uverbs_post_send_resp response{};
	command.header.command = IB_USER_VERBS_CMD_POST_SEND;
	command.header.in_words = sizeof(command) / 4;
	command.header.out_words = sizeof(response) / 4;
	command.post.response = reinterpret_cast<std::uintptr_t>(&response);
	command.post.qp_handle = qp->handle;
	command.post.wqe_size = sizeof(ib_uverbs_send_wr);
	[[maybe_unused]] const ssize_t written = write(qp->context->cmd_fd, &command, sizeof(command));
}

void set_up_datagrams(ibv_qp *qp)
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.qkey = datagram_qkey;
	check(set_state(qp, IBV_QPS_RESET), "UD to RESET");
	check(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), "UD to INIT");
	check(set_state(qp, IBV_QPS_RTR), "UD to RTR");
	attr.qp_state = IBV_QPS_RTS;
	check(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), "UD to RTS");
}

Handle own_handle(const Device &device)
{
	ibv_ah_attr attr{};
	attr.is_global = 1;
	attr.port_num = 1;
	attr.grh.dgid = device.some_gid(false);
	attr.grh.sgid_index = static_cast<std::uint8_t>(device.index_of(attr.grh.dgid));
	attr.grh.hop_limit = 64;
	return Handle(made(ibv_create_ah(device.pd(), &attr), "ibv_create_ah"));
}

int pass_handle(const Device &device, const Rest &rest, Answer &answer)
{
	const int fd = device.context()->cmd_fd;
	const ibv_gid gid = device.some_gid(false);
	ib_uverbs_create_ah create{};
	create.pd_handle = device.pd()->handle;
	create.attr.is_global = create.attr.port_num = 1;
	create.attr.grh.sgid_index = static_cast<std::uint8_t>(device.index_of(gid));
	std::memcpy(create.attr.grh.dgid, gid.raw, sizeof(gid.raw));
	if (const int error = command(fd, IB_USER_VERBS_CMD_CREATE_AH, create, rest, &answer))
		return error;
	return command(fd, IB_USER_VERBS_CMD_DESTROY_AH, ib_uverbs_destroy_ah{answer[0]});
}

std::vector<Ring> Finder::take(Kind kind, Kind also)
{
	std::vector<Ring> rings;
	const std::vector<Mapping> now = uverbs_mappings();
	for (const Mapping &mapping : now) {
		if (std::find(known_.begin(), known_.end(), mapping) != known_.end())
			continue;
		Ring ring{kind, mapping, 0, 0};
		if (!read_header(ring))
			ring.kind = Kind::free_list;
		rings.push_back(ring);
	}
	/* Of a queue pair's two queues, the send queue has the larger entries. */
	if (rings.size() == 2 && kind != also && rings[0].kind == kind && rings[1].kind == kind)
		rings[rings[0].log2_entry_size > rings[1].log2_entry_size ? 0 : 1].kind = also;
	known_ = now;
	return rings;
}

Ring Finder::take_queue(Kind sends, Kind kind)
{
	const std::vector<Ring> rings = take(Kind::receives, sends);
	if (rings.size() != 2)
		throw std::runtime_error("the queues of a queue pair are not found");
	return rings[rings[0].kind == kind ? 0 : 1];
}

/* Rubbish ------------------------------------------------------------------------------------------------------ */

std::uint32_t Spoiler::number()
{
	switch (random_.below(4)) {
	case 0:
		return random_.pick({0u, 1u, 2u, 4u, 8u, 16u, 31u, 32u, 33u, 64u, 255u, 256u});
	case 1:
		return random_.pick({0xffffffffu, 0x7fffffffu, 0x80000000u, 0xfffffff0u, 0x10000000u, 0x800000u});
	case 2:
		return static_cast<std::uint32_t>(random_.below(4096));
	default:
		return static_cast<std::uint32_t>(random_.bits());
	}
}

std::uint32_t Spoiler::some(const std::vector<std::uint32_t> &values)
{
	return values.empty() || random_.chance(25) ? number() : values[random_.below(values.size())];
}

void Spoiler::noise(std::uint8_t *to, std::size_t size)
{
	for (std::size_t i = 0; i + 8 <= size; i += 8) {
		const std::uint64_t bits = random_.bits();
		std::memcpy(to + i, &bits, sizeof(bits));
	}
}

void Spoiler::sges(prism_abi_sge *to, std::size_t count)
{
	for (std::size_t i = 0; i < count; i++) {
		to[i].addr = random_.chance(75) ? names_.va + random_.below(names_.length) : random_.bits();
		to[i].length = random_.chance(75) ? static_cast<std::uint32_t>(random_.below(600)) : number();
		to[i].lkey = some(names_.keys);
	}
}

void Spoiler::send_entry(const Ring &ring, std::uint8_t *entry)
{
	const bool prism = ring.kind == Kind::prism_sends;
	prism_abi_send send;
	noise(reinterpret_cast<std::uint8_t *>(&send), sizeof(send));
	switch (random_.below(4)) {
	case 0:
		send.opcode = static_cast<std::uint32_t>(random_.below(256));
		break;
	case 1: /* IB_WR_REG_MR of the kernel, and values around the ends of its tables */
		send.opcode =
			random_.pick({0x20u, 0x21u, 0x1fu, 0xf0u, 0x100u, 0xffffffffu, 0x80000000u, 0xbfu, 0xc4u});
		break;
	case 2:
		send.opcode = static_cast<std::uint32_t>(random_.between(PRISM_ABI_WR_READ, PRISM_ABI_WR_ALLOCATE));
		break;
	default: /* enum ib_uverbs_wr_opcode, BIND_MW and LOCAL_INV among them */
		send.opcode = static_cast<std::uint32_t>(random_.below(16));
		break;
	}
	if (opcode_ >= 0)
		send.opcode = static_cast<std::uint32_t>(opcode_);
	if (random_.chance(70))
		send.flags = static_cast<std::uint32_t>(random_.below(32));
	send.num_sge = random_.chance(60) ? static_cast<std::uint32_t>(random_.below(6)) : number();
	send.length = random_.chance(60) ? static_cast<std::uint32_t>(random_.below(200)) : number();
	const std::uint64_t va =
		random_.chance(70) ? names_.va + (random_.below(names_.length) & ~31ull) : random_.bits();
	if (send.opcode >= PRISM_ABI_WR_READ && send.opcode <= PRISM_ABI_WR_ALLOCATE) {
		send.prism.va = va;
		send.prism.aux_va = names_.va + (random_.below(names_.length) & ~31ull);
		send.prism.rkey = some(names_.keys);
		send.prism.aux_rkey = some(names_.keys);
		send.prism.free_list = some(names_.lists);
		if (random_.chance(60))
			send.prism.aux_length = 0;
		if (random_.chance(70))
			send.prism.flags = random_.pick<std::uint8_t>({0, 0, 4, 8, 0x40, 0x44, 0x50, 0x60, 0x20, 0x14});
		if (random_.chance(80))
			send.prism.cas_mode = static_cast<std::uint8_t>(random_.below(4));
		if (random_.chance(80))
			send.prism.cas_size = random_.pick<std::uint8_t>({8, 16, 32, 0, 33, 255});
		sges(&send.prism.result, 1);
	} else if (send.opcode == 7) { /* IB_UVERBS_WR_LOCAL_INV */
		send.invalidate_rkey = some(names_.keys);
	} else if (send.opcode == 8) { /* IB_UVERBS_WR_BIND_MW */
		send.mw.rkey = some(names_.keys);
		send.mw.addr = va;
		send.mw.length = random_.below(8192);
		send.mw.mr_lkey = some(names_.keys);
		send.mw.mw_rkey = some(names_.keys);
	} else if (random_.chance(50)) {
		send.ud.ah_num = some(names_.ah_numbers);
		send.ud.remote_qpn = some(names_.qpns);
		send.ud.remote_qkey = datagram_qkey;
	} else {
		send.rdma.remote_addr = va;
		send.rdma.rkey = some(names_.keys);
	}
	const std::size_t head = prism ? PRISM_ABI_PRISM_SEND_HEADER : PRISM_ABI_SEND_HEADER;
	std::memcpy(entry, &send, std::min({sizeof(send), head, ring.entry_size()}));
	if (ring.entry_size() > head)
		sges(reinterpret_cast<prism_abi_sge *>(entry + head),
			(ring.entry_size() - head) / sizeof(prism_abi_sge));
}

void Spoiler::receive_entry(const Ring &ring, std::uint8_t *entry)
{
	prism_abi_recv receive;
	noise(reinterpret_cast<std::uint8_t *>(&receive), sizeof(receive));
	receive.num_sge = random_.chance(70) ? static_cast<std::uint32_t>(random_.below(4)) : number();
	if (random_.chance(50)) {
		receive.cur_sge = number();
		receive.sge_offset = number();
		receive.length = number();
		receive.resid = number();
	}
	std::memcpy(entry, &receive, sizeof(receive));
	sges(reinterpret_cast<prism_abi_sge *>(entry + sizeof(receive)),
		(ring.entry_size() - sizeof(receive)) / sizeof(prism_abi_sge));
}

/** Spoils the indices, and now and then everything else in front of the entries */
void Spoiler::indices(const Ring &ring)
{
	prism_abi_queue *header = ring.header();
	const auto index = [&] {
		return random_.chance(70) ? static_cast<std::uint32_t>(random_.below(ring.mask + 1)) : number();
	};
	store(&header->producer_index, index());
	if (random_.chance(30))
		store(&header->consumer_index, index());
	if (random_.chance(5)) {
		store(&header->log2_entry_size, number());
		store(&header->index_mask, number());
	}
	if (random_.chance(2))
		noise(reinterpret_cast<std::uint8_t *>(header), sizeof(*header));
}

void Spoiler::spoil(const Ring &ring)
{
	if (ring.kind == Kind::free_list) {
		noise(reinterpret_cast<std::uint8_t *>(ring.mapping.start),
			std::min<std::size_t>(ring.mapping.size, 256));
		return;
	}
	for (std::uint64_t n = 1 + random_.below(6); n > 0; n--) {
		std::uint8_t *entry = ring.entry(static_cast<std::uint32_t>(random_.bits()));
		if ((random_.chance(10) && opcode_ < 0) || ring.kind == Kind::completions)
			noise(entry, ring.entry_size());
		else if (ring.kind == Kind::receives)
			receive_entry(ring, entry);
		else
			send_entry(ring, entry);
	}
	indices(ring);
}

} // namespace prism::hostile
