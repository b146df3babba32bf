/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UDP ports that share addresses, in one process and in several. */
#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "net/socket_address.hpp"
#include "udp_ports.hpp"

using namespace prism::soft;
using namespace prism::test;
using prism::monotonic_ns;

namespace
{

/* Runs @p body in a child, which then lives until it is ended; the body's result comes back over a pipe. */
class Child
{
public:
	explicit Child(const std::function<std::uint32_t()> &body)
	{
		int ends[2];
		EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
		pid_ = ::fork();
		if (pid_ == 0) {
			const std::uint32_t value = body();
			::prctl(PR_SET_PDEATHSIG, SIGKILL); /* now, as a change of user takes it back */
			if (::write(ends[1], &value, sizeof(value)) == sizeof(value))
				::pause();
			::_exit(0);
		}
		::close(ends[1]);
		from_ = FileDescriptor(ends[0]);
	}

	std::uint32_t answer()
	{
		std::uint32_t value = 0;
		EXPECT_EQ(::read(from_.get(), &value, sizeof(value)), static_cast<ssize_t>(sizeof(value)));
		return value;
	}

	void send_signal(int signal) const { EXPECT_EQ(::kill(pid_, signal), 0); }

	void end(int signal) const
	{
		int status;
		EXPECT_EQ(::kill(pid_, signal), 0);
		EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
	}

private:
	pid_t pid_;
	FileDescriptor from_;
};

std::unique_ptr<UdpPort> held; /* alive until a child's _exit */

std::uint32_t open_and_hold()
{
	std::string error;
	held = UdpPort::open("lo", error);
	return held ? held->slot() : 0;
}

} // namespace

/* Three on ::1: each gets its own packets, whichever socket the kernel delivers them to. */
TEST(UdpPortShared, PacketsReachTheirOwner)
{
	std::vector<std::unique_ptr<UdpPort>> ports;
	for (int i = 0; i < 3; i++)
		ports.push_back(open_loopback());
	const Address shared = ipv6_address_of(*ports[0]);
	if (shared == Address{})
		GTEST_SKIP() << "the loopback interface has no IPv6 address";
	for (const auto &target : ports) {
		std::vector<Bytes> sent;
		for (std::uint32_t i = 0; i < 100; i++) {
			sent.push_back(make_packet(target->slot(), 64 + i / 50, i));
			send(*ports[0], shared, sent.back());
		}
		ports[0]->flush();
		Arrivals inbox;
		std::vector<UdpPort *> others;
		for (const auto &port : ports)
			if (port != target)
				others.push_back(port.get());
		receive_until(*target, inbox, sent.size(), others);
		EXPECT_TRUE(inbox.packets == sent);
	}
}

/* Sockets of AF_UNIX that have a slot's own name; can be ended or given to another. */
struct NameHolder {
	FileDescriptor datagrams, listener;

	explicit NameHolder(unsigned slot)
		: datagrams(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)),
		  listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0))
	{
		sockaddr_un name{};
		name.sun_family = AF_UNIX;
		const std::string text = "prism-rdma/" + std::to_string(slot);
		text.copy(name.sun_path + 1, text.size());
		const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
		for (FileDescriptor *each : {&datagrams, &listener})
			if (::bind(each->get(), reinterpret_cast<const sockaddr *>(&name), size) != 0)
				*each = FileDescriptor();
	}
	[[nodiscard]] bool complete() const { return datagrams && listener; }
};

/* Takes the names of all slots that it can; returns how many. */
std::uint32_t take_all_names()
{
	static std::vector<NameHolder> held_names;
	rlimit limit{};
	::getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	::setrlimit(RLIMIT_NOFILE, &limit);
	if (::getuid() == 0 && ::setuid(65534) != 0)
		return 0;
	for (unsigned slot = first_slot; slot < slot_limit; slot++)
		held_names.emplace_back(slot);
	return static_cast<std::uint32_t>(std::ranges::count_if(held_names, &NameHolder::complete));
}

