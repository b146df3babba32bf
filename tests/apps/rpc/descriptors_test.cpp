/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Server that has no descriptors left. A program of its own: the sanitizers need descriptors themselves. */
#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <fcntl.h>

#include <chrono>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "support.hpp"

namespace
{

using namespace calls;

/* Clients wait until descriptors are free; the log says why, once. */
TEST(Descriptors, RunOut)
{
	Served served(Way::two_sided);
	Descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	rlimit usual{};
	ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
	rlimit few = usual;
	few.rlim_cur = 256;
	ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
	std::vector<Descriptor> taken;
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

} // namespace
