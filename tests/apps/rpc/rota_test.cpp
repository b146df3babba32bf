/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Order in which a worker looks for calls: none is forgotten, and idle connections cost little. */
#include <gtest/gtest.h>

#include <vector>

#include "rpc/server/rota.hpp"

namespace
{

struct Caller {
	unsigned looks = 0;
	bool calls = false;
};

class RotaTest : public testing::Test
{
protected:
	static constexpr std::size_t count = 100;

	RotaTest() : callers(count)
	{
		for (Caller &caller : callers)
			rota.add(caller);
	}

	bool turn(bool everybody = false)
	{
		return rota.turn(
			[](Caller &caller) {
				caller.looks++;
				return caller.calls;
			},
			everybody);
	}

	unsigned looks_of_turn(bool everybody = false)
	{
		for (Caller &caller : callers)
			caller.looks = 0;
		turn(everybody);
		unsigned sum = 0;
		for (const Caller &caller : callers)
			sum += caller.looks;
		return sum;
	}

	void let_all_rest()
	{
		for (std::uint32_t i = 0; i <= Rota::patience; i++)
			EXPECT_FALSE(turn());
	}

	using Rota = prism::rpc::Rota<Caller>;
	std::vector<Caller> callers;
	Rota rota{count};
};

TEST_F(RotaTest, WhoIsNewHasALookInEveryTurn)
{
	EXPECT_EQ(looks_of_turn(), count);
}

TEST_F(RotaTest, OfTheIdleSomeHaveALook)
{
	let_all_rest();
	EXPECT_EQ(looks_of_turn(), Rota::some);
}

TEST_F(RotaTest, AllOfTheIdleHaveTheirTurn)
{
	let_all_rest();
	for (Caller &caller : callers)
		caller.looks = 0;
	for (std::size_t i = 0; i <= count / Rota::some; i++)
		turn();
	for (const Caller &caller : callers)
		EXPECT_GE(caller.looks, 1u);
}

TEST_F(RotaTest, EverybodyHasALookIfAsked)
{
	let_all_rest();
	EXPECT_EQ(looks_of_turn(true), count);
}

TEST_F(RotaTest, WhoCallsHasALookInEveryTurnAgain)
{
	let_all_rest();
	callers[50].calls = true;
	bool found = false;
	for (std::size_t i = 0; i <= count / Rota::some; i++)
		found |= turn();
	EXPECT_TRUE(found);
	EXPECT_EQ(looks_of_turn(), Rota::some + 1);
	EXPECT_EQ(callers[50].looks, 1u);
}

TEST_F(RotaTest, WhoIsRemovedHasNone)
{
	rota.remove(callers[0]);
	let_all_rest();
	rota.remove(callers[1]);
	EXPECT_EQ(looks_of_turn(true), count - 2);
	EXPECT_EQ(callers[0].looks + callers[1].looks, 0u);
}

TEST_F(RotaTest, TheLastIsRemoved)
{
	let_all_rest();
	for (const Caller &caller : callers)
		rota.remove(caller);
	EXPECT_EQ(looks_of_turn(), 0u);
	EXPECT_EQ(looks_of_turn(true), 0u);
}

} // namespace