/* Until a port has been told the others' names, it cannot hand their packets on. */
enum class Meanwhile {
	nothing_is_lost,
	some_may_be_lost
};

/* After members left, indices have shifted: packets still arrive, and the table is corrected. */
void steering_heals_after_members_leave(Meanwhile meanwhile)
{
	std::vector<std::unique_ptr<UdpPort>> ports;
	for (int i = 0; i < 6; i++)
		ports.push_back(open_loopback());
	const Address shared = ipv6_address_of(*ports[0]);
	if (shared == Address{})
		GTEST_SKIP() << "the loopback interface has no IPv6 address";
	ports.erase(ports.begin() + 1);
	ports.erase(ports.begin());
	std::vector<Arrivals> inboxes(ports.size());
	std::uint32_t serial = 0;
	const auto everybody_receives = [&] {
		for (int i = 0; i < 2000; i++)
			for (std::size_t p = 0; p < ports.size(); p++)
				ports[p]->receive(inboxes[p], monotonic_ns(), 64);
	};
	const auto send_to_all = [&] {
		for (const auto &target : ports)
			send(*ports[0], shared, make_packet(target->slot(), 64, serial));
		serial++;
		ports[0]->flush();
		everybody_receives();
	};
	const auto forwarded = [&] {
		std::uint64_t sum = 0;
		for (const auto &port : ports)
			sum += port->counters().rx_misdirected_forwarded;
		return sum;
	};
	send_to_all();
	EXPECT_GT(forwarded(), 0U);
	for (int i = 0; i < 10; i++) {
		std::this_thread::sleep_for(std::chrono::milliseconds(12));
		send_to_all();
	}
	for (const Arrivals &inbox : inboxes) {
		if (meanwhile == Meanwhile::nothing_is_lost) {
			EXPECT_EQ(inbox.packets.size(), serial);
		}
	}
	const std::uint64_t before = forwarded();
	inboxes = std::vector<Arrivals>(ports.size());
	for (int i = 0; i < 10; i++)
		send_to_all();
	EXPECT_EQ(forwarded(), before);
	for (const Arrivals &inbox : inboxes)
		EXPECT_EQ(inbox.packets.size(), 10U);
}

TEST(UdpPortShared, SteeringHealsAfterMembersLeave)
{
	steering_heals_after_members_leave(Meanwhile::nothing_is_lost);
}

/* Another user has the names of all slots: ports get others, and still find each other. */
TEST(UdpPortShared, NamesKeepNobodyOut)
{
	Child other(take_all_names);
	const std::uint32_t taken = other.answer();
	if (taken < 1000)
		GTEST_SKIP() << "could take " << taken << " names only: no descriptors for more";
	steering_heals_after_members_leave(Meanwhile::some_may_be_lost);
	other.end(SIGKILL);
}

/* Receives long enough for one to hand packets to the other, and back. */
void receive_all(UdpPort &a, UdpPort &b, Arrivals &inbox)
{
	for (int i = 0; i < 1000; i++) {
		a.receive(inbox, monotonic_ns(), 64);
		b.receive(inbox, monotonic_ns(), 64);
	}
}

TEST(UdpPortShared, OwnerGoneIsDroppedAndCounted)
{
	const auto a = open_loopback();
	const auto b = open_loopback();
	const Address shared = ipv6_address_of(*a);
	if (shared == Address{})
		GTEST_SKIP() << "the loopback interface has no IPv6 address";
	const unsigned gone = open_loopback()->slot();
	Arrivals inbox;
	send(*a, shared, make_packet(gone, 64, 0));
	a->flush();
	receive_all(*a, *b, inbox);
	EXPECT_EQ(a->counters().rx_misdirected_dropped + b->counters().rx_misdirected_dropped, 1U);
	EXPECT_TRUE(inbox.packets.empty());
}

