/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The local path between ports of this process and of others, and attacks by strangers. */
#include <signal.h>

#include <array>
#include <map>
#include <thread>

#include "local_pair.hpp"
#include "net/port.hpp"

using namespace prism::test;

namespace
{

TEST_F(LocalPair, PacketsPassBothWays)
{
	introduce();
	ASSERT_TRUE(a.send(b, 7));
	ASSERT_TRUE(b.send(a, 8, max_packet_size));
	ASSERT_TRUE(turn_until({&a, &b}, [this] { return a.inbox.packets.size() + b.inbox.packets.size() == 2; }));
	EXPECT_EQ(b.inbox.packets[0], Bytes(100, 7));
	EXPECT_EQ(a.inbox.packets[0], Bytes(max_packet_size, 8));
	EXPECT_EQ(b.inbox.routes[0].from, a.address);
	EXPECT_EQ(b.inbox.routes[0].to, b.address);
	EXPECT_EQ(b.inbox.routes[0].source_port, source_port_of(a.slot->number()));
	EXPECT_EQ(a.counts.local_tx_packets, 1U);
	EXPECT_EQ(b.total.rx_packets, 1U);
	EXPECT_EQ(a.port->peers(), std::vector<unsigned>{b.slot->number()});
}

TEST_F(LocalPair, BothMayIntroduceThemselvesAtOnce)
{
	for (int i = 0; i < 3; i++) {
		EXPECT_FALSE(a.send(b, 1));
		EXPECT_FALSE(b.send(a, 1));
	}
	ASSERT_TRUE(turn_until({&a, &b}, [this] { return a.port->has_peers() && b.port->has_peers(); }));
	ASSERT_TRUE(turn_until({&a, &b}, [this] { return a.send(b, 7) && b.send(a, 8); }));
	EXPECT_TRUE(turn_until({&a, &b}, [this] { return !a.inbox.packets.empty() && !b.inbox.packets.empty(); }));
}

TEST_F(LocalPair, AContextIsItsOwnPeer)
{
	ASSERT_TRUE(a.send(a, 7)) << "the first one: none goes by UDP, which a later one might overtake";
	EXPECT_TRUE(a.port->own_packets_wait());
	EXPECT_FALSE(a.port->prepare_sleep());
	a.turn();
	EXPECT_FALSE(a.port->own_packets_wait());
	EXPECT_EQ(a.inbox.packets, std::vector<Bytes>{Bytes(100, 7)});
	EXPECT_EQ(a.inbox.routes[0].from, a.address);
	EXPECT_EQ(a.inbox.routes[0].to, a.address);
	EXPECT_EQ(a.port->peers(), std::vector<unsigned>{a.slot->number()});
	EXPECT_TRUE(a.port->prepare_sleep());
	EXPECT_FALSE(a.port->awaits_peers()); /* nobody else has to wake it */
	a.port->attend();
	introduce();
	EXPECT_TRUE(a.port->awaits_peers());
	/* A context of another host may have the same slot. */
	EXPECT_EQ(a.port->begin(0, loopback_address(3), a.qpn(), 100), nullptr);
}

/* More than a turn takes. */
TEST(PortWithRings, ReceivesAllThatCameByUdpBeforeThePacketsOfANewRing)
{
	std::string error;
	const auto from = prism::soft::Port::open("lo", true, false, error),
		   to = prism::soft::Port::open("lo", true, false, error);
	ASSERT_TRUE(from && to) << error;
	const std::uint32_t qpn = to->udp().slot() << qpn_index_bits | 17;
	const auto send = [&](std::uint8_t value) {
		std::uint8_t *const packet = from->begin_from(0, to->udp().addresses().front(), qpn, 100);
		std::fill_n(packet, 100, value);
		packet[5] = static_cast<std::uint8_t>(qpn >> 16);
		packet[6] = static_cast<std::uint8_t>(qpn >> 8);
		packet[7] = static_cast<std::uint8_t>(qpn);
		from->commit();
		from->flush();
	};
	const int by_udp = std::min(2000, to->udp().most_waiting() / 4);
	for (int i = 0; i < by_udp; i++)
		send(1);
	Inbox none, inbox;
	const Time until = monotonic_ns() + 5'000'000'000;
	while (!(from->has_local_peers() && to->has_local_peers()) && monotonic_ns() < until) {
		(void)from->receive(none, monotonic_ns(), 1);
		(void)to->receive(inbox, monotonic_ns(), 1);
	}
	ASSERT_LT(inbox.packets.size(), by_udp / 2U) << "most are still in the socket";
	send(2);
	while (inbox.packets.size() <= static_cast<std::size_t>(by_udp) && monotonic_ns() < until)
		(void)to->receive(inbox, monotonic_ns(), 1);
	ASSERT_EQ(inbox.packets.size(), by_udp + 1U);
	EXPECT_EQ(inbox.packets.back()[0], 2) << "the ring's, and the last that was sent";
}

TEST_F(LocalPair, AFullRingToItselfLosesNothing)
{
	constexpr unsigned packets = 100;
	for (unsigned i = 0; i < packets; i++)
		ASSERT_TRUE(a.send(a, static_cast<std::uint8_t>(i), 4000));
	EXPECT_EQ(a.port->room(0, a.address, a.qpn()), Room::no);
	EXPECT_FALSE(a.port->prepare_sleep());
	EXPECT_FALSE(a.port->loses(0, a.address, a.qpn(), 1));
	EXPECT_FALSE(a.port->loses(0, a.address, a.qpn(), 60'000'000'000)); /* a program that pauses is no dead peer */
	ASSERT_TRUE(turn_until({&a}, [&] { return a.inbox.packets.size() == packets; }));
	for (unsigned i = 0; i < packets; i++)
		ASSERT_EQ(a.inbox.packets[i], Bytes(4000, static_cast<std::uint8_t>(i)));
	EXPECT_EQ(a.counts.local_tx_wakeups + a.counts.local_tx_dropped, 0U);
	EXPECT_TRUE(turn_until({&a}, [&] { return a.port->prepare_sleep(); }));
}

TEST_F(LocalPair, AChildHasNoRingToItself)
{
	ASSERT_TRUE(a.send(a, 7));
	const pid_t child = ::fork();
	if (!child) {
		const bool none = !a.send(a, 66) && !a.port->own_packets_wait() && a.port->prepare_sleep();
		a.turn();
		::_exit(none && a.inbox.packets.empty() ? 0 : 1);
	}
	int status = 0;
	ASSERT_EQ(::waitpid(child, &status, 0), child);
	EXPECT_EQ(status, 0);
	a.turn();
	EXPECT_EQ(a.inbox.packets, std::vector<Bytes>{Bytes(100, 7)});
}

TEST_F(LocalPair, AnotherAddressIsNotThatOfThePeer)
{
	introduce();
	EXPECT_EQ(a.port->begin(0, loopback_address(3), b.qpn(), 100), nullptr);
	EXPECT_EQ(a.port->begin(1, b.address, b.qpn(), 100), nullptr); /* nor is an address that is not ours */
	EXPECT_NE(a.port->begin(0, b.address, b.qpn(), 100), nullptr);
}

TEST_F(LocalPair, AFullRingLosesNothing)
{
	introduce();
	unsigned sent = 0;
	for (; sent < 500; sent++)
		ASSERT_TRUE(a.send(b, static_cast<std::uint8_t>(sent), 4000));
	EXPECT_EQ(a.port->room(0, b.address, b.qpn()), Room::no);
	EXPECT_GT(a.counts.local_tx_waited, 0U);
	ASSERT_TRUE(turn_until({&b, &a}, [&] { return b.inbox.packets.size() == sent; }));
	for (unsigned i = 0; i < sent; i++)
		ASSERT_EQ(b.inbox.packets[i], Bytes(4000, static_cast<std::uint8_t>(i)));
	EXPECT_EQ(a.port->room(0, b.address, b.qpn()), Room::yes);
	EXPECT_EQ(a.counts.local_tx_dropped, 0U);
}

TEST_F(LocalPair, APeerThatTakesNothingTakesLittleMemory)
{
	introduce();
	for (unsigned i = 0; i < 5000; i++)
		ASSERT_TRUE(a.send(b, 0, 4000));
	EXPECT_GT(a.counts.local_tx_dropped, 2000U);
	/* another destination is not affected */
	End c;
	(void)a.send(c, 1);
	ASSERT_TRUE(turn_until({&a, &c}, [&] { return a.send(c, 9); }));
	EXPECT_TRUE(turn_until({&c}, [&] { return !c.inbox.packets.empty(); }));
}

TEST_F(LocalPair, WhatAPeerSentBeforeItEndedArrives)
{
	introduce();
	ASSERT_TRUE(a.send(b, 5));
	a.port.reset();
	ASSERT_TRUE(turn_until({&b}, [this] { return !b.port->has_peers(); }));
	EXPECT_EQ(b.inbox.packets.size(), 1U);
	EXPECT_FALSE(b.send(a, 1));
	EXPECT_EQ(b.counts.local_broken, 0U);
}

TEST_F(LocalPair, ASleeperIsWoken)
{
	introduce();
	ASSERT_TRUE(turn_until({&b}, [this] { return b.port->prepare_sleep(); }));
	pollfd wake{b.port->wait_fd(), POLLIN, 0};
	EXPECT_EQ(::poll(&wake, 1, 0), 0);
	ASSERT_TRUE(a.send(b, 1));
	EXPECT_EQ(::poll(&wake, 1, 1000), 1);
	EXPECT_FALSE(b.port->prepare_sleep()); /* a packet is there */
	b.port->attend();
	b.turn();
	EXPECT_EQ(b.inbox.packets.size(), 1U);
	ASSERT_TRUE(a.send(b, 1)); /* awake: no wake-up is sent */
	EXPECT_EQ(a.counts.local_tx_wakeups, 1U);
}

TEST_F(LocalPair, AStarvedSleeperIsWoken)
{
	introduce();
	while (a.port->room(0, b.address, b.qpn()) != Room::no)
		ASSERT_TRUE(a.send(b, 1, 4000));
	ASSERT_TRUE(turn_until({&a}, [this] { return a.port->prepare_sleep(); }));
	pollfd wake{a.port->wait_fd(), POLLIN, 0};
	EXPECT_EQ(::poll(&wake, 1, 0), 0);
	b.turn();
	EXPECT_EQ(::poll(&wake, 1, 1000), 1);
}

/* It already slept when it was told that there is no room. */
TEST_F(LocalPair, ASleeperThatIsAskedForRoomIsWoken)
{
	introduce();
	ASSERT_TRUE(turn_until({&a}, [this] { return a.port->prepare_sleep(); }));
	while (a.port->room(0, b.address, b.qpn()) != Room::no)
		ASSERT_TRUE(a.send(b, 1, 4000));
	pollfd wake{a.port->wait_fd(), POLLIN, 0};
	EXPECT_EQ(::poll(&wake, 1, 0), 0);
	b.turn();
	EXPECT_EQ(::poll(&wake, 1, 1000), 1);
	EXPECT_EQ(a.port->room(0, b.address, b.qpn()), Room::yes);
}

TEST_F(LocalPair, WhatNobodySendsAgainIsLostBehindAStoppedPeer)
{
	constexpr Time second = 1'000'000'000;
	introduce();
	const auto fill = [this] {
		while (a.port->room(0, b.address, b.qpn()) != Room::no)
			ASSERT_TRUE(a.send(b, 1, 4000));
	};
	const auto loses = [this](Time at) { return a.port->loses(0, b.address, b.qpn(), at); };
	/* Looks ten times a second, as who sleeps does. */
	const auto waits_until = [&](Time from, Time until) {
		for (Time at = from; at < until; at += second / 10)
			EXPECT_FALSE(loses(at)) << at;
	};
	fill();
	waits_until(5 * second, 6 * second);
	EXPECT_FALSE(loses(5 * second)); /* another thread's clock, read before */
	EXPECT_FALSE(loses(6 * second - 1));
	EXPECT_EQ(a.counts.local_tx_dropped, 0U);
	EXPECT_TRUE(loses(6 * second));
	EXPECT_TRUE(loses(6 * second)); /* a second in all, not for each packet */
	EXPECT_EQ(a.counts.local_tx_dropped, 2U);
	/* It runs again, and stops again: a second from then. */
	b.turn();
	fill();
	waits_until(8 * second, 9 * second);
	EXPECT_TRUE(loses(9 * second));
	EXPECT_EQ(a.counts.local_tx_waited, 0U); /* every packet went through the ring */
}

TEST_F(LocalPair, NothingIsLostByWhoHasStoodStill)
{
	constexpr Time second = 1'000'000'000;
	introduce();
	while (a.port->room(0, b.address, b.qpn()) != Room::no)
		ASSERT_TRUE(a.send(b, 1, 4000));
	for (Time at = 5 * second; at < 9 * second; at += 2 * second)
		EXPECT_FALSE(a.port->loses(0, b.address, b.qpn(), at)) << "b may have stood still only as long as a";
}

TEST_F(LocalPair, NothingIsLostWithinAContext)
{
	constexpr Time second = 1'000'000'000;
	introduce();
	End c(&a);
	while (!c.send(a, 0))
		ASSERT_TRUE(turn_until({&a, &c}, [&] { return c.port->has_peers(); }));
	while (c.port->room(0, a.address, a.qpn()) != Room::no)
		ASSERT_TRUE(c.send(a, 1, 4000));
	for (Time at = 5 * second; at < 9 * second; at += second / 10)
		EXPECT_FALSE(c.port->loses(0, a.address, a.qpn(), at));
}

TEST_F(LocalPair, ManyThatWaitForRoomLoseNothing)
{
	constexpr unsigned packets = 300;
	End c, d;
	std::array<End *, 3> senders{&a, &c, &d};
	for (End *const each : senders)
		(void)each->send(b, 0);
	ASSERT_TRUE(turn_until({&a, &b, &c, &d}, [&] { return b.port->peers().size() == 3; }));
	ASSERT_TRUE(turn_until(
		{&a, &c, &d}, [&] { return a.port->has_peers() && c.port->has_peers() && d.port->has_peers(); }));
	std::array<unsigned, 3> sent{};
	const auto turn = [&] {
		for (std::size_t i = 0; i < senders.size(); i++)
			while (sent[i] < packets && senders[i]->port->room(0, b.address, b.qpn()) == Room::yes)
				ASSERT_TRUE(senders[i]->send(b, static_cast<std::uint8_t>(sent[i]++), 4000));
		b.turn(2);
	};
	for (unsigned i = 0; i < 3 * packets && b.inbox.packets.size() < 3 * packets; i++)
		turn();
	ASSERT_EQ(b.inbox.packets.size(), 3 * packets);
	std::map<Address, unsigned> seen;
	for (unsigned i = 0; i < 3 * packets; i++)
		ASSERT_EQ(b.inbox.packets[i][0], static_cast<std::uint8_t>(seen[b.inbox.routes[i].from]++));
	for (const End *const each : senders)
		EXPECT_EQ(each->counts.local_tx_waited + each->counts.local_tx_dropped, 0U);
}

TEST_F(LocalPair, RingsArePreparedUntilTheyStand)
{
	EXPECT_FALSE(a.port->prepares(b.qpn(), monotonic_ns()));
	EXPECT_FALSE(a.send(b, 1));
	EXPECT_TRUE(a.port->prepares(b.qpn(), monotonic_ns())); /* it will be introduced, */
	EXPECT_TRUE(a.port->has_new_peers());
	a.turn();
	EXPECT_TRUE(a.port->prepares(b.qpn(), monotonic_ns())); /* and then waits for the answer, */
	EXPECT_FALSE(a.port->has_new_peers());
	EXPECT_TRUE(a.port->awaits_peers());
	EXPECT_FALSE(a.port->prepares(b.qpn(), monotonic_ns() + 1'000'000'000)); /* but no longer than a second */
	ASSERT_TRUE(turn_until({&a, &b}, [this] { return a.port->has_peers(); }));
	EXPECT_FALSE(a.port->prepares(b.qpn(), monotonic_ns()));
}

TEST_F(LocalPair, AChildHasNoneOfItsParentsRings)
{
	introduce();
	const pid_t child = ::fork();
	if (!child) {
		const bool none = !a.send(b, 66) && a.port->receive(a.inbox, monotonic_ns(), 64) == 0;
		a.turn();
		a.port.reset();
		b.port.reset();
		::_exit(none ? 0 : 1);
	}
	int status = 0;
	ASSERT_EQ(::waitpid(child, &status, 0), child);
	EXPECT_EQ(status, 0);
	ASSERT_TRUE(a.send(b, 7));
	ASSERT_TRUE(turn_until({&a, &b}, [this] { return !b.inbox.packets.empty(); }));
	EXPECT_EQ(b.inbox.packets[0], Bytes(100, 7));
	EXPECT_TRUE(a.port->has_peers());
}

TEST_F(LocalPair, AKilledPeerIsLetGo)
{
	const pid_t child = ::fork();
	if (!child) {
		End c;
		while (true) {
			(void)c.send(b, 3);
			c.turn();
		}
	}
	ASSERT_TRUE(turn_until({&b}, [this] { return b.port->has_peers() && b.inbox.packets.size() > 100; }));
	::kill(child, SIGKILL);
	::waitpid(child, nullptr, 0);
	EXPECT_TRUE(turn_until({&b}, [this] { return !b.port->has_peers(); }));
	EXPECT_EQ(b.counts.local_broken, 0U);
	for (const Bytes &packet : b.inbox.packets)
		ASSERT_EQ(packet, Bytes(100, 3));
}

TEST_F(LocalPair, AnotherUserIsSentAway)
{
	if (::geteuid() != 0)
		GTEST_SKIP() << "needs root to be another user as well";
	const pid_t child = ::fork();
	if (!child) {
		if (::setresuid(65534, 65534, 65534) < 0)
			::_exit(9);
		End c;
		for (int i = 0; i < 200; i++) {
			(void)c.send(b, 3);
			c.turn();
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		}
		::_exit(c.port->has_peers() ? 1 : 0);
	}
	int status = 0;
	while (::waitpid(child, &status, WNOHANG) == 0)
		b.turn();
	EXPECT_EQ(status, 0);
	EXPECT_FALSE(b.port->has_peers());
	EXPECT_TRUE(b.inbox.packets.empty());
}

TEST_F(Stranger, WithoutHelloIsForgotten)
{
	std::vector<FileDescriptor> many;
	for (int i = 0; i < 100; i++)
		many.push_back(call());
	b.turn();
	introduce(); /* the visitor is in the way of no other */
}

TEST_F(Stranger, HelloThatIsNoneIsRefused)
{
	const FileDescriptor connection = call();
	ASSERT_EQ(::send(connection.get(), "hello", 5, 0), 5);
	expect_refusal(connection);
	const FileDescriptor empty = call();
	Hello hello{.slot = number, .address_count = 1};
	ASSERT_EQ(::send(empty.get(), &hello, sizeof(hello), 0), static_cast<ssize_t>(sizeof(hello)));
	expect_refusal(empty); /* without files */
}

TEST_F(Stranger, FilesThatAreNotSoundAreRefused)
{
	const std::array<std::array<int, 2>, 3> wrong{
		{{bell.get(), rings.get()}, {rings.get(), rings.get()}, {b.slot->fd(), bell.get()}}};
	for (const auto &files : wrong) {
		const FileDescriptor connection = call();
		ASSERT_TRUE(send_hello(connection.get(), number, {&address, 1}, files));
		expect_refusal(connection);
	}
	const FileDescriptor shrinks(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	ASSERT_EQ(::ftruncate(shrinks.get(), rings_bytes), 0);
	const FileDescriptor connection = call();
	ASSERT_TRUE(send_hello(connection.get(), number, {&address, 1}, std::array{shrinks.get(), bell.get()}));
	expect_refusal(connection);
	const FileDescriptor one = call();
	ASSERT_TRUE(send_hello(one.get(), number, {&address, 1}, std::array{rings.get()}));
	expect_refusal(one);
}

TEST_F(Stranger, NumbersThatCannotBeAreRefused)
{
	for (const unsigned slot : {0U, slot_limit, ~0U, b.slot->number()}) {
		const FileDescriptor connection = call();
		ASSERT_TRUE(send_hello(connection.get(), slot, {&address, 1}, std::array{rings.get(), bell.get()}));
		expect_refusal(connection);
	}
	const FileDescriptor connection = call(); /* without an address */
	ASSERT_TRUE(send_hello(connection.get(), number, {}, std::array{rings.get(), bell.get()}));
	expect_refusal(connection);
}

TEST_F(Stranger, WhoLiesInTheRingIsLetGo)
{
	for (const RecordHeader header : {RecordHeader{.length = 5}, {.length = 64, .source = 1},
		     {.length = 64, .destination = 1}, {.length = wrap_mark}}) {
		const FileDescriptor made = create_shared_file("test", rings_bytes);
		const Mapping memory(made.get(), rings_bytes);
		const FileDescriptor connection = call();
		const std::uint64_t before = b.counts.local_broken;
		ASSERT_TRUE(send_hello(connection.get(), number, {&address, 1}, std::array{made.get(), bell.get()}));
		ASSERT_TRUE(turn_until({&b}, [this] { return b.port->has_peers(); }));
		std::memcpy(memory.get() + 4096, &header, sizeof(header));
		reinterpret_cast<RingIndices *>(memory.get())->head = 2 * record_alignment;
		EXPECT_TRUE(turn_until({&b}, [this] { return !b.port->has_peers(); }));
		EXPECT_EQ(b.counts.local_broken, before + 1);
	}
	EXPECT_TRUE(b.inbox.packets.empty());
}

TEST_F(Stranger, WhoSaysMoreThanAWakeUpIsLetGo)
{
	const FileDescriptor connection = call();
	ASSERT_TRUE(send_hello(connection.get(), number, {&address, 1}, std::array{rings.get(), bell.get()}));
	ASSERT_TRUE(turn_until({&b}, [this] { return b.port->has_peers(); }));
	ASSERT_EQ(::send(connection.get(), "wake up", 7, 0), 7);
	EXPECT_TRUE(turn_until({&b}, [this] { return !b.port->has_peers(); }));
}

} // namespace
