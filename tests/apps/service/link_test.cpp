/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A client's end of a connection, and a server that is none of ours. */
#include <gtest/gtest.h>

#include <prism/connection.hpp>
#include <prism/device.hpp>
#include <prism/queue_pair.hpp>

#include <cerrno>
#include <chrono>
#include <cstdint>

#include "service/server_link.hpp"

namespace
{

using namespace prism;
using namespace std::chrono_literals;

constexpr apps::ControlKind question = apps::question_of(apps::Application::tx, 1);

class Linked : public testing::Test
{
protected:
	void send(std::uint64_t first, std::uint64_t count)
	{
		apps::ControlChannel channel(server_.fd());
		for (std::uint64_t value = first; value < first + count; value++)
			ASSERT_EQ(channel.send({question, value}), 0);
	}

private:
	Context context_ = Context::open("prism_lo", Progress::caller).value();
	ProtectionDomain pd_ = ProtectionDomain::create(context_).value();
	CompletionQueue cq_ = CompletionQueue::create(context_, 16).value();
	TcpListener listener_ = TcpListener::create(0, "127.0.0.1").value();

protected:
	apps::ServerLink link{TcpRendezvous::connect("127.0.0.1", listener_.port(), 2s).value(),
		QueuePair::create(pd_, cq_, cq_).value()};

private:
	TcpRendezvous server_ = listener_.accept(2s).value();
};

TEST_F(Linked, MuchIsHeardInSeveralTurns)
{
	constexpr std::uint64_t all = 300;
	send(0, all);
	std::uint64_t heard = 0;
	unsigned turns = 0;
	for (; heard < all && turns < all; turns++) {
		ASSERT_EQ(link.talk(0, 0, 0), 0);
		while (const auto message = link.take_question())
			EXPECT_EQ(message->value, heard++);
	}
	EXPECT_EQ(heard, all);
	EXPECT_GE(turns, 4u) << "the client has other things to do between them";
}

TEST_F(Linked, WhoAsksMoreThanAnybodyCouldAnswerIsLeft)
{
	int error = 0;
	for (unsigned turn = 0; turn < 1000 && !error; turn++) {
		send(0, 10);
		error = link.talk(0, 0, 0);
	}
	EXPECT_EQ(error, EPROTO);
}

} // namespace
