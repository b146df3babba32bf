/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Sides that stop, hang, or come back again and again. */
#include "support.hpp"

#include "common/descriptor.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace
{

using namespace calls;

class Endurance : public testing::TestWithParam<Way>
{
protected:
	ClientOptions options(std::uint32_t depth = 1) const
	{
		ClientOptions made;
		made.way = GetParam();
		made.depth = depth;
		return made;
	}
};

/* Its device goes on to answer READs and to acknowledge: that is no answer to a call. */
TEST_P(Endurance, AServerThatHangs)
{
	Served served(GetParam());
	ClientOptions impatient = options(2);
	impatient.patience = 300ms;
	const auto link = served.connect(impatient);
	Caller caller(*link);
	served.echo.held = true;
	caller.begin(0, {100, 0, 1});
	const auto end = std::chrono::steady_clock::now() + 5s;
	while (!link->broken() && std::chrono::steady_clock::now() < end)
		link->poll(caller);
	served.echo.held = false;
	EXPECT_EQ(link->broken(), ETIMEDOUT);
}

/* What is kept of a client does not grow with each time that it comes back, so it never becomes too much. */
TEST_P(Endurance, ComesBackAgainAndAgain)
{
	Served served(GetParam());
	ClientOptions wanted = options(16);
	wanted.resumable = true;
	auto link = served.connect(wanted);
	Caller caller(*link);
	std::uint64_t calls = 0;
	constexpr std::size_t most = Departed::most_bytes;
	for (std::size_t kept = 0; kept < most + most / 16; kept += 16 * longest_response) {
		caller.run(16, [&] { return Wish{longest_response, 0, ++calls}; });
		link->break_off(ECONNRESET);
		auto next = served.resume(*link);
		ASSERT_TRUE(next) << "after " << calls << " calls: " << next.error().message;
		caller.move_to(**next);
		link = *std::move(next);
	}
	caller.run(16, [&] { return Wish{100, 0, ++calls}; });
	EXPECT_EQ(caller.answered, calls);
	EXPECT_EQ(served.echo.executed, calls);
}

/* Clients wait until there are some; why they wait is in the log, once. */
TEST(Descriptors, RunOut)
{
#ifdef __SANITIZE_ADDRESS__
	GTEST_SKIP() << "the sanitizer opens pipes itself, to see whether memory is there";
#endif
	Served served(Way::two_sided);
	apps::Descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	rlimit usual{};
	ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
	rlimit few = usual;
	few.rlim_cur = 256;
	ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
	std::vector<apps::Descriptor> taken;
	for (int fd = 0; fd >= 0;) {
		fd = ::fcntl(0, F_DUPFD_CLOEXEC, 0);
		taken.emplace_back(fd);
	}
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_port = htons(served.port());
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
	EXPECT_TRUE(wait_until([&] { return served.log.has("raise the limit of open files"); })) << served.log.text();
	std::this_thread::sleep_for(300ms);
	EXPECT_EQ(served.stats().refused, 1u);
	taken.clear();
	ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
	const auto link = served.connect({});
	Caller caller(*link);
	caller.run(3, [] { return Wish{100, 0, 2}; });
	EXPECT_EQ(caller.answered, 3u);
}

INSTANTIATE_TEST_SUITE_P(All, Endurance,
	testing::Values(Way::two_sided, Way::reply, Way::fetch, Way::slots, Way::window, Way::datagram), name_of);

} // namespace
