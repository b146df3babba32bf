/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Packets that wait for room in a ring, in order. Uses no memory while nothing waits. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "ring.hpp"

namespace prism::soft
{

class Backlog
{
public:
	[[nodiscard]] bool empty() const { return first_ == end_; }
	[[nodiscard]] std::size_t size() const { return end_ - first_; }

	/** Returns room for one packet after the others, until commit(). May throw std::bad_alloc. */
	std::uint8_t *begin(const RecordHeader &header)
	{
		next_ = end_ + sizeof(header) + header.length;
		bytes_.resize(next_);
		std::memcpy(&bytes_[end_], &header, sizeof(header));
		return &bytes_[end_ + sizeof(header)];
	}

	void commit() { end_ = next_; }

	/** Moves as many packets to @p ring as it has room for. */
	void move_to(RingProducer &ring)
	{
		while (!empty()) {
			RecordHeader header;
			std::memcpy(&header, &bytes_[first_], sizeof(header));
			std::uint8_t *const room = ring.begin(header);
			if (!room)
				return move_up();
			std::memcpy(room, &bytes_[first_ + sizeof(header)], header.length);
			ring.commit();
			first_ += sizeof(header) + header.length;
		}
		first_ = end_ = 0;
		if (bytes_.capacity() > kept_bytes)
			bytes_ = {};
	}

private:
	/* Makes room: while a peer is always a bit behind, the backlog never empties, so sent packets must be
	 * removed. */
	void move_up()
	{
		if (first_ < size())
			return;
		std::memmove(bytes_.data(), &bytes_[first_], size());
		end_ -= first_;
		first_ = 0;
	}

	static constexpr std::size_t kept_bytes = 64 << 10;

	std::vector<std::uint8_t> bytes_;
	std::size_t first_ = 0; /* begin of the waiting packets */
	std::size_t end_ = 0;   /* end of them */
	std::size_t next_ = 0;  /* end of the packet last begun */
};

} // namespace prism::soft
