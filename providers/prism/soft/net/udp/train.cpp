/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "train.hpp"

#include <netinet/udp.h>

#include "../file_descriptor.hpp"
#include "base/c_boundary.hpp"

namespace prism::soft
{

bool loopback_keeps_trains_whole()
{
	const WithoutCancellation whole;
	const FileDescriptor fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	const int one = 1; /* the bytes of a packet, too */
	const timeval patience{0, 20'000};
	SocketAddress own{};
	own.v4.sin_family = AF_INET;
	own.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	socklen_t length = sizeof(own.v4);
	std::array<char, 2> train{};
	return !::setsockopt(fd.get(), IPPROTO_UDP, UDP_GRO, &one, sizeof(one)) &&
	       !::setsockopt(fd.get(), IPPROTO_UDP, UDP_SEGMENT, &one, sizeof(one)) &&
	       !::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) &&
	       !::bind(fd.get(), &own.any, length) && !::getsockname(fd.get(), &own.any, &length) &&
	       ::sendto(fd.get(), train.data(), train.size(), MSG_NOSIGNAL, &own.any, length) ==
		       ssize_t{train.size()} &&
	       ::recv(fd.get(), train.data(), train.size(), 0) == ssize_t{train.size()};
}

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
