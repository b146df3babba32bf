/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/transport/pair.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "gam/transport/frame.hpp"

namespace prism::gam
{

Pair::Pair(const NodeLife &peer, std::unique_ptr<rpc::Port> port, rpc::Memory frames, const PairSizes &sizes)
	: peer_(peer), sizes_(sizes), frames_(std::move(frames)), port_(std::move(port)), requests_(sizes.ring()),
	  pieces_(sizes.ring()), backlog_(map(2 * sizes.backlog))
{
}

void Pair::Unmap::operator()(std::byte *memory) const noexcept
{
	(void)munmap(memory, bytes);
}

Pair::Pages Pair::map(std::size_t bytes)
{
	void *const made =
		mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (made == MAP_FAILED)
		throw std::bad_alloc();
	return {static_cast<std::byte *>(made), Unmap{bytes}};
}

int Pair::append(const Message &message) noexcept
{
	if (ended())
		return ENOTCONN;
	if (waiting() + message.size() > sizes_.backlog)
		return ENOBUFS;
	if (backlog_begin_ > backlog_end_ / 2) { /* so that the end is never beyond twice of what waits */
		backlog_end_ = waiting();
		std::memmove(backlog_.get(), &backlog_[std::exchange(backlog_begin_, 0)], backlog_end_);
	}
	message.serialize(&backlog_[backlog_end_]);
	backlog_end_ += message.size();
	return 0;
}

/* Moves as many waiting messages as the window and a frame have room for; returns the frame's length. */
std::uint32_t Pair::fill(std::byte *frame) noexcept
{
	FrameHeader header;
	header.acknowledged = taken_;
	std::size_t length = FrameHeader::size;
	while (waiting() && data_sent_ - data_acknowledged_ < sizes_.window) {
		const std::span<const std::byte> messages{&backlog_[backlog_begin_], waiting()};
		const std::size_t size = Message::parse(messages)->size(); /* valid: append() made it */
		if (length + size > sizes_.frame_bytes)
			break;
		std::copy_n(messages.begin(), size, frame + length);
		length += size;
		backlog_begin_ += size;
		header.messages++;
	}
	header.serialize(frame);
	data_sent_ += header.messages ? 1 : 0;
	told_ = taken_;
	return static_cast<std::uint32_t>(length);
}

ibv_send_wr &Pair::build() noexcept
{
	const std::size_t place = posted_ % sizes_.ring();
	const std::size_t offset = place * sizes_.frame_bytes;
	const LocalSlice slice = frames_.slice(offset, fill(frames_.data() + offset));
	pieces_[place] = {slice.address, slice.length, slice.lkey};
	ibv_send_wr &wr = requests_[place];
	wr = {};
	wr.wr_id = send_tag | posted_;
	wr.sg_list = &pieces_[place];
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = slice.length <= port_->max_inline_data() ? unsigned{IBV_SEND_INLINE} : 0u;
	if (++posted_ % sizes_.signalled() == 0)
		wr.send_flags |= IBV_SEND_SIGNALED;
	frames_sent++;
	return wr;
}

int Pair::post() noexcept
{
	ibv_send_wr *first = nullptr;
	ibv_send_wr **end = &first;
	while (has_work()) {
		ibv_send_wr &wr = build();
		*end = &wr;
		end = &wr.next;
	}
	return first ? port_->post(first) : 0;
}

bool Pair::receive(std::uint16_t messages, std::uint32_t acknowledged) noexcept
{
	if (acknowledged - data_acknowledged_ > data_sent_ - data_acknowledged_)
		return false;
	if (!messages && acknowledged == data_acknowledged_)
		return false;
	data_acknowledged_ = acknowledged;
	if (!messages)
		return true;
	received_++;
	return received_ - told_ <= sizes_.window;
}

void Pair::end() noexcept
{
	if (!ended_.exchange(true, std::memory_order_acq_rel))
		port_->fail();
}

} // namespace prism::gam
