/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "events.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <new>

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

bool EventSocket::Record::names(std::uint64_t object) const
{
	std::uint64_t named;
	std::memcpy(&named, bytes.data(), sizeof(named));
	return named == object;
}

EventSocket::Sent EventSocket::send(const Record &record) const
{
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

unsigned EventSocket::forget(int reader, std::uint64_t object)
{
	std::lock_guard guard(mutex_);
	/* Those in the socket are older than those that wait. */
	std::deque<Record> all;
	Record record;
	ssize_t size;
	while ((size = recv(reader, record.bytes.data(), record.bytes.size(), MSG_DONTWAIT)) > 0) {
		record.size = static_cast<std::size_t>(size);
		all.push_back(record);
	}
	all.insert(all.end(), waiting_.begin(), waiting_.end());
	waiting_.swap(all);
	const auto removed = std::erase_if(waiting_, [object](const Record &each) { return each.names(object); });
	send_waiting();
	return static_cast<unsigned>(removed);
}

bool EventSocket::closed() const
{
	pollfd end{writer_.get(), 0, 0};
	return poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR));
}

} // namespace prism::soft
