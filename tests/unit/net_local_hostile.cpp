/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The local path where something is short, and beside peers that do what they can to be in the way. */
#include <linux/sockios.h>
#include <malloc.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include <array>
#include <new>

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
	return ::mallinfo2().uordblks;
#endif
}

TEST_F(Stranger, RefusedAgainAndAgainTakesNoMemory)
{
	const auto visit = [&] {
		const FileDescriptor connection = call();
		ASSERT_TRUE(connection);
		ASSERT_TRUE(send_hello(connection.get(), 2, {&address, 1}, std::array{bell.get(), rings.get()}));
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

/* However fast it is, others have their turn. */
TEST_F(Stranger, WhoRingsAllTheTimeIsHeardOnlyABitEachTurn)
{
	const FileDescriptor connection = call();
	ASSERT_TRUE(send_hello(connection.get(), 2, {&address, 1}, std::array{rings.get(), bell.get()}));
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

} // namespace
