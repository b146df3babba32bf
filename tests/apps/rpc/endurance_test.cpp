/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Clients and servers that stop, hang, or come back again and again. */
#include "support.hpp"

namespace
{

using namespace calls;

class Endurance : public ByEachWay
{
};

/* The server's device goes on answering READs and acknowledging: that is no answer to a call. */
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

/* Data kept for a client does not grow with each return, so it never becomes too much. */
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

INSTANTIATE_TEST_SUITE_P(All, Endurance, every_way(), name_of_parameter);

} // namespace
