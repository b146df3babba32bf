/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "local.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "net/credentials.hpp"
#include "net/socket_address.hpp"

namespace prism::cm
{

namespace
{

struct UnixName {
	sockaddr_un address{};
	socklen_t size = 0;

	/* An abstract name: the first byte is 0, and the length says where the name ends. */
	explicit UnixName(const std::string &name)
	{
		address.sun_family = AF_UNIX;
		const std::size_t length = std::min(name.size(), sizeof(address.sun_path) - 1);
		std::memcpy(address.sun_path + 1, name.data(), length);
		size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
	}
	[[nodiscard]] const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&address); }
};

FileDescriptor make_socket()
{
	return FileDescriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

std::string service_prefix(PortSpace space, std::uint16_t port)
{
	std::array<char, 64> text;
	std::snprintf(text.data(), text.size(), "prism-cm/%04x/%u/", static_cast<unsigned>(space), unsigned{port});
	return text.data();
}

constexpr std::string_view process_prefix = "prism-cm/process/";

/** Returns the process whose name this is; 0 if it is no process's. */
std::uint16_t process_of_name(const sockaddr_un &address, socklen_t size)
{
	constexpr std::size_t first = offsetof(sockaddr_un, sun_path) + 1;
	if (size <= first || address.sun_path[0] != 0)
		return 0;
	std::string_view name(address.sun_path + 1, size - first);
	if (!name.starts_with(process_prefix))
		return 0;
	name.remove_prefix(process_prefix.size());
	std::uint16_t process = 0;
	std::from_chars(name.data(), name.data() + name.size(), process);
	/* Refuse other spellings of the number: no process has such a name. */
	return name == std::to_string(process) ? process : 0;
}

/** Returns 0 if the kernel does not say. */
pid_t pid_of(msghdr &message)
{
	const std::optional<ucred> sender = soft::credentials_of(message);
	return sender ? sender->pid : 0;
}

/** Returns the service that the client of a request asks for. */
std::optional<Path> wanted_service(const Message &message)
{
	Path path;
	std::optional<IpHeader> ip;
	if (const auto *req = std::get_if<Req>(&message)) {
		path.service_id = req->service_id;
		ip = decode_ip_header(std::span(req->private_data).first<IpHeader::size>());
	} else if (const auto *request = std::get_if<SidrReq>(&message)) {
		path.service_id = request->service_id;
		ip = decode_ip_header(std::span(request->private_data).first<IpHeader::size>());
	}
	if (!ip)
		return {};
	path.service_address = ip->destination;
	return path;
}

} // namespace

std::string service_name(PortSpace space, std::uint16_t port, const Address &address)
{
	return service_prefix(space, port) + soft::to_string(address);
}

std::string any_service_name(PortSpace space, std::uint16_t port, bool ipv4)
{
	return service_prefix(space, port) + (ipv4 ? "*4" : "*6");
}

std::string process_name(std::uint16_t process)
{
	return std::string(process_prefix) + std::to_string(process);
}

FileDescriptor claim_name(const std::string &name)
{
	FileDescriptor claimed = make_socket();
	const UnixName address(name);
	const int on = 1;
	/* Before bind: a datagram that comes while this is off carries no credentials. */
	if (!claimed || ::setsockopt(claimed.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return {};
	if (::bind(claimed.get(), address.get(), address.size) < 0)
		return {};
	return claimed;
}

int name_in_use(const std::string &name)
{
	const FileDescriptor asking = make_socket();
	const UnixName address(name);
	if (asking && ::connect(asking.get(), address.get(), address.size) == 0)
		return EADDRINUSE;
	if (asking && errno == EPERM) /* the socket of that name accepts datagrams from one other socket alone */
		return EADDRINUSE;
	return errno == ECONNREFUSED ? 0 : errno;
}

Delivery send_to(int socket, const std::string &name, const Envelope &envelope)
{
	const UnixName address(name);
	const ssize_t sent =
		::sendto(socket, &envelope, sizeof(envelope), MSG_DONTWAIT | MSG_NOSIGNAL, address.get(), address.size);
	if (sent >= 0)
		return Delivery::done;
	return errno == EAGAIN || errno == EWOULDBLOCK ? Delivery::busy : Delivery::nobody;
}

std::vector<std::string> service_names(const Path &path)
{
	const std::optional<PortSpace> space = port_space_of(path.service_id);
	if (!space)
		return {};
	const std::uint16_t port = port_of(path.service_id);
	const Address &address = path.service_address;
	return {service_name(*space, port, address), any_service_name(*space, port, address.is_ipv4())};
}

bool hand_on(const Send &send, const Address &from, const Address &to, const Mad &mad)
{
	const std::optional<Datagram> datagram = decode(mad);
	if (!datagram)
		return false;
	Envelope envelope;
	envelope.magic = Envelope::expected_magic;
	envelope.from_network = 1;
	envelope.from = from;
	envelope.to = to;
	envelope.mad = mad;
	if (is_request(datagram->message)) {
		const std::optional<Path> path = wanted_service(datagram->message);
		const auto names = path ? service_names(*path) : std::vector<std::string>{};
		return std::ranges::any_of(names, [&](const std::string &name) { return send(name, envelope); });
	}
	const auto owner = static_cast<std::uint16_t>(destination(datagram->message) >> process_shift);
	return owner != 0 && send(process_name(owner), envelope);
}

std::optional<Received> receive_from(int socket, int &budget)
{
	Received received;
	Envelope &envelope = received.envelope;
	while (budget-- > 0) {
		/* No room for descriptors: those that somebody attaches are closed. */
		alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control;
		iovec part{&envelope, sizeof(envelope)};
		sockaddr_un from{};
		msghdr message{};
		message.msg_name = &from;
		message.msg_namelen = sizeof(from);
		message.msg_iov = &part;
		message.msg_iovlen = 1;
		message.msg_control = control.data();
		message.msg_controllen = control.size();
		/* MSG_TRUNC: returns the datagram's own size. */
		const ssize_t size = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
		if (size < 0)
			return {};
		if (size != sizeof(envelope) || envelope.magic != Envelope::expected_magic)
			continue;
		if (envelope.from_network && !soft::sent_by_same_user(message))
			continue;
		received.sender = {process_of_name(from, message.msg_namelen), pid_of(message)};
		return received;
	}
	return {};
}

bool may_live(pid_t pid)
{
	const FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
	if (!process)
		return errno != ESRCH;
	pollfd ended{process.get(), POLLIN, 0};
	return ::poll(&ended, 1, 0) == 0;
}

} // namespace prism::cm
