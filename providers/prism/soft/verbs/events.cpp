/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "events.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/c_boundary.hpp"

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
	/* The application closes it by number, so our object must not. */
	const int fd = fcntl(reader_.get(), F_DUPFD_CLOEXEC, 0);
	reader_ = FileDescriptor();
	return fd;
}

bool EventSocket::Record::names(std::uint64_t object) const
{
	std::uint64_t named;
	std::memcpy(&named, bytes.data(), sizeof(named));
	return named == object;
}

EventSocket::Sent EventSocket::send(const Record &record) const
{
	const WithoutCancellation whole;
	if (::send(writer_.get(), record.bytes.data(), record.size, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return Sent::yes;
	const bool full = errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM;
	return full ? Sent::full : Sent::closed;
}

void EventSocket::send_waiting()
{
	while (!waiting_.empty() && send(waiting_.front()) != Sent::full)
		waiting_.pop_front();
}

bool EventSocket::post(const void *data, std::size_t size)
try {
	Record record{{}, size};
	std::memcpy(record.bytes.data(), data, size);
	std::lock_guard guard(mutex_);
	send_waiting();
	if (waiting_.empty())
		if (const Sent sent = send(record); sent != Sent::full)
			return sent == Sent::yes;
	waiting_.push_back(record);
	return true;
} catch (const std::bad_alloc &) {
	return false;
}

void EventSocket::refill()
{
	std::lock_guard guard(mutex_);
	send_waiting();
}

/* Moves each record once around, to the end of the socket, which takes no memory. The waiting ones are younger. */
unsigned EventSocket::forget(int reader, std::uint64_t object)
{
	std::lock_guard guard(mutex_);
	const auto named = [object](const Record &record) { return record.names(object); };
	unsigned removed = 0;
	Record record{};
	int left = 0;
	for (ioctl(reader, FIONREAD, &left); left > 0; left -= static_cast<int>(record.size)) {
		const ssize_t size = recv(reader, record.bytes.data(), record.bytes.size(), MSG_DONTWAIT);
		if (size <= 0)
			break;
		record.size = static_cast<std::size_t>(size);
		if (named(record))
			removed++;
		else
			static_cast<void>(send(record));
	}
	removed += static_cast<unsigned>(std::erase_if(waiting_, named));
	send_waiting();
	return removed;
}

bool EventSocket::closed() const
{
	pollfd end{writer_.get(), 0, 0};
	return poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR));
}

} // namespace prism::soft
