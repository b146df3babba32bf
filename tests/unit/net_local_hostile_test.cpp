/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The local path when a resource is short, and beside hostile peers. */
#include <linux/sockios.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <random>
#include <thread>

#include "../descriptor_limit.hpp"
#include "allocations.hpp"
#include "local_pair.hpp"

#ifdef __SANITIZE_ADDRESS__
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

using namespace prism::test;

namespace
{

std::size_t allocated_bytes()
{
#ifdef __SANITIZE_ADDRESS__
	return __sanitizer_get_current_allocated_bytes();
#else
	const auto info = ::mallinfo2();
	return info.uordblks + info.hblkhd;
#endif
}

TEST_F(Stranger, RefusedAgainAndAgainTakesNoMemory)
{
	const auto visit = [&] {
		const FileDescriptor connection = call();
		ASSERT_TRUE(connection);
		ASSERT_TRUE(send_hello(connection.get(), number, {&address, 1}, std::array{bell.get(), rings.get()}));
		b.turn();
	};
	for (int i = 0; i < 100; i++)
		visit();
	const std::size_t before = allocated_bytes();
	for (int i = 0; i < 10'000; i++)
		visit();
	EXPECT_GE(b.counts.local_refused, 10'000U);
	EXPECT_LT(allocated_bytes(), before + 4096);
}

/* However fast it rings, others have their turn. */
TEST_F(Stranger, WhoRingsAllTheTimeIsHeardOnlyABitEachTurn)
{
	const FileDescriptor connection = call();
	ASSERT_TRUE(send_hello(connection.get(), number, {&address, 1}, std::array{rings.get(), bell.get()}));
	ASSERT_TRUE(turn_until({&b}, [this] { return b.port->has_peers(); }));
	while (::send(connection.get(), "", 1, MSG_DONTWAIT) == 1)
		;
	const auto unheard = [&] {
		int bytes = 0;
		EXPECT_EQ(::ioctl(connection.get(), SIOCOUTQ, &bytes), 0);
		return bytes;
	};
	b.turn();
	EXPECT_GT(unheard(), 0);
	EXPECT_TRUE(turn_until({&b}, [&] { return unheard() == 0; }));
	EXPECT_TRUE(b.port->has_peers());
	introduce();
}

TEST_F(Stranger, ManyThatSayNothingKeepNobodyAwakeNorOut)
{
	std::vector<FileDescriptor> many;
	for (int i = 0; i < 100; i++)
		many.push_back(call());
	for (int i = 0; i < 100; i++)
		b.turn();
	EXPECT_TRUE(b.port->prepare_sleep());
	b.port->attend();
	introduce();
}

TEST_F(Stranger, AddressesOfOtherHostsAreNotBelieved)
{
	const std::array<Address, 2> told{address, Address{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1}}};
	const Mapping memory(rings.get(), rings_bytes);
	const FileDescriptor connection = call();
	ASSERT_TRUE(send_hello(connection.get(), number, told, std::array{rings.get(), bell.get()}));
	ASSERT_TRUE(turn_until({&b}, [this] { return b.port->has_peers(); }));
	EXPECT_NE(b.port->begin(0, told[0], number << qpn_index_bits, 100), nullptr);
	EXPECT_EQ(b.port->begin(0, told[1], number << qpn_index_bits, 100), nullptr);
	StagedRecord staging{};
	RingProducer ring({reinterpret_cast<RingIndices *>(memory.get()), memory.get() + 4096}, &staging);
	ASSERT_NE(ring.begin({.length = 64, .source = 1}), nullptr);
	ring.commit();
	ring.publish();
	ASSERT_TRUE(turn_until({&b}, [this] { return b.total.rx_packets > 0 || !b.port->has_peers(); }));
	for (const Route &route : b.inbox.routes)
		EXPECT_NE(route.from, told[1]);
}

/* The claim comes from another process: ours has the slot. */
TEST_F(Stranger, WhoClaimsAnothersSlotIsRefused)
{
	End c;
	const pid_t child = ::fork();
	if (!child) {
		const FileDescriptor connection = connect_to_slot(b.slot->number());
		if (!connection || !send_hello(connection.get(), c.slot->number(), {&c.address, 1},
					   std::array{rings.get(), bell.get()}))
			::_exit(9);
		::_exit(::pause());
	}
	EXPECT_TRUE(turn_until({&b}, [this] { return b.counts.local_refused > 0 || b.port->has_peers(); }));
	EXPECT_FALSE(b.port->has_peers());
	EXPECT_TRUE(turn_until({&b, &c}, [&] { return b.send(c, 1) && c.send(b, 1); }));
	EXPECT_TRUE(turn_until({&b, &c}, [&] { return !c.inbox.packets.empty(); }));
	EXPECT_EQ(c.counts.local_refused, 0U); /* a request for its credentials is no visitor */
	::kill(child, SIGKILL);
	::waitpid(child, nullptr, 0);
}

/* The receiver takes as much as arrives, but never all: the backlog must not grow. */
TEST_F(LocalPair, APeerThatIsAlwaysBehindTakesLittleMemory)
{
	introduce();
	for (int i = 0; i < 100; i++)
		ASSERT_TRUE(a.send(b, 0, 4000));
	const std::size_t before = allocated_bytes();
	for (unsigned i = 1; i < 20'000; i++) {
		ASSERT_TRUE(a.send(b, static_cast<std::uint8_t>(i), 4000));
		b.turn(1);
		b.inbox.packets.clear();
		b.inbox.routes.clear();
	}
	EXPECT_LT(allocated_bytes(), before + (4 << 20));
	EXPECT_EQ(a.counts.local_tx_dropped, 0U);
	const auto last = static_cast<std::uint8_t>(19'999);
	EXPECT_TRUE(turn_until(
		{&a, &b}, [&] { return !b.inbox.packets.empty() && b.inbox.packets.back() == Bytes(4000, last); }));
	EXPECT_GE(b.counts.local_rx_packets, 20'099U);
}

/* Packets that wait for the previous process on the slot are not for the next one. */
TEST_F(LocalPair, WhoComesAgainOnItsSlotIsWelcome)
{
	introduce();
	for (std::uint8_t i = 0; i < 10; i++) {
		for (int n = 0; n < 40; n++)
			(void)b.send(a, 99, 4000);
		a.port.reset();
		a.inbox.packets.clear();
		b.inbox.packets.clear();
		a.port = LocalPort::open(a.slot->number(), {a.address}, {&a.total, &a.counts});
		ASSERT_TRUE(turn_until({&a, &b}, [&] { return a.send(b, i); }));
		ASSERT_TRUE(turn_until({&a, &b}, [&] { return b.send(a, i); }));
		ASSERT_TRUE(turn_until({&a, &b}, [&] { return !a.inbox.packets.empty() && !b.inbox.packets.empty(); }));
		EXPECT_EQ(a.inbox.packets.front(), Bytes(100, i));
		EXPECT_EQ(b.inbox.packets.front(), Bytes(100, i));
	}
	EXPECT_EQ(b.counts.local_broken, 0U);
}

TEST(LocalCrowd, ContextsOfOneProcessTalkAsOthersDo)
{
	std::vector<End> all(16);
	unsigned left = 16 * 15;
	const Time until = monotonic_ns() + 20'000'000'000;
	while (left && monotonic_ns() < until) {
		left = 16 * 15;
		for (End &from : all)
			for (const End &to : all)
				left -= &from != &to && from.send(to, 1);
		for (End &end : all)
			end.turn();
	}
	EXPECT_EQ(left, 0U);
	for (End &end : all) {
		EXPECT_EQ(end.port->peers().size(), 15U);
		end.inbox.packets.clear();
		end.turn();
	}
	all.erase(all.begin() + 4, all.end());
	const Time end_by = monotonic_ns() + 5'000'000'000;
	for (End &end : all) {
		while (end.port->peers().size() > 3 && monotonic_ns() < end_by)
			end.turn();
		EXPECT_EQ(end.port->peers().size(), 3U);
	}
}

/* A step that fails for lack of memory succeeds once there is memory again. */
TEST(LocalExhaustion, MemoryThatIsShortIsNoEnd)
{
	const auto starved = [](End &end, int left) {
		allocations_left = left;
		try {
			end.turn();
		} catch (const std::bad_alloc &) {
			/* a context handles it so */
		}
		allocations_left = -1;
	};
	for (int left = 0; left < 8; left++) {
		End a, b, c;
		for (End *const from : {&a, &b, &c})
			for (End *const to : {&a, &b, &c})
				(void)from->send(*to, 1);
		for (int i = 0; i < 4; i++)
			for (End *const end : {&a, &b, &c})
				starved(*end, left);
		EXPECT_TRUE(turn_until({&a, &b, &c}, [&] {
			return a.send(b, 1) && b.send(a, 1) && a.send(c, 1) && c.send(a, 1) && b.send(c, 1) &&
			       c.send(b, 1);
		})) << left;
	}
}

/* The handler has no memory for the last packet of a full ring: the packet is lost, but its room in the ring is not. */
TEST_F(LocalPair, ALostPacketTakesNoRoom)
{
	class Forgetful final : public PacketHandler
	{
	public:
		void receive(const Route &, std::span<const std::uint8_t>, Time) override
		{
			if (++count == last)
				throw std::bad_alloc();
		}
		unsigned count = 0, last = 0;
	} handler;
	introduce();
	while (a.port->room(0, b.address, b.qpn()) == Room::yes) {
		ASSERT_TRUE(a.send(b, 1, 4000));
		handler.last++;
	}
	(void)b.port->newcomer_waits();
	EXPECT_THROW(b.port->receive(handler, monotonic_ns(), 1000), std::bad_alloc);
	(void)b.port->receive(handler, monotonic_ns(), 1000);
	EXPECT_EQ(handler.count, handler.last);
	EXPECT_EQ(a.port->room(0, b.address, b.qpn()), Room::yes);
}

/* Packets that it sent before by the other path are taken first, as if it were still there. */
TEST_F(LocalPair, ANewcomerThatEndsAtOnceOvertakesNothing)
{
	introduce();
	ASSERT_TRUE(a.send(b, 5));
	a.port.reset();
	b.port->look_soon();
	b.port->look_after(b.inbox, monotonic_ns());
	EXPECT_TRUE(b.inbox.packets.empty());
	EXPECT_TRUE(b.port->newcomer_waits());
	ASSERT_TRUE(turn_until({&b}, [this] { return !b.port->has_peers(); }));
	EXPECT_EQ(b.inbox.packets.size(), 1U);
}

TEST_F(LocalPair, DescriptorsThatAreShortAreNoEnd)
{
	EXPECT_FALSE(a.send(b, 1));
	a.turn(); /* its hello waits */
	{
		const DescriptorLimit now_on;
		for (int i = 0; i < 20; i++)
			b.turn();
		EXPECT_FALSE(b.port->has_peers());
		EXPECT_TRUE(b.port->prepare_sleep());
		b.port->attend();
	}
	EXPECT_TRUE(turn_until({&a, &b}, [this] { return a.port->has_peers() && b.port->has_peers(); }));
}

/* Contexts have several ports, and processes several contexts. */
TEST(LocalPorts, TogetherTakeHalfOfTheDescriptors)
{
	const FileDescriptor lowest(::dup(STDIN_FILENO));
	const auto limit = static_cast<rlim_t>(lowest.get()) + 70;
	std::vector<std::unique_ptr<End>> ends;
	{
		const DescriptorLimit while_they_open(limit);
		for (int i = 0; i < 8; i++)
			ends.push_back(std::make_unique<End>());
	}
	for (int round = 0; round < 100; round++)
		for (const auto &end : ends) {
			for (const auto &other : ends)
				if (other != end)
					end->send(*other, 1);
			end->turn();
		}
	std::size_t connections = 0;
	for (const auto &end : ends)
		connections += end->port->peers().size();
	EXPECT_GT(connections, 0U);
	EXPECT_LE(connections, limit / 2);
}

TEST_F(LocalPair, WithoutDescriptorsNobodyIsTakenForElsewhere)
{
	Address v6{};
	v6.gid[15] = 1;
	if (!is_on_this_host(v6))
		GTEST_SKIP() << "needs ::1";
	b.port.reset();
	b.port = LocalPort::open(b.slot->number(), {v6}, {&b.total, &b.counts});
	b.address = v6;
	EXPECT_FALSE(a.send(b, 1));
	{
		const DescriptorLimit now_on;
		a.turn();
	}
	EXPECT_TRUE(turn_until({&a, &b}, [this] { return a.send(b, 1); }));
}

/* Users without a number in a user namespace all read as one number, which somebody in it may have as well. */
TEST_F(LocalPair, InAUserNamespaceStrangersAreNotTakenForUs)
{
	if (::geteuid() != 0)
		GTEST_SKIP() << "needs root to be another user as well";
	const pid_t child = ::fork();
	if (!child) {
		if (::setresuid(1234, 1234, 1234) < 0 || ::unshare(CLONE_NEWUSER) < 0)
			::_exit(9);
		::_exit(connect_to_slot(b.slot->number()) ? 1 : 0);
	}
	int status = 0;
	ASSERT_EQ(::waitpid(child, &status, 0), child);
	if (WEXITSTATUS(status) == 9)
		GTEST_SKIP() << "needs user namespaces";
	EXPECT_EQ(status, 0);
}

/* A peer that introduces itself and writes into all shared memory, again and again. */
class Scribbler
{
public:
	explicit Scribbler(unsigned victim) : victim_(victim) {}
	~Scribbler()
	{
		stop_ = true;
		thread_.join();
	}

	[[nodiscard]] unsigned slot() const { return slot_.number(); }

private:
	static constexpr std::size_t rings_bytes = 4096 + 2 * ring_bytes;

	void run()
	{
		for (unsigned i = 0; !stop_; i++) {
			while (accept_introduction(name_.get()))
				;
			const FileDescriptor connection = connect_to_slot(victim_);
			const FileDescriptor rings = create_shared_file("test", rings_bytes);
			const FileDescriptor bell = create_shared_file("test", bell_bytes);
			const Mapping memory(rings.get(), rings_bytes), page(bell.get(), bell_bytes);
			if (!connection || !memory || !page)
				continue;
			(void)send_hello(connection.get(), slot(), {&address_, 1}, std::array{rings.get(), bell.get()});
			scribble(memory, page, connection.get(), i);
		}
	}

	/* Scribbles over the shared memory, sometimes with so much sense that it is believed for a while. */
	void scribble(const Mapping &memory, const Mapping &page, int connection, unsigned round)
	{
		StagedRecord staging{};
		RingProducer honest({reinterpret_cast<RingIndices *>(memory.get()), memory.get() + 4096}, &staging);
		const unsigned sense = round % 4;
		for (unsigned i = 0; i < 400 && !stop_; i++) {
			if (sense && honest.begin({.length = 12 + static_cast<std::uint32_t>(random_()) % 4000})) {
				honest.commit();
				honest.publish();
			}
			auto *const word = reinterpret_cast<std::atomic<std::uint32_t> *>(page.get());
			word->store(static_cast<std::uint32_t>(random_()) % 3);
			if (random_() % 4 == 0)
				(void)::send(connection, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
			for (unsigned n = 0; n < (sense == 3 ? 1U : 64U) * (i > 40); n++)
				write_anywhere(memory);
			if (i % 64 == 0)
				std::this_thread::yield();
		}
	}

	void write_anywhere(const Mapping &memory)
	{
		const std::size_t limit = random_() % 4 ? rings_bytes : 4096;
		const std::size_t at = random_() % (limit / 64) * 64 + random_() % 2 * 4;
		auto *const word = reinterpret_cast<std::atomic<std::uint32_t> *>(memory.get() + at);
		const auto value = static_cast<std::uint32_t>(random_());
		word->store(value % 3 ? value % (2 * ring_bytes) / 64 * 64 : value);
	}

	const unsigned victim_;
	const Slot slot_ = claim_slot();
	const FileDescriptor name_ = listen_for_introductions(slot());
	const Address address_ = loopback_address(slot());
	std::mt19937 random_{7};
	std::atomic<bool> stop_{false};
	std::thread thread_{[this] { run(); }};
};

TEST_F(Stranger, WhoScribblesInAllThatItSharesHurtsNobody)
{
	introduce();
	const Scribbler one(b.slot->number()), two(a.slot->number());
	const Time until = monotonic_ns() + 2'000'000'000;
	unsigned exchanged = 0;
	for (std::uint8_t value = 0; monotonic_ns() < until; value++) {
		for (const unsigned slot : {one.slot(), two.slot()})
			for (End *const end : {&a, &b})
				for (int i = 0; i < 8; i++)
					if (end->port->begin(0, loopback_address(slot), slot << qpn_index_bits, 2000)) {
						end->port->commit();
						end->port->flush();
					}
		ASSERT_TRUE(a.send(b, value, 1000));
		ASSERT_TRUE(turn_until({&a, &b}, [&] {
			(void)b.port->prepare_sleep();
			b.port->attend();
			return std::ranges::find(b.inbox.packets, Bytes(1000, value)) != b.inbox.packets.end();
		}));
		exchanged++;
		for (End *const end : {&a, &b}) {
			end->inbox.packets.clear();
			end->inbox.routes.clear();
		}
	}
	EXPECT_GT(exchanged, 0U);
	EXPECT_GT(a.counts.local_broken + b.counts.local_broken, 0U);
	EXPECT_EQ(a.counts.local_tx_dropped, 0U);
}

} // namespace
