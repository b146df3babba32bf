/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UdpPort: opening, sleeping, counters. udp_send.cpp and udp_receive.cpp handle packets. */
#include "udp_port.hpp"

#include <linux/sock_diag.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "udp_port_private.hpp"

namespace prism::soft
{

namespace
{

constexpr int buffer_bytes = 4 << 20;

/* If this many loopback addresses in a row are taken, the cause is not neighbours but a wildcard socket. */
constexpr int max_taken_addresses = 64;

constexpr Time open_patience = 20'000'000;
/** Most datagrams that a closing port hands on, and how long it waits for room in all. */
constexpr int parting_trains = 4096;
constexpr Time parting_patience = 10'000'000;
/** Most management datagrams that are kept while a port opens: 1 MB. */
constexpr std::size_t early_limit = 4096;

/* Returns the slot at which a process begins its search: spread, so that hundreds of processes do not collide. */
unsigned first_guess()
{
	static std::atomic<std::uint32_t> contexts{0};
	std::uint32_t hash = static_cast<std::uint32_t>(::getpid()) * 0x9e3779b1U + contexts++ * 0x85ebca6bU;
	hash ^= hash >> 15;
	return hash % (slot_limit - first_slot);
}

void set_option(int fd, int level, int name, int value)
{
	(void)::setsockopt(fd, level, name, &value, sizeof(value));
}

/* Enlarges a socket buffer: beyond the administrator's limit if privileged, else up to it. */
void enlarge_buffer(int fd, int privileged, int plain)
{
	const int size = buffer_bytes;
	if (::setsockopt(fd, SOL_SOCKET, privileged, &size, sizeof(size)) < 0)
		set_option(fd, SOL_SOCKET, plain, size);
}

void configure_receiver(int fd, bool ipv4)
{
	if (!ipv4) {
		set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
		/* RoCEv2 peers, including rxe, send a UDP checksum of 0: the ICRC covers more (annex A17). */
		set_option(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
	}
	set_option(fd, IPPROTO_UDP, UDP_GRO, 1);
	enlarge_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF);
}

/* Configures a sending socket: with DF, never a fragment. Over IPv4 this also makes the identification count from 0. */
void configure_sender(int fd, bool ipv4, unsigned interface)
{
	if (ipv4) {
		const ip_mreqn group_interface{{}, {}, static_cast<int>(interface)};
		set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
		(void)::setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &group_interface, sizeof(group_interface));
	} else {
		set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
		set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, static_cast<int>(interface));
		set_option(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO);
	}
	refuse_datagrams(fd);
	set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1); /* the slot's guard has the port on all addresses */
	enlarge_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF);
}

bool knows_segments(int fd)
{
	int value = 0;
	socklen_t size = sizeof(value);
	return ::getsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &value, &size) == 0;
}

/* Formats a socket's local address as in proc(5): words in the byte order of the host. */
std::string name_in_proc(const Address &address)
{
	std::array<std::uint32_t, 4> words;
	std::memcpy(words.data(), address.gid.data(), sizeof(words));
	std::array<char, 48> name;
	if (address.is_ipv4())
		std::snprintf(name.data(), name.size(), "%08X:%04X", words[3], roce_port);
	else
		std::snprintf(name.data(), name.size(), "%08X%08X%08X%08X:%04X", words[0], words[1], words[2], words[3],
			roce_port);
	return name.data();
}

/* Returns the user whose socket has the port of exactly this address; nothing if all are bound to other addresses,
 * or to any. */
std::optional<uid_t> user_of_port(const Address &address)
{
	std::ifstream file(address.is_ipv4() ? "/proc/thread-self/net/udp" : "/proc/thread-self/net/udp6");
	const std::string wanted = name_in_proc(address);
	for (std::string line; std::getline(file, line);) {
		std::istringstream fields(line);
		std::string number, local, skipped;
		uid_t user;
		fields >> number >> local;
		for (int i = 0; i < 5; i++) /* remote address, state, queues, timer, retransmissions */
			fields >> skipped;
		if (local == wanted && fields >> user)
			return user;
	}
	return {};
}