/* Sends from ports of its own, as peers on other hosts do. */
class OutsiderOnIpv6
{
public:
	explicit OutsiderOnIpv6(const Address &here) : address_(here)
	{
		const SocketAddress any = to_socket_address(here, 0, 0);
		EXPECT_EQ(::bind(socket_.get(), &any.any, any.size()), 0);
		SocketAddress bound{};
		socklen_t size = sizeof(bound);
		EXPECT_EQ(::getsockname(socket_.get(), &bound.any, &size), 0);
		port_ = bound.port();
	}

	void send(Bytes packet, std::uint32_t damage = 0) const
	{
		const std::uint32_t value = icrc({address_, address_, port_, roce_port}, packet, 0) ^ damage;
		packet.resize(packet.size() + icrc_size);
		store_icrc(packet.data() + packet.size() - icrc_size, value);
		const SocketAddress to = to_socket_address(address_, roce_port, 0);
		EXPECT_EQ(::sendto(socket_.get(), packet.data(), packet.size(), 0, &to.any, to.size()),
			static_cast<ssize_t>(packet.size()));
	}

private:
	Address address_;
	FileDescriptor socket_{::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
	std::uint16_t port_ = 0;
};

/* A sender of packets to slots that are nobody's, or another user's, must not cause a question for each. */
TEST(UdpPortShared, NobodyIsAskedForEachPacketWhoseItIs)
{
	if (::getuid() != 0)
		GTEST_SKIP() << "needs root, to be somebody else";
	const auto port = open_loopback();
	const Address shared = ipv6_address_of(*port);
	if (shared == Address{})
		GTEST_SKIP() << "the loopback interface has no IPv6 address";
	const unsigned slot = port->slot() ^ 1;
	const NameHolder name(slot);
	ASSERT_TRUE(name.complete());
	/* For others, the slot belongs to the user that listens. */
	Child owner(
		[&]() -> std::uint32_t { return ::setuid(65534) == 0 && ::listen(name.listener.get(), 1000) == 0; });
	ASSERT_EQ(owner.answer(), 1U);
	Arrivals inbox;
	const OutsiderOnIpv6 outsider(shared);
	constexpr unsigned packets = 500;
	const Time at = monotonic_ns();
	for (std::uint32_t i = 0; i < packets; i++) {
		outsider.send(make_packet(slot, 64, i));
		for (int look = 0; look < 1000 && port->counters().rx_misdirected_dropped <= i; look++)
			port->receive(inbox, at + i, 64);
	}
	unsigned questions = 0;
	while (FileDescriptor(::accept(name.listener.get(), nullptr, nullptr)))
		questions++;
	EXPECT_EQ(port->counters().rx_misdirected_dropped, packets);
	EXPECT_GT(questions, 0U);
	EXPECT_LE(questions, 8U);
	owner.end(SIGKILL);
}

/* A port that is not asked to receive is as good as stopped. */
class Stopped : public testing::Test
{
protected:
	void open(unsigned count)
	{
		for (unsigned i = 0; i < count; i++)
			ports.push_back(open_loopback());
		shared = ipv6_address_of(*ports[0]);
		if (shared == Address{})
			GTEST_SKIP() << "the loopback interface has no IPv6 address";
	}

	/* Lets these ports alone receive, as if @p time had passed. */
	void pass(const std::vector<UdpPort *> &running, Time time)
	{
		for (const Time end = ahead + time; ahead < end; ahead += 10'000'000)
			for (UdpPort *port : running)
				for (int i = 0; i < 4; i++)
					port->receive(ignored, monotonic_ns() + ahead, 64);
	}

