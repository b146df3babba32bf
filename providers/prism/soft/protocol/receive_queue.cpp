/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "receive_queue.hpp"

#include <algorithm>
#include <bit>

#include "base/assertion.hpp"

namespace prism::soft
{

ReceiveQueue::ReceiveQueue(std::uint32_t max_wr, std::uint32_t max_sge)
	: max_wr_(max_wr), max_sge_(max_sge), mask_(std::bit_ceil(max_wr) - 1), slots_(mask_ + 1),
	  sges_((std::size_t{mask_} + 1) * max_sge)
{
}

bool ReceiveQueue::post(std::uint64_t wr_id, std::span<const Sge> sges)
{
	if (size() == max_wr_)
		return false;
	PRISM_ASSERT(sges.size() <= max_sge_);
	const std::uint32_t at = tail_++ & mask_;
	slots_[at] = {wr_id, static_cast<std::uint32_t>(sges.size())};
	std::copy(sges.begin(), sges.end(), sges_.begin() + std::size_t{at} * max_sge_);
	return true;
}

ReceiveRequest ReceiveQueue::front() const
{
	PRISM_ASSERT(!empty());
	const std::uint32_t at = head_ & mask_;
	return {slots_[at].wr_id, {sges_.data() + std::size_t{at} * max_sge_, slots_[at].num_sge}};
}

} // namespace prism::soft
