/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "train.hpp"

namespace prism::soft
{

void Train::append(std::uint8_t *packet, std::uint32_t wire_size)
{
	packets++;
	bytes += wire_size;
	if (pieces > 0) {
		iovec &last = piece[pieces - 1];
		if (static_cast<std::uint8_t *>(last.iov_base) + last.iov_len == packet) {
			last.iov_len += wire_size;
			return;
		}
	}
	piece[pieces++] = {packet, wire_size};
}

TrainQueue::TrainQueue()
	/* Not cleared, so that pages without traffic are never touched. */
	: arena_(std::make_unique_for_overwrite<std::uint8_t[]>(arena_size)),
	  trains_(std::make_unique_for_overwrite<Train[]>(max_trains))
{
}

std::uint8_t *TrainQueue::reserve(std::size_t size)
{
	/* A packet may always need a new train, so one must be left. */
	if (used_trains_ == max_trains || arena_size - used_bytes_ < size + icrc_size)
		return nullptr;
	return arena_.get() + used_bytes_;
}

/* Returns the newest train of a destination: only that may grow, or packets would leave out of order. */
Train *TrainQueue::newest(const TrainKey &key)
{
	for (unsigned i = used_trains_; i-- > 0;)
		if (trains_[i].key == key)
			return &trains_[i];
	return nullptr;
}

unsigned TrainQueue::append(const TrainKey &key, std::size_t size, unsigned limit)
{
	const auto wire_size = static_cast<std::uint32_t>(size + icrc_size);
	Train *train = newest(key);
	if (!train || !train->takes(wire_size, limit)) {
		train = &trains_[used_trains_++];
		train->key = key;
		train->segment = wire_size;
		train->packets = train->bytes = train->pieces = 0;
	}
	const unsigned position = train->packets;
	train->append(arena_.get() + used_bytes_, wire_size);
	used_bytes_ += wire_size;
	return position;
}

void TrainQueue::clear()
{
	used_bytes_ = 0;
	used_trains_ = 0;
}

} // namespace prism::soft
