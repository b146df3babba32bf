/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "introduction.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <optional>

#include "../slot.hpp"

namespace prism::soft
{

namespace
{

/* Most connections that may wait to be accepted. */
constexpr int backlog = 128;

struct Name {
	sockaddr_un address{};
	socklen_t size = 0;

	[[nodiscard]] const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&address); }
};

/* Makes an abstract name, beside the slot's own (slot.hpp): nothing stays in the file system, and each network
 * namespace has its own.
 */
Name name_of(unsigned slot)
{
	Name name;
	name.address.sun_family = AF_UNIX;
	const int length = std::snprintf(
		name.address.sun_path + 1, sizeof(name.address.sun_path) - 1, "prism-rdma/%u/rings", slot);
	name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
	return name;
}

FileDescriptor open_socket()
{
	return FileDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/* Linux's default for users without a number in a user namespace. */
constexpr uid_t overflow_user = 65534;

/* Returns true if the user namespace has numbers for all users. */
bool has_numbers_for_all_users()
{
	std::ifstream map("/proc/self/uid_map");
	std::uint64_t first = 0, outside = 0, count = 0;
	return map >> first >> outside >> count && first == 0 && count == std::numeric_limits<std::uint32_t>::max();
}

/* Returns the credentials of the other end, as the kernel recorded them when it listened or connected. */
std::optional<ucred> other_end(int connection)
{
	ucred peer{};
	socklen_t size = sizeof(peer);
	if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return {};
	return peer;
}

bool is_of_our_user(int connection)
{
	const std::optional<ucred> peer = other_end(connection);
	if (!peer || peer->uid != ::geteuid())
		return false;
	return peer->uid != overflow_user || has_numbers_for_all_users();
}

union Control {
	cmsghdr header;
	char space[CMSG_SPACE(max_hello_files * sizeof(int))];
};

/* Takes the files that came; those that are not taken are closed. */
std::size_t take_files(msghdr &message, std::array<FileDescriptor, max_hello_files> &files)
{
	std::size_t taken = 0;
	for (cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (std::size_t i = 0; i < count && taken < files.size(); i++) {
			int fd;
			std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
			files[taken++] = FileDescriptor(fd);
		}
	}
	return taken;
}

bool is_sound(const Hello &hello)
{
	return hello.magic == Hello::expected_magic && hello.version == Hello::current_version &&
	       hello.slot >= first_slot && hello.slot < slot_limit && hello.address_count > 0 &&
	       hello.address_count <= max_local_addresses;
}

} // namespace

FileDescriptor listen_for_introductions(unsigned slot)
{
	FileDescriptor made = open_socket();
	const Name name = name_of(slot);
	if (!made || ::bind(made.get(), name.get(), name.size) < 0 || ::listen(made.get(), backlog) < 0)
		return {};
	return made;
}

FileDescriptor connect_to_slot(unsigned slot)
{
	FileDescriptor made = open_socket();
	const Name name = name_of(slot);
	if (!made || ::connect(made.get(), name.get(), name.size) < 0)
		return {};
	if (is_of_our_user(made.get()))
		return made;
	errno = EACCES;
	return {};
}

FileDescriptor accept_introduction(int listener)
{
	FileDescriptor made(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
	if (!made || is_of_our_user(made.get()))
		return made;
	made = FileDescriptor();
	errno = EACCES;
	return {};
}

bool is_of_slot(int connection, unsigned slot)
{
	const FileDescriptor owner = connect_to_slot(slot);
	const std::optional<ucred> wanted = owner ? other_end(owner.get()) : std::nullopt;
	const std::optional<ucred> found = other_end(connection);
	return wanted && found && wanted->pid == found->pid;
}

bool send_hello(int connection, unsigned slot, std::span<const Address> addresses, std::span<const int> files)
{
	Hello hello{.slot = slot,
		.address_count = static_cast<std::uint32_t>(std::min(addresses.size(), max_local_addresses))};
	std::ranges::copy(addresses.first(hello.address_count), hello.addresses.begin());
	iovec part{&hello, sizeof(hello)};
	Control control{};
	msghdr message{};
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = &control;
	message.msg_controllen = CMSG_SPACE(files.size_bytes());
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(files.size_bytes());
	std::memcpy(CMSG_DATA(&control.header), files.data(), files.size_bytes());
	return ::sendmsg(connection, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(hello));
}

Introduced receive_hello(int connection, std::size_t files)
{
	Introduced result;
	Hello hello;
	iovec part{&hello, sizeof(hello)};
	Control control{};
	msghdr message{};
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = &control;
	message.msg_controllen = sizeof(control);
	const ssize_t size = ::recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
		result.state = Introduced::State::waiting;
		return result;
	}
	if (size == 0)
		result.state = Introduced::State::left;
	if (size <= 0)
		return result;
	const std::size_t taken = take_files(message, result.files);
	const bool whole =
		size == static_cast<ssize_t>(sizeof(hello)) && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
	if (!whole || taken != files || !is_sound(hello))
		return result;
	try {
		result.addresses.assign(hello.addresses.begin(), hello.addresses.begin() + hello.address_count);
	} catch (const std::bad_alloc &) {
		return result;
	}
	result.state = Introduced::State::done;
	result.slot = hello.slot;
	return result;
}

} // namespace prism::soft
