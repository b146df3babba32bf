/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "control.hpp"

#include <endian.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "base/printable.hpp"

namespace prism::apps
{

namespace
{

/* Longest text of statistics that a peer may announce */
constexpr std::size_t max_text = 1 << 20;

struct Wire {
	std::uint32_t kind;
	std::uint32_t reserved;
	std::uint64_t value;
};
static_assert(sizeof(Wire) == ControlMessage::size);

int send_all(int fd, const void *bytes, std::size_t length)
{
	const ssize_t sent = ::send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent < 0)
		return errno;
	/* A short message fits into the socket's buffer unless the peer has stopped reading. */
	return static_cast<std::size_t>(sent) == length ? 0 : EAGAIN;
}

} // namespace

int ControlChannel::send(const ControlMessage &message, const std::string &text) noexcept
{
	const Wire wire{htobe32(static_cast<std::uint32_t>(message.kind)), 0, htobe64(message.value)};
	if (const int error = send_all(fd_, &wire, sizeof(wire)))
		return error;
	return text.empty() ? 0 : send_all(fd_, text.data(), text.size());
}

int ControlChannel::receive(ControlMessage &message) noexcept
{
	const ssize_t got = ::recv(fd_, partial_.data() + filled_, partial_.size() - filled_, MSG_DONTWAIT);
	if (got == 0)
		return -ECONNRESET;
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	filled_ += static_cast<std::size_t>(got);
	if (filled_ < partial_.size())
		return 0;
	filled_ = 0;
	Wire wire;
	std::memcpy(&wire, partial_.data(), sizeof(wire));
	message = {static_cast<ControlKind>(be32toh(wire.kind)), be64toh(wire.value)};
	return 1;
}

bool ControlChannel::wait(int milliseconds) const noexcept
{
	pollfd waiting{fd_, POLLIN, 0};
	return ::poll(&waiting, 1, milliseconds) > 0;
}

int ControlChannel::receive_text(std::size_t length, std::string &text, int milliseconds) noexcept
{
	if (length > max_text)
		return EMSGSIZE;
	text.resize(length);
	const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
	for (std::size_t done = 0; done < length;) {
		if (!wait(static_cast<int>(time_left(deadline).count())))
			return ETIMEDOUT;
		const ssize_t got = ::recv(fd_, text.data() + done, length - done, MSG_DONTWAIT);
		if (got == 0)
			return ECONNRESET;
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return errno;
		done += got > 0 ? static_cast<std::size_t>(got) : 0;
	}
	text = printable(text, true);
	return 0;
}

} // namespace prism::apps
