/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "queue_pair.hpp"

#include <algorithm>
#include <bit>

namespace prism::soft
{

SendQueue::SendQueue(std::uint32_t max_wr_, std::uint32_t max_sge_, std::uint32_t max_inline_, bool prism)
	: max_wr(max_wr_), max_sge(max_sge_), max_inline(max_inline_), mask_(std::bit_ceil(max_wr_) - 1),
	  operands_offset_(std::max<std::size_t>(max_sge_ * sizeof(Sge), (max_inline_ + 15) & ~15u)),
	  slots_(std::size_t{mask_} + 1)
{
	stride_ = operands_offset_ + (prism ? 4 * PRISM_MAX_CAS : 0);
	arena_.resize(stride_ * slots_.size());
}

std::byte *SendQueue::data(const SendRequest &wr)
{
	return arena_.data() + stride_ * static_cast<std::size_t>(&wr - slots_.data());
}

std::span<Sge> SendQueue::sges(const SendRequest &wr)
{
	return {reinterpret_cast<Sge *>(data(wr)), wr.num_sge};
}

std::span<std::byte> SendQueue::inline_bytes(const SendRequest &wr)
{
	return {data(wr), wr.length};
}

std::uint8_t *SendQueue::operands(const SendRequest &wr)
{
	return reinterpret_cast<std::uint8_t *>(data(wr) + operands_offset_);
}

std::int32_t QueuePair::packets_under_way()
{
	const SendRequest &oldest = sq.at(sq.head), &next = sq.at(sq.cursor);
	const bool answered = !sq.empty() && oldest.started;
	const bool begun = sq.cursor != sq.tail && next.started;
	return psn_diff(begun ? psn_add(next.first_psn, next.sent) : req.next_psn,
		answered ? psn_add(oldest.first_psn, oldest.acked) : req.unacked);
}

} // namespace prism::soft
