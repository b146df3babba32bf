/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Messages that other processes of the host may send to a process's socket. */
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../descriptor_limit.hpp"
#include "cm/local.hpp"

using namespace prism::cm;

namespace
{

constexpr uid_t somebody_else = 65534;

std::string own_name()
{
	return "prism-cm-test/" + std::to_string(::getpid());
}

Envelope envelope(bool from_network)
{
	Envelope made;
	made.magic = Envelope::expected_magic;
	made.from_network = from_network;
	return made;
}

bool send(bool from_network, const std::string &to)
{
	const FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	return send_to(socket.get(), to, envelope(from_network)) == Delivery::done;
}

/** Sends from a child as another user; needs root. */
bool send_as_somebody_else(bool from_network, const std::string &to)
{
	const pid_t child = ::fork();
	if (child == 0)
		::_exit(::setuid(somebody_else) == 0 && send(from_network, to) ? 0 : 1);
	int status = 0;
	EXPECT_EQ(::waitpid(child, &status, 0), child);
	return status == 0;
}

/** Returns the sender of messages from the socket named @p name; nobody if it has no name. */
Sender heard_as(const FileDescriptor &listener, const std::string &name)
{
	int budget = 8;
	const FileDescriptor speaker =
		name.empty() ? FileDescriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) : claim_name(name);
	EXPECT_EQ(send_to(speaker.get(), own_name(), envelope(false)), Delivery::done);
	const std::optional<Received> received = receive_from(listener.get(), budget);
	EXPECT_TRUE(received);
	return received ? received->sender : Sender{};
}

bool arrives(const FileDescriptor &socket)
{
	int budget = 8;
	return receive_from(socket.get(), budget).has_value();
}

} // namespace

TEST(CmLocal, TakesWhatItsOwnUserHandsOn)
{
	const FileDescriptor mine = claim_name(own_name());
	ASSERT_TRUE(mine);
	for (const bool from_network : {false, true}) {
		ASSERT_TRUE(send(from_network, own_name()));
		EXPECT_TRUE(arrives(mine)) << from_network;
	}
}

/* Clients and servers may belong to different users, but only processes of one user share QP 1. */
TEST(CmLocal, OtherUsersSpeakForThemselvesAlone)
{
	if (::getuid() != 0)
		GTEST_SKIP() << "needs root, to be somebody else";
	const FileDescriptor mine = claim_name(own_name());
	ASSERT_TRUE(mine);
	const std::string name = own_name();
	ASSERT_TRUE(send_as_somebody_else(false, name));
	EXPECT_TRUE(arrives(mine));
	ASSERT_TRUE(send_as_somebody_else(true, name));
	EXPECT_FALSE(arrives(mine));
	ASSERT_TRUE(send(true, name));
	EXPECT_TRUE(arrives(mine)) << "what was thrown away is not in the way";
}

TEST(CmLocal, ANameIsInUseUntilItsOwnerIsGone)
{
	FileDescriptor mine = claim_name(own_name());
	ASSERT_TRUE(mine);
	EXPECT_EQ(name_in_use(own_name()), EADDRINUSE);
	mine = FileDescriptor();
	EXPECT_EQ(name_in_use(own_name()), 0);
}

/* Otherwise the process would take all its peers of the host for dead, and end its connections. */
TEST(CmLocal, WithoutDescriptorsNobodyCountsAsGone)
{
	const FileDescriptor mine = claim_name(own_name());
	ASSERT_TRUE(mine);
	const prism::test::DescriptorLimit none;
	EXPECT_EQ(name_in_use(own_name()), EMFILE);
}

TEST(CmLocal, SaysInWhoseNameAMessageComes)
{
	const FileDescriptor mine = claim_name(own_name());
	ASSERT_TRUE(mine);
	constexpr std::uint16_t process = 65521;
	const Sender sender = heard_as(mine, process_name(process));
	EXPECT_EQ(sender.process, process);
	EXPECT_EQ(sender.pid, ::getpid());
	for (const char *other : {"", "prism-cm/process/", "prism-cm/process/065521", "prism-cm/process/65521x",
		     "prism-cm/process/131057", "prism-cm-test/65521"})
		EXPECT_EQ(heard_as(mine, other).process, 0) << other;
}

TEST(CmLocal, AProcessLivesUntilItHasEnded)
{
	const pid_t child = ::fork();
	if (child == 0)
		::_exit(::pause());
	EXPECT_TRUE(may_live(child));
	::kill(child, SIGKILL);
	siginfo_t ended;
	ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
	EXPECT_FALSE(may_live(child)) << "its parent has not asked for its end yet";
	{
		const prism::test::DescriptorLimit none;
		EXPECT_TRUE(may_live(child)) << "who cannot look does not know";
	}
	ASSERT_EQ(::waitpid(child, nullptr, 0), child);
	EXPECT_FALSE(may_live(child));
}