	std::vector<std::unique_ptr<UdpPort>> ports;
	Address shared;
	Arrivals ignored;
	Time ahead = 0;
};

/* The second was too slow to answer the third's question. */
TEST_F(Stopped, TakesNobodysPackets)
{
	open(3);
	send(*ports[2], shared, make_packet(ports[1]->slot(), 64, 0));
	ports[2]->flush();
	Arrivals inbox;
	receive_until(*ports[1], inbox, 1, {ports[2].get()});
	EXPECT_EQ(inbox.packets.size(), 1U);
}

/* Indices shift, and no running port sees the stray packets. */
TEST_F(Stopped, TakesNoPacketsForGoodWhenAnotherIsKilled)
{
	open(4);
	for (int i = 0; i < 100; i++)
		for (const auto &port : ports)
			port->receive(ignored, monotonic_ns() + i * 1'000'000, 64);
	pass({ports[0].get(), ports[1].get(), ports[2].get(), ports[3].get()}, 5'000'000'000);
	ports.erase(ports.begin());
	UdpPort &target = *ports[2];
	pass({ports[1].get(), &target}, 10'000'000'000);
	Arrivals inbox;
	constexpr std::uint32_t flows = 16;
	for (std::uint32_t i = 0; i < flows; i++)
		OutsiderOnIpv6(shared).send(make_packet(target.slot(), 64, i));
	receive_until(target, inbox, flows, {ports[1].get()});
	EXPECT_EQ(inbox.packets.size(), flows);
	EXPECT_EQ(ports[1]->counters().rx_misdirected_forwarded, 0U) << "each came straight";
}

/* A program forks and ends. Its child keeps its sockets and its slot, and reads nothing. */
TEST_F(Stopped, AChildThatItsParentLeftTakesNobodysPackets)
{
	open(1);
	Child parent([] {
		held = open_loopback();
		const pid_t left = ::fork();
		if (left == 0) {
			::alarm(60);
			::pause();
			::_exit(0);
		}
		return static_cast<std::uint32_t>(left);
	});
	const auto left = static_cast<pid_t>(parent.answer());
	open(2);
	const std::vector<UdpPort *> running{ports[0].get(), ports[1].get(), ports[2].get()};
	UdpPort &target = *ports[2];
	const auto expect_all = [&] {
		Arrivals inbox;
		constexpr std::uint32_t flows = 16;
		for (std::uint32_t i = 0; i < flows; i++)
			OutsiderOnIpv6(shared).send(make_packet(target.slot(), 64, i));
		receive_until(target, inbox, flows, {ports[0].get(), ports[1].get()});
		EXPECT_EQ(inbox.packets.size(), flows);
	};
	pass(running, 5'000'000'000);
	expect_all();
	parent.end(SIGKILL);
	pass(running, 10'000'000'000);
	expect_all();
	EXPECT_EQ(::kill(left, SIGKILL), 0);
	pass(running, 10'000'000'000);
	expect_all();
}

/* It has answered that it exists, and is silent since; but it is not gone. */
TEST_F(Stopped, AProcessUnderSigstopTakesNobodysPackets)
{
	open(1);
	Child other([] {
		const std::uint32_t slot = open_and_hold();
		std::thread([] {
			for (Arrivals inbox;; std::this_thread::sleep_for(std::chrono::microseconds(200)))
				held->receive(inbox, monotonic_ns(), 64);
		}).detach();
		return slot;
	});
	ASSERT_NE(other.answer(), 0U);
	other.send_signal(SIGSTOP);
	open(2);
	const std::vector<UdpPort *> running{ports[0].get(), ports[1].get(), ports[2].get()};
	pass(running, 5'000'000'000);
	for (UdpPort *target : running) {
		Arrivals inbox;
		constexpr std::uint32_t flows = 16;
		for (std::uint32_t i = 0; i < flows; i++)
			OutsiderOnIpv6(shared).send(make_packet(target->slot(), 64, i));
		std::vector<UdpPort *> others = running;
		std::erase(others, target);
		receive_until(*target, inbox, flows, others);
		EXPECT_EQ(inbox.packets.size(), flows) << "slot " << target->slot();
	}
	other.end(SIGKILL);
}

/* An address more that all ports on "lo" share. */
class ExtraAddress
{
public:
	explicit ExtraAddress(std::uint8_t last = 1) : last_(last), added_(request(SIOCSIFADDR)) {}
	~ExtraAddress()
	{
		if (added_)
			(void)request(SIOCDIFADDR);
	}
	ExtraAddress(const ExtraAddress &) = delete;
	ExtraAddress &operator=(const ExtraAddress &) = delete;
	[[nodiscard]] bool is_there() const { return added_; }
	[[nodiscard]] Address address() const
	{
		Address address;
		address.gid[0] = 0xfd;
		address.gid[15] = last_;
		return address;
	}

private:
	[[nodiscard]] bool request(unsigned long what) const
	{
		const FileDescriptor any(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
		in6_ifreq address{};
		address.ifr6_addr.s6_addr[0] = 0xfd;
		address.ifr6_addr.s6_addr[15] = last_;
		address.ifr6_prefixlen = 128;
		address.ifr6_ifindex = static_cast<int>(::if_nametoindex("lo"));
		return ::ioctl(any.get(), what, &address) == 0;
	}

	const std::uint8_t last_;
	bool added_;
};

/* Counts the datagrams that it is handed, on any thread. */
class Tally final : public PacketHandler
{
public:
	void receive(const Route &, std::span<const std::uint8_t>, Time) override { count++; }

	std::atomic<unsigned> count{0};
};

/* QP 1 is everybody's: what comes to a port that is being opened or closed must not be lost, as its sender waits a
 * second before it sends it again. */
TEST(UdpPortShared, ManagementDatagramsSurviveThatPortsComeAndGo)
{
	const ExtraAddress second;
	if (!second.is_there())
		GTEST_SKIP() << "no permission to add an address, so no port takes longer to open than a datagram";
	constexpr unsigned datagrams = 20'000;
	const auto stays = open_loopback(), sender = open_loopback();
	const Address shared = ipv6_address_of(*stays);
	Bytes datagram = make_packet(0, 280, 0);
	datagram[7] = gsi_qpn;
	Tally tally;
	std::atomic<bool> ended{false};
	std::thread passers_by([&] {
		while (!ended) {
			const auto port = open_loopback();
			for (int i = 0; i < 10; i++)
				port->receive(tally, monotonic_ns(), 64);
		}
	});
	for (unsigned i = 0; i < datagrams; i++) {
		send(*sender, shared, datagram);
		sender->flush();
		for (UdpPort *port : {stays.get(), sender.get()})
			port->receive_all(tally, monotonic_ns(), 64);
	}
	ended = true;
	passers_by.join();
	const Time deadline = monotonic_ns() + 1'000'000'000;
	while (tally.count < datagrams && monotonic_ns() < deadline)
		for (UdpPort *port : {stays.get(), sender.get()})
			port->receive_all(tally, monotonic_ns(), 64);
	/* On a busy machine a port may hear of nobody within its patience; without any care half of them are lost. */
	EXPECT_GE(tally.count, datagrams - datagrams / 10);
}

/* Adds addresses to two ports, one of which then sends to the other by each. Returns the packets that it got itself and
 * had to hand on; nothing if addresses may not be added. */
std::optional<std::uint64_t> handed_on_by_ports_with(unsigned count)
{
	const auto first = open_loopback(), second = open_loopback();
	std::deque<ExtraAddress> addresses;
	for (unsigned i = 1; i <= count; i++)
		if (!addresses.emplace_back(static_cast<std::uint8_t>(i)).is_there())
			return {};
	const Time deadline = monotonic_ns() + 1'000'000'000;
	for (const ExtraAddress &each : addresses)
		for (UdpPort *port : {first.get(), second.get()})
			while (port->add(each.address()) < 0 && monotonic_ns() < deadline) /* tentative for a while */
				;
	const auto receive = [&] {
		Tally ignored;
		for (int i = 0; i < 100; i++) {
			for (int each = 0; each < 10; each++) /* answers all that it is asked */
				first->receive_all(ignored, monotonic_ns(), 64);
			second->receive_all(ignored, monotonic_ns(), 64);
		}
	};
	receive();
	for (const ExtraAddress &each : addresses)
		send(*second, each.address(), make_packet(first->slot(), 64, 0));
	second->flush();
	receive();
	return second->counters().rx_misdirected_forwarded;
}

/* A port's queue has no room for the answers about all its addresses at once. */
TEST(UdpPortShared, PortsWithManyAddressesFindEachOther)
{
	std::optional<std::uint64_t> packets = 1;
	/* On a busy machine the answers may come too late. */
	for (int i = 0; i < 3 && packets.value_or(0); i++)
		packets = handed_on_by_ports_with(27);
	if (!packets)
		GTEST_SKIP() << "no permission to add an address";
	EXPECT_EQ(*packets, 0U);
}

/* A server that knows no connection manager must not take the datagrams of those that do. */
TEST(UdpPortShared, ManagementDatagramsGoToThoseWhoTakeThem)
{
	std::string error;
	const auto sender = UdpPort::open("lo", error, nullptr, false), taker = UdpPort::open("lo", error);
	std::vector<std::unique_ptr<UdpPort>> others;
	Arrivals inbox, others_inbox;
	std::size_t sent = 0;
	const auto everybody_receives = [&] {
		for (int i = 0; i < 200; i++) {
			taker->receive_all(inbox, monotonic_ns(), 64);
			sender->receive_all(others_inbox, monotonic_ns(), 64);
			for (const auto &other : others)
				other->receive_all(others_inbox, monotonic_ns(), 64);
		}
	};
	const auto send_some = [&] {
		Bytes datagram = make_packet(0, 280, 0);
		datagram[7] = gsi_qpn;
		for (int i = 0; i < 20; i++) {
			send(*sender, ipv6_address_of(*taker), datagram);
			sender->flush();
			everybody_receives();
		}
		sent += 20;
	};
	send_some();
	for (int i = 0; i < 3; i++) {
		std::atomic<bool> opened{false};
		std::thread serves([&] {
			others.push_back(UdpPort::open("lo", error, nullptr, false));
			opened = true;
		});
		while (!opened) { /* without a pause: it waits for an answer, but not for long */
			taker->receive_all(inbox, monotonic_ns(), 64);
			sender->receive_all(others_inbox, monotonic_ns(), 64);
		}
		serves.join();
		send_some();
	}
	EXPECT_EQ(inbox.packets.size(), sent);
	EXPECT_TRUE(others_inbox.packets.empty());
}

/* It causes no question, no packet and no look-up. */
TEST(UdpPortShared, NoiseIsNotHandedOn)
{
	const auto a = open_loopback();
	const auto b = open_loopback();
	const Address shared = ipv6_address_of(*a);
	if (shared == Address{})
		GTEST_SKIP() << "the loopback interface has no IPv6 address";
	const unsigned gone = open_loopback()->slot();
	OutsiderOnIpv6(shared).send(make_packet(gone, 64, 0), 1);
	Arrivals inbox;
	receive_all(*a, *b, inbox);
	EXPECT_EQ(a->counters().rx_bad_icrc + b->counters().rx_bad_icrc, 1U);
	EXPECT_EQ(a->counters().rx_misdirected_dropped + b->counters().rx_misdirected_dropped, 0U);
}

/* Returns the bytes that this process has read() so far, except from sockets; nothing if the kernel does not count. */
std::optional<std::uint64_t> bytes_read()
{
	std::ifstream accounts("/proc/self/io");
	std::string name;
	std::uint64_t count = 0;
	return accounts >> name >> count && name == "rchar:" ? std::optional(count) : std::nullopt;
}

/* Nor does it cause the process to read a list of the host's sockets while verbs wait; stray packets of a slot that is
 * nobody's cause it no more than noise does. */
TEST(UdpPortShared, NoiseMakesNobodyReadFiles)
{
	const auto port = open_loopback();
	const Address shared = ipv6_address_of(*port);
	if (shared == Address{})
		GTEST_SKIP() << "the loopback interface has no IPv6 address";
	const auto before = bytes_read();
	if (!before)
		GTEST_SKIP() << "the kernel does not count what processes read";
	const unsigned gone = open_loopback()->slot();
	const OutsiderOnIpv6 outsider(shared);
	constexpr std::uint64_t packets = 1000;
	Arrivals inbox;
	const auto taken = [&] { return port->counters().rx_bad_icrc + port->counters().rx_misdirected_dropped; };
	for (std::uint32_t i = 0; i < packets; i++) {
		outsider.send(make_packet(gone, 64, i), i % 2);
		for (int look = 0; look < 1000 && taken() <= i; look++)
			port->receive(inbox, monotonic_ns(), 64);
	}
	EXPECT_EQ(taken(), packets);
	EXPECT_LT(*bytes_read() - *before, 16 * packets);
}

/* On ::1, one socket has no more packets than it takes, while the other has more. */
TEST(UdpPortShared, ABusySocketLeavesTheOthersTheirTurn)
{
	const auto port = open_loopback();
	const auto peer = open_loopback();
	const Address shared = ipv6_address_of(*port);
	if (shared == Address{})
		GTEST_SKIP() << "the loopback interface has no IPv6 address";
	constexpr unsigned busy = 200;
	constexpr int a_turn = 4;
	for (std::uint32_t i = 0; i < busy; i++) {
		send(*peer, port->addresses()[0], make_packet(port->slot(), 64, i));
		peer->flush();
	}
	Arrivals inbox, ignored;
	port->receive(inbox, monotonic_ns(), a_turn);
	port->receive(inbox, monotonic_ns() + 50'000, a_turn);
	OutsiderOnIpv6(shared).send(make_packet(port->slot(), 64, busy));
	for (unsigned i = 1; i <= busy / a_turn / 2; i++) {
		peer->receive(ignored, monotonic_ns(), a_turn); /* it may have to hand the packet on */
		port->receive(inbox, monotonic_ns() + i * 100'000, a_turn);
	}
	EXPECT_LT(inbox.packets.size(), busy);
	EXPECT_TRUE(std::ranges::find(inbox.destinations, shared) != inbox.destinations.end());
}

TEST(UdpPortProcesses, OnlyTheirOwnUserIsHandedPackets)
{
	if (::getuid() != 0)
		GTEST_SKIP() << "needs root, to be somebody else";
	const auto port = open_loopback();
	const Address shared = ipv6_address_of(*port);
	if (shared == Address{})
		GTEST_SKIP() << "the loopback interface has no IPv6 address";
	const auto holds_a_slot = [&](uid_t user) {
		return [user, number = port->slot() ^ 1]() -> std::uint32_t {
			static std::optional<Slot> slot;
			if (::setuid(user) == 0)
				slot = Slot::claim(number);
			return slot ? number : 0;
		};
	};
	Arrivals inbox;
	for (const uid_t user : {uid_t{65534}, uid_t{0}}) {
		Child owner(holds_a_slot(user));
		const std::uint32_t slot = owner.answer();
		ASSERT_NE(slot, 0U);
		OutsiderOnIpv6(shared).send(make_packet(slot, 64, 0));
		for (int i = 0; i < 1000; i++)
			port->receive(inbox, monotonic_ns(), 64);
		EXPECT_EQ(port->counters().rx_misdirected_dropped, 1U);
		EXPECT_EQ(port->counters().rx_misdirected_forwarded, user == 0 ? 1U : 0U);
		owner.end(SIGKILL);
	}
}

/* Enters a network of its own, whose loopback interface passes a kilobit a second. */
bool enter_a_narrow_network()
{
	if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return false;
	return std::system("PATH=$PATH:/usr/sbin:/sbin; exec 2>/dev/null; ip link set lo up && "
			   "tc qdisc add dev lo root tbf rate 1kbit burst 4000 limit 100000000") == 0;
}

/* Packets that the link does not take are lost, not waited for (S.7.3, W.8.5). */
TEST(UdpPortProcesses, AFullLinkHoldsNobodyUp)
{
	constexpr std::uint32_t packets = 20'000, unable = ~0U;
	Child sender([]() -> std::uint32_t {
		if (!enter_a_narrow_network())
			return unable;
		::alarm(10);
		const auto port = open_loopback();
		for (std::uint32_t i = 0; i < packets; i++) {
			send(*port, port->addresses()[0], make_packet(port->slot(), 1000, i));
			port->flush();
		}
		const UdpCounters counted = port->counters();
		return counted.tx_errors && counted.tx_packets + counted.tx_errors == packets;
	});
	const std::uint32_t answer = sender.answer();
	sender.end(SIGKILL);
	if (answer == unable)
		GTEST_SKIP() << "no network namespace with a queue of its own: needs ip, tc and sch_tbf";
	EXPECT_EQ(answer, 1U);
}

TEST(UdpPortProcesses, SlotsAreUniqueAndComeBack)
{
	std::vector<Child> children;
	std::set<std::uint32_t> slots;
	for (int i = 0; i < 16; i++)
		children.emplace_back(open_and_hold);
	for (Child &child : children) {
		const std::uint32_t slot = child.answer();
		EXPECT_GE(slot, first_slot);
		EXPECT_LT(slot, slot_limit);
		EXPECT_TRUE(slots.insert(slot).second) << slot;
	}
	for (const std::uint32_t slot : slots)
		EXPECT_FALSE(Slot::claim(slot));
	/* They may end in either way. */
	for (std::size_t i = 0; i < children.size(); i++)
		children[i].end(i % 2 ? SIGKILL : SIGTERM);
	for (const std::uint32_t slot : slots)
		EXPECT_TRUE(Slot::claim(slot)) << slot;
}

TEST(UdpPortProcesses, EchoBetweenProcesses)
{
	int ends[2];
	ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
	const FileDescriptor reader(ends[0]);
	const FileDescriptor writer(ends[1]);
	const auto client = open_loopback();
	const unsigned client_slot = client->slot();
	const Address client_address = client->addresses()[0];
	/* Echoes 1000 packets. */
	Child server([&] {
		std::string error;
		const auto port = UdpPort::open("lo", error);
		const unsigned own = port ? port->slot() : 0;
		if (::write(writer.get(), &own, sizeof(own)) != sizeof(own))
			::_exit(1);
		Arrivals inbox;
		receive_until(*port, inbox, 1000);
		for (Bytes &packet : inbox.packets) {
			const Bytes blank = make_packet(client_slot, 12, 0);
			std::copy(blank.begin() + 5, blank.begin() + 8, packet.begin() + 5);
			send(*port, client_address, packet);
		}
		port->flush();
		return std::uint32_t(inbox.packets.size());
	});
	unsigned server_slot = 0;
	ASSERT_EQ(::read(reader.get(), &server_slot, sizeof(server_slot)), static_cast<ssize_t>(sizeof(server_slot)));
	Address server_address = client_address;
	server_address.gid[14] = static_cast<std::uint8_t>(server_slot >> 8);
	server_address.gid[15] = static_cast<std::uint8_t>(server_slot);
	for (std::uint32_t i = 0; i < 1000; i++)
		send(*client, server_address, make_packet(server_slot, 100, i));
	client->flush();
	Arrivals inbox;
	receive_until(*client, inbox, 1000);
	EXPECT_EQ(server.answer(), 1000U);
	server.end(SIGTERM);
	ASSERT_EQ(inbox.packets.size(), 1000U);
	for (std::uint32_t i = 0; i < 1000; i++)
		EXPECT_EQ(std::memcmp(inbox.packets[i].data() + 8, &i, sizeof(i)), 0);
}