std::string bind_error(const InterfaceInfo &info, const Address &address, int why)
{
	const std::string port = "UDP port 4791 of " + to_string(address),
			  cause = std::string(" (") + std::strerror(why) + ")";
	if (why == EACCES)
		return info.name + ": cannot bind " + port + cause +
		       ": ports below net.ipv4.ip_unprivileged_port_start need CAP_NET_BIND_SERVICE";
	if (why != EADDRINUSE)
		return info.name + ": cannot bind " + port + cause;
	const std::optional<uid_t> user = user_of_port(address);
	if (user && *user != ::geteuid())
		return info.name + ": " + port + " belongs to user " + std::to_string(*user) + cause +
		       ": run as that user (containers of a pod: with the same runAsUser), or use prism_lo within this "
		       "host";
	return info.name + ": " + port + " is in use, perhaps by other RoCE software" + cause +
	       ": ss -lunp lists by whom";
}

class Nobody final : public PacketHandler
{
	void receive(const Route &, std::span<const std::uint8_t>, Time) override {}
};

bool find_interface(const std::string &name, InterfaceInfo &info, std::string &error)
{
	int why = 0;
	for (InterfaceInfo &candidate : list_interfaces(&why)) {
		if (candidate.name != name)
			continue;
		info = std::move(candidate);
		return true;
	}
	error = name + (why ? std::string(": cannot read the interfaces' addresses (") + std::strerror(why) + ")"
			    : ": no such interface, or it is down or has no IP address");
	errno = why;
	return false;
}

} // namespace

std::uint64_t kernel_drops(int fd)
{
	std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
	socklen_t size = sizeof(memory);
	if (::getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory.data(), &size) < 0)
		return 0;
	return memory[SK_MEMINFO_DROPS];
}

UdpPort::UdpPort(Slot slot, InterfaceInfo interface, PortCounters *shared, Role role)
	: claim_(std::move(slot)), info_(std::move(interface)), count_(shared ? *shared : own_count_), role_(role),
	  sending_(std::make_unique<SendBuffers>()), receiving_(std::make_unique<ReceiveBuffers>()),
	  seeds_(std::make_unique<CachedSeed[]>(seed_cache_size))
{
}

/* Keeps the management datagrams that come before there is a handler: they may be for any process of the host. */
class UdpPort::EarlyDatagrams final : public PacketHandler
{
public:
	void receive(const Route &route, std::span<const std::uint8_t> packet, Time) override
	{
		if (qpn_of(packet) == gsi_qpn && list.size() < early_limit)
			list.push_back({route, {packet.begin(), packet.end()}});
	}

	std::vector<EarlyDatagram> list;
};

/* Hands on the packets that came here for others: they would be lost with the sockets. No more come for all. */
UdpPort::~UdpPort()
try {
	Nobody nobody;
	if (!manager_)
		seek_manager(monotonic_ns() + parting_patience);
	closing_until_ = monotonic_ns() + parting_patience;
	for (const Socket &socket : own_sockets())
		if (socket.shared)
			steer(socket);
	if (shares_addresses())
		for (int read = 1, all = 0; read && all < parting_trains; all += read)
			read = receive_all(nobody, monotonic_ns(), parting_trains - all);
} catch (const std::bad_alloc &) {
	return; /* the packets are lost */
}

std::unique_ptr<UdpPort> UdpPort::open(
	const std::string &interface, std::string &error, PortCounters *shared, bool takes_management)
{
	InterfaceInfo info;
	if (!find_interface(interface, info, error))
		return nullptr;
	return open_on(info, error, shared, takes_management ? Role::manager : Role::worker);
}

std::unique_ptr<UdpPort> UdpPort::open_beside(const InterfaceInfo &first, std::uint64_t network, PortCounters *shared)
{
	std::string ignored;
	std::unique_ptr<UdpPort> port = open_on(first, ignored, shared, Role::beside_another);
	const auto agrees = [&first](const Address &ours, const Address &its) {
		return ours == its || (first.is_loopback && is_ipv4_loopback(ours) && is_ipv4_loopback(its));
	};
	if (port && (port->network() != network || !std::ranges::equal(port->addresses(), first.addresses, agrees)))
		return nullptr;
	return port;
}

