/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/client/send_queue.hpp"

#include <cstring>
#include <utility>

namespace prism::rpc
{

prismdv_send_wr &SendQueue::begin(std::uint32_t index, LocalSlice piece) noexcept
{
	Lane &lane = lanes_[index];
	lane.sequence = not_posted;
	lane.piece = {piece.address, piece.length, piece.lkey};
	lane.request = {};
	lane.request.wr.sg_list = &lane.piece;
	lane.request.wr.num_sge = piece.length ? 1 : 0;
	begun_[begun_count_++] = index;
	return lane.request;
}

/*
 * Sorts requests by opcode and size, because packets of equal requests leave as one train. Lanes may be posted in any
 * order.
 */
void SendQueue::group(std::size_t count) noexcept
{
	const auto kind = [this](std::uint32_t index) {
		const Lane &lane = lanes_[index];
		std::uint32_t opcode = 0; /* PRISM's opcodes are no values of ibv_wr_opcode */
		std::memcpy(&opcode, &lane.request.wr.opcode, sizeof(opcode));
		return std::pair(opcode, lane.piece.length);
	};
	std::sort(begun_.begin(), begun_.begin() + static_cast<std::ptrdiff_t>(count),
		[&](std::uint32_t one, std::uint32_t other) { return kind(one) < kind(other); });
}

/* Posts with one doorbell. The last request is signalled: its completion covers all before it. */
int SendQueue::flush(Port &port) noexcept
{
	const std::size_t count = std::min<std::uint64_t>(begun_count_, size_ - (posted_ - completed_));
	if (count == 0)
		return 0;
	group(count);
	for (std::size_t i = 0; i < count; i++) {
		Lane &lane = lanes_[begun_[i]];
		lane.sequence = posted_ + i;
		lane_of_post_[lane.sequence % size_] = begun_[i];
		lane.request.wr.wr_id = lane.sequence;
		lane.request.wr.next = i + 1 < count ? &lanes_[begun_[i + 1]].request.wr : nullptr;
	}
	lanes_[begun_[count - 1]].request.wr.send_flags |= IBV_SEND_SIGNALED;
	ibv_send_wr *first = &lanes_[begun_[0]].request.wr;
	posted_ += count;
	std::copy(begun_.begin() + static_cast<std::ptrdiff_t>(count),
		begun_.begin() + static_cast<std::ptrdiff_t>(begun_count_), begun_.begin());
	begun_count_ -= count;
	return port.post(first);
}

} // namespace prism::rpc
