/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "send_ring.hpp"

#include <algorithm>
#include <cerrno>

#include <rdma/ib_user_verbs.h>

namespace prism::uverbs
{

namespace
{

static_assert(sizeof(Sge) == sizeof(prism_abi_sge) && offsetof(Sge, lkey) == offsetof(prism_abi_sge, lkey));
static_assert(offsetof(prism_abi_send, mw) + sizeof(prism_abi_send::mw) <= PRISM_ABI_SEND_HEADER);
static_assert(offsetof(prism_abi_send, atomic) + sizeof(prism_abi_send::atomic) <= PRISM_ABI_SEND_HEADER);
static_assert(sizeof(prism_abi_send) <= PRISM_ABI_PRISM_SEND_HEADER);
static_assert(PRISM_ABI_OPERANDS_SIZE == 4 * PRISM_MAX_CAS);
static_assert(PRISM_ABI_WR_ALLOCATE - PRISM_ABI_WR_READ == PRISM_ALLOCATE - PRISM_READ);

/** Returns the opcode: enum ib_uverbs_wr_opcode, whose values are those of enum ibv_wr_opcode, or enum
 * prism_abi_wr_opcode. */
std::uint32_t opcode_of(const WorkRequest &wr)
{
	switch (wr.kind) {
	case SendKind::send:
		if (wr.tail == Tail::invalidate)
			return IB_UVERBS_WR_SEND_WITH_INV;
		return wr.tail == Tail::immediate ? IB_UVERBS_WR_SEND_WITH_IMM : IB_UVERBS_WR_SEND;
	case SendKind::write:
		return wr.tail == Tail::immediate ? IB_UVERBS_WR_RDMA_WRITE_WITH_IMM : IB_UVERBS_WR_RDMA_WRITE;
	case SendKind::read:
		return IB_UVERBS_WR_RDMA_READ;
	case SendKind::atomic:
		return wr.fetch_add ? IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD : IB_UVERBS_WR_ATOMIC_CMP_AND_SWP;
	case SendKind::prism:
		return PRISM_ABI_WR_READ + wr.prism.op;
	case SendKind::bind_window:
		return IB_UVERBS_WR_BIND_MW;
	case SendKind::local_invalidate:
		return IB_UVERBS_WR_LOCAL_INV;
	case SendKind::atomic_write:
		return IBV_WR_ATOMIC_WRITE;
	}
	return IB_UVERBS_WR_SEND;
}

std::uint32_t flags_of(const WorkRequest &wr)
{
	std::uint32_t flags = 0;
	const auto set = [&flags](bool wanted, ibv_send_flags flag) { flags |= wanted ? std::uint32_t{flag} : 0u; };
	set(wr.fence, IBV_SEND_FENCE);
	set(wr.signaled, IBV_SEND_SIGNALED);
	set(wr.solicited, IBV_SEND_SOLICITED);
	set(wr.inline_data, IBV_SEND_INLINE);
	return flags;
}

/** Copies member by member: the operands are in the entry already. */
void encode_prism(const WorkRequest &wr, prism_abi_prism_wr &to)
{
	const prism_request &from = wr.prism;
	to.va = from.va;
	to.aux_va = from.aux_va;
	to.rkey = from.rkey;
	to.aux_rkey = from.aux_rkey;
	to.aux_length = moves_aux(from) ? from.length : 0;
	to.free_list = from.free_list;
	to.tag = from.tag;
	to.flags = from.flags;
	to.cas_mode = from.cas_mode;
	to.cas_flags = from.cas_flags;
	to.cas_size = from.cas_size;
	to.result = {wr.result.addr, wr.result.length, wr.result.lkey};
}

void encode_parameters(const SendRequest &wr, prism_abi_send &to)
{
	const WindowBinding &window = wr.binding;
	switch (wr.kind) {
	case SendKind::send:
		to.ud = {wr.remote_qpn, wr.remote_qkey, wr.ah, 0};
		break;
	case SendKind::write:
	case SendKind::read:
	case SendKind::atomic_write:
		to.rdma = {wr.remote_addr, wr.rkey, 0};
		break;
	case SendKind::atomic:
		to.atomic = {wr.remote_addr, wr.compare_add, wr.swap, wr.rkey, 0};
		break;
	case SendKind::bind_window:
		to.mw = {window.va, window.length, window.region_key, window.key, window.new_key, window.access};
		break;
	case SendKind::prism:
		encode_prism(wr, to.prism);
		break;
	case SendKind::local_invalidate:
		break;
	}
}

} // namespace

int SendRing::map(int cmd_fd, const prism_abi_mmap &where, const ibv_qp_cap &cap, bool prism)
{
	header_ = prism ? PRISM_ABI_PRISM_SEND_HEADER : PRISM_ABI_SEND_HEADER;
	max_sge = cap.max_send_sge;
	max_inline = cap.max_inline_data;
	/* An atomic write has its word inline even if the queue has no other inline data. */
	const std::size_t data =
		std::max({std::size_t{max_sge} * sizeof(Sge), std::size_t{max_inline}, sizeof(std::uint64_t)});
	if (const int error = queue_.map(cmd_fd, where, header_ + data))
		return error;
	slots_.resize(std::size_t{queue_.mask()} + 1);
	tail = queue_.own_producer();
	return 0;
}

std::byte *SendRing::entry(const SendRequest &wr) const
{
	return queue_.entry(static_cast<std::uint32_t>(&wr - slots_.data()));
}

std::span<Sge> SendRing::sges(const SendRequest &wr)
{
	return {reinterpret_cast<Sge *>(entry(wr) + header_), wr.num_sge};
}

std::span<std::byte> SendRing::inline_bytes(const SendRequest &wr)
{
	return {entry(wr) + header_, wr.length};
}

std::uint8_t *SendRing::operands(const SendRequest &wr)
{
	return reinterpret_cast<prism_abi_send *>(entry(wr))->prism.operands;
}

std::uint32_t SendRing::peer_flags() const
{
	return (resumes ? PRISM_ABI_SEND_RESUME : 0u) | (bundles ? PRISM_ABI_SEND_BUNDLE : 0u);
}

void SendRing::encode(const SendRequest &wr) const
{
	auto &to = *reinterpret_cast<prism_abi_send *>(entry(wr));
	to.wr_id = wr.wr_id;
	to.opcode = opcode_of(wr);
	to.flags = flags_of(wr) | (wr.kind == SendKind::prism ? peer_flags() : 0);
	to.num_sge = wr.inline_data ? 0 : wr.num_sge;
	to.length = wr.inline_data ? wr.length : 0;
	to.imm_data = wr.immediate; /* or invalidate_rkey: a request has one of the two, in one member */
	to.reserved = 0;
	encode_parameters(wr, to);
}

void SendRing::publish(std::uint32_t begin)
{
	for (std::uint32_t i = begin; i != tail; i++)
		encode(at(i));
	queue_.set_producer(tail);
}

} // namespace prism::uverbs