std::unique_ptr<UdpPort> UdpPort::open_on(
	const InterfaceInfo &interface, std::string &error, PortCounters *shared, Role role)
{
	const unsigned lowest_slot = role == Role::beside_another ? slot_limit / 2 : first_slot;
	const unsigned slots = slot_limit - lowest_slot;
	error = interface.name + ": all " + std::to_string(slots) + " contexts of this host are in use";
	const unsigned guess = first_guess();
	int taken = 0;
	for (unsigned i = 0; i < slots && taken < max_taken_addresses; i++) {
		auto slot = Slot::claim(lowest_slot + (guess + i) % slots);
		if (!slot && errno == EADDRINUSE)
			continue;
		if (!slot) {
			error = interface.name + ": cannot claim a context number (" + std::strerror(errno) + ")";
			return nullptr;
		}
		std::unique_ptr<UdpPort> port(new UdpPort(std::move(*slot), interface, shared, role));
		const Bound bound = port->bind_all(error);
		if (bound == Bound::failed)
			return nullptr;
		if (bound == Bound::yes) {
			port->learn_steering();
			error.clear();
			return port;
		}
		taken++;
	}
	return nullptr;
}

UdpPort::Bound UdpPort::bind_all(std::string &error)
{
	if (info_.is_loopback) {
		const Bound bound = bind_loopback(error);
		if (bound != Bound::yes)
			return bound;
	}
	for (const Address &address : info_.addresses) {
		if (sockets_.size() == max_own_sockets)
			break;
		if (info_.is_loopback && is_ipv4_loopback(address))
			continue;
		const Bound bound = bind_one(address, true, error);
		/* Another user may have ::1. A loopback context works without it, as it has an address of its own. */
		if (bound != Bound::yes && !(info_.is_loopback && !sockets_.empty()))
			return Bound::failed;
	}
	if (sockets_.empty()) {
		error = info_.name +
			": none of its addresses can be bound; a new IPv6 address is tentative for a while";
		return Bound::failed;
	}
	return Bound::yes;
}

UdpPort::Bound UdpPort::bind_loopback(std::string &error)
{
	if (std::none_of(info_.addresses.begin(), info_.addresses.end(), is_ipv4_loopback))
		return Bound::yes;
	return bind_one(loopback_address(claim_.number()), false, error);
}

UdpPort::Bound UdpPort::bind_one(const Address &address, bool shared, std::string &error)
{
	Socket made{.local = address, .fd = {}, .out = {}, .shared = shared};
	made.table.set(claim_.number(), 0);
	/*
	 * The first socket of a group brings the program with it, so that no group is ever without one. A socket with a
	 * program cannot join a group, so later ones try again without; the group's program stays in force.
	 */
	int why = bind_socket(made, true);
	if (why == EADDRINUSE && shared)
		why = bind_socket(made, false);
	if (why == 0)
		why = bind_sender(made);
	if (why == 0) {
		insert(std::move(made));
		return Bound::yes;
	}
	/* An IPv6 address still in duplicate detection, or one just removed: not an error of the interface. */
	if (why == EADDRNOTAVAIL && shared)
		return Bound::yes;
	error = bind_error(info_, address, why);
	return why == EADDRINUSE ? Bound::taken : Bound::failed;
}

/* Inserts a socket; those of groups stay behind the others. */
void UdpPort::insert(Socket made)
{
	std::lock_guard guard(listing_);
	sockets_.insert(sockets_.begin() + static_cast<std::ptrdiff_t>(own_), std::move(made));
	own_++;
	hot_ = 0;
	check_all_ = true;
}

int UdpPort::add(const Address &address)
{
	std::string ignored;
	const std::size_t before = own_;
	/* On loopback each context has an IPv4 address of its own. */
	if (own_ == max_own_sockets || (info_.is_loopback && is_ipv4_loopback(address)))
		return -1;
	if (bind_one(address, true, ignored) != Bound::yes || own_ == before)
		return -1;
	begin_round(static_cast<unsigned>(before), monotonic_ns(), open_patience);
	return static_cast<int>(before);
}

