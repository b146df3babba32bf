/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Local ports of two contexts in one process, and a stranger of the same user that sends arbitrary messages to one. */
#pragma once

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "net/interfaces.hpp"
#include "net/local/local_port.hpp"

namespace prism::test
{

using namespace prism::soft;
using prism::monotonic_ns;

using Bytes = std::vector<std::uint8_t>;

class Inbox final : public PacketHandler
{
public:
	void receive(const Route &route, std::span<const std::uint8_t> packet, Time) override
	{
		packets.emplace_back(packet.begin(), packet.end());
		routes.push_back(route);
	}

	std::vector<Bytes> packets;
	std::vector<Route> routes;
};

/* Claims a free slot. */
inline Slot claim_slot()
{
	for (unsigned number = 300 + static_cast<unsigned>(::getpid()) % 500;; number++)
		if (std::optional<Slot> slot = Slot::claim(number))
			return std::move(*slot);
}

/* A slot, and its port. */
struct End {
	/** @param sibling another end of the same context */
	explicit End(const End *sibling = nullptr)
	{
		slot = claim_slot();
		address = loopback_address(slot->number());
		port = LocalPort::open(
			slot->number(), {address}, {&total, &counts}, sibling ? sibling->port.get() : nullptr);
	}

	[[nodiscard]] std::uint32_t qpn() const { return slot->number() << qpn_index_bits | 17; }

	bool send(const End &to, std::uint8_t first, std::size_t size = 100)
	{
		std::uint8_t *const room = port->begin(0, to.address, to.qpn(), size);
		if (!room)
			return false;
		std::fill_n(room, size, first);
		port->commit();
		port->flush();
		return true;
	}

	void turn(int most = 64)
	{
		port->look_soon();
		port->look_after(inbox, monotonic_ns());
		(void)port->newcomer_waits();
		port->receive(inbox, monotonic_ns(), most);
		port->flush();
	}

	std::optional<Slot> slot;
	Address address;
	PortCounters total;
	LocalCounters counts;
	std::unique_ptr<LocalPort> port;
	Inbox inbox;
};

inline bool turn_until(std::initializer_list<End *> ends, const std::function<bool()> &done)
{
	const Time until = monotonic_ns() + 5'000'000'000;
	while (!done()) {
		if (monotonic_ns() > until)
			return false;
		for (End *end : ends)
			end->turn();
	}
	return true;
}

class LocalPair : public testing::Test
{
protected:
	void introduce()
	{
		ASSERT_TRUE(a.port && b.port);
		EXPECT_FALSE(a.send(b, 1)); /* not yet: takes the other path */
		ASSERT_TRUE(turn_until({&a, &b}, [this] { return a.port->has_peers() && b.port->has_peers(); }));
	}

	End a, b;
};

/* A stranger of our own user that sends arbitrary messages. */
class Stranger : public LocalPair
{
protected:
	/* Connects to b; requests for the stranger's credentials are answered before. */
	FileDescriptor call()
	{
		while (accept_introduction(name.get()))
			;
		return connect_to_slot(b.slot->number());
	}

	void expect_refusal(const FileDescriptor &connection)
	{
		const std::uint64_t before = b.counts.local_refused;
		ASSERT_TRUE(turn_until({&b}, [&] { return b.counts.local_refused > before; }));
		EXPECT_FALSE(b.port->has_peers());
		char byte;
		ssize_t got = 1;
		while ((got = ::recv(connection.get(), &byte, 1, MSG_DONTWAIT)) > 0)
			;
		EXPECT_EQ(got, 0); /* closed */
	}

	static constexpr std::size_t rings_bytes = 4096 + 2 * ring_bytes;
	const FileDescriptor rings = create_shared_file("test", rings_bytes);
	const FileDescriptor bell = create_shared_file("test", bell_bytes);
	const Slot claimed = claim_slot();
	const unsigned number = claimed.number();
	const FileDescriptor name = listen_for_introductions(number);
	const Address address = loopback_address(number);
};

} // namespace prism::test
