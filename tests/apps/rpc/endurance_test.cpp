/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Sides that stop, hang, or come back again and again. */
#include "support.hpp"

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

INSTANTIATE_TEST_SUITE_P(All, Endurance,
	testing::Values(Way::two_sided, Way::reply, Way::fetch, Way::slots, Way::window, Way::datagram), name_of);

} // namespace