/* Returns 0 or errno. */
int UdpPort::bind_socket(Socket &made, bool first) const
{
	const SocketAddress name = to_socket_address(made.local, roce_port, info_.index);
	made.fd = FileDescriptor(::socket(name.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	if (!made.fd)
		return errno;
	configure_receiver(made.fd.get(), made.local.is_ipv4());
	if (made.joined > 0) /* all members of a group on this host have its address */
		set_option(made.fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
	if (made.shared) {
		set_option(made.fd.get(), SOL_SOCKET, SO_REUSEPORT, 1);
		if (first)
			made.table.attach(made.fd.get(), claim_.number());
	}
	return bind_to(made.fd.get(), name);
}

/* Returns 0 or errno. */
int UdpPort::bind_sender(Socket &made) const
{
	const SocketAddress name = to_socket_address(made.local, source_port_of(slot()), info_.index);
	made.out = FileDescriptor(::socket(name.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	if (!made.out)
		return errno;
	configure_sender(made.out.get(), made.local.is_ipv4(), info_.index);
	made.segments = knows_segments(made.out.get());
	return bind_to(made.out.get(), name);
}

/* Returns 0 or errno. */
int UdpPort::bind_to(int fd, const SocketAddress &name) const
{
	if (role_ == Role::beside_another && name.any.sa_family == AF_INET)
		set_option(fd, IPPROTO_IP, IP_FREEBIND, 1);
	else if (role_ == Role::beside_another)
		set_option(fd, IPPROTO_IPV6, IPV6_FREEBIND, 1);
	return ::bind(fd, &name.any, name.size()) < 0 ? errno : 0;
}

std::uint64_t UdpPort::network() const
{
	std::uint64_t cookie = 0;
	socklen_t size = sizeof(cookie);
	(void)::getsockopt(own_sockets().front().out.get(), SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size);
	return cookie;
}

std::vector<Address> UdpPort::addresses() const
{
	return addresses_of(own_sockets());
}

std::vector<Address> UdpPort::addresses_of(std::span<const Socket> sockets)
{
	std::vector<Address> list;
	for (const Socket &socket : sockets)
		list.push_back(socket.local);
	return list;
}

InterfaceInfo UdpPort::bound() const
{
	InterfaceInfo info = info_;
	info.addresses = addresses();
	return info;
}

std::vector<std::uint64_t> UdpPort::socket_inodes() const
{
	std::vector<std::uint64_t> list;
	for (const Socket &socket : own_sockets()) {
		struct stat status;
		list.push_back(::fstat(socket.fd.get(), &status) == 0 ? status.st_ino : 0);
	}
	return list;
}

void UdpPort::learn_steering()
{
	EarlyDatagrams early;
	const auto under_way = [](const Socket &socket) { return socket.round.under_way; };
	for (unsigned i = 0; i < sockets_.size(); i++)
		if (sockets_[i].shared)
			begin_round(i, monotonic_ns(), open_patience);
	while (std::any_of(sockets_.begin(), sockets_.end(), under_way)) {
		check_all_ = true;
		if (receive(early, monotonic_ns(), 64) == 0)
			wait(100'000, -1);
	}
	early_ = std::move(early.list);
	check_all_ = true;
}

/*
 * Asks once more who takes management datagrams, if others were too busy to answer when this port asked last. Reads
 * only what the others send: what lies in the sockets shall find its new owner.
 */
void UdpPort::seek_manager(Time deadline)
{
	Nobody nobody;
	bool asked = false;
	for (unsigned i = 0; i < own_; i++) {
		if (!sockets_[i].shared || (sockets_[i].members == 1 && sockets_[i].round.knows_end()))
			continue;
		begin_round(i, monotonic_ns(), parting_patience);
		asked = true;
	}
	pollfd answers{claim_.fd(), POLLIN, 0};
	for (Time now = monotonic_ns(); asked && !manager_ && now < deadline; now = monotonic_ns()) {
		const timespec left{0, static_cast<long>(deadline - now)};
		if (::ppoll(&answers, 1, &left, nullptr) > 0)
			receive_forwarded(nobody, now, 64);
	}
}

void UdpPort::deliver_early(PacketHandler &handler, Time now)
{
	const std::vector<EarlyDatagram> early = std::exchange(early_, {});
	for (const EarlyDatagram &each : early)
		handler.receive(each.route, each.packet, now);
}

bool UdpPort::wait(std::int64_t timeout_ns, int wake_fd, int other_fd)
{
	std::array<pollfd, max_own_sockets + max_groups + 3> watched;
	std::size_t n = 0;
	{
		std::lock_guard guard(listing_);
		for (const Socket &socket : sockets_)
			watched[n++] = {socket.fd.get(), POLLIN, 0};
	}
	watched[n++] = {claim_.fd(), POLLIN, 0};
	const std::size_t ports = n;
	watched[n++] = {wake_fd, POLLIN, 0}; /* ppoll ignores -1 */
	watched[n++] = {other_fd, POLLIN, 0};
	if (const Time duty = next_duty_.load(std::memory_order_relaxed); duty != no_duty) {
		const Time at = monotonic_ns();
		const auto left = static_cast<std::int64_t>(duty > at ? duty - at : 0);
		timeout_ns = timeout_ns < 0 ? left : std::min(timeout_ns, left);
	}
	const timespec limit{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
	if (::ppoll(watched.data(), n, timeout_ns < 0 ? nullptr : &limit, nullptr) <= 0)
		return false;
	if (std::any_of(watched.begin(), watched.begin() + static_cast<std::ptrdiff_t>(ports),
		    [](const pollfd &one) { return one.revents != 0; }))
		check_all_.store(true, std::memory_order_relaxed);
	return true;
}

std::uint32_t UdpPort::receive_buffer() const
{
	int size = 0;
	socklen_t length = sizeof(size);
	(void)::getsockopt(own_sockets().front().fd.get(), SOL_SOCKET, SO_RCVBUF, &size, &length);
	return static_cast<std::uint32_t>(size);
}

std::uint32_t UdpPort::receive_room() const
{
	return receive_buffer() / 8 * 5;
}

int UdpPort::most_waiting() const
{
	constexpr std::uint32_t least_datagram = 512; /* bytes of the buffer that the shortest one takes */
	return static_cast<int>(sockets_.size() * (receive_buffer() / least_datagram));
}

bool UdpPort::shares_addresses() const
{
	return std::ranges::any_of(own_sockets(), [](const Socket &socket) { return socket.shared; });
}

std::vector<int> UdpPort::fds() const
{
	std::vector<int> list;
	for (const Socket &socket : sockets_)
		list.push_back(socket.fd.get());
	list.push_back(claim_.fd());
	return list;
}

UdpCounters UdpPort::counters() const
{
	UdpCounters now{
		.rx_packets = count_.rx_packets.get(),
		.rx_trains = count_.rx_trains.get(),
		.rx_bytes = count_.rx_bytes.get(),
		.rx_too_short = count_.rx_too_short.get(),
		.rx_too_long = count_.rx_too_long.get(),
		.rx_bad_icrc = count_.rx_bad_icrc.get(),
		.rx_icrc_id_unknown = count_.rx_icrc_id_unknown.get(),
		.rx_misdirected_forwarded = count_.rx_misdirected_forwarded.get(),
		.rx_misdirected_dropped = count_.rx_misdirected_dropped.get(),
		.rx_forwarded_to_us = count_.rx_forwarded_to_us.get(),
		.tx_packets = count_.tx_packets.get(),
		.tx_trains = count_.tx_trains.get(),
		.tx_bytes = count_.tx_bytes.get(),
		.tx_errors = count_.tx_errors.get(),
		.tx_too_big = count_.tx_too_big.get(),
		.tx_no_route = count_.tx_no_route.get(),
		.tx_segment_fallbacks = count_.tx_segment_fallbacks.get(),
	};
	std::lock_guard guard(listing_);
	now.rx_socket_drops = dropped_by_groups_;
	for (const Socket &socket : sockets_)
		now.rx_socket_drops += kernel_drops(socket.fd.get());
	return now;
}

} // namespace prism::soft
