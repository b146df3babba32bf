/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "events.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace prism::soft
{

EventSocket::EventSocket()
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return;
	reader_ = FileDescriptor(ends[0]);
	writer_ = FileDescriptor(ends[1]);
}

int EventSocket::release_reader()
{
	/* Whoever closes it does so by number: ours must not. */
	const int fd = fcntl(reader_.get(), F_DUPFD_CLOEXEC, 0);
	reader_ = FileDescriptor();
	return fd;
}

bool EventSocket::post(const void *record, std::size_t size)
{
	return send(writer_.get(), record, size, MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

unsigned EventSocket::forget(int reader, std::uint64_t object)
{
	std::lock_guard guard(mutex_);
	std::vector<std::pair<std::array<std::byte, 16>, ssize_t>> keep;
	std::array<std::byte, 16> record;
	unsigned removed = 0;
	ssize_t size;
	while ((size = recv(reader, record.data(), record.size(), MSG_DONTWAIT)) > 0) {
		std::uint64_t named;
		std::memcpy(&named, record.data(), sizeof(named));
		if (named == object)
			removed++;
		else
			keep.emplace_back(record, size);
	}
	for (const auto &[kept, length] : keep)
		post(kept.data(), static_cast<std::size_t>(length));
	return removed;
}

bool EventSocket::closed() const
{
	pollfd end{writer_.get(), 0, 0};
	return poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR));
}

} // namespace prism::soft
