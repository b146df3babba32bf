/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes that speak the latch protocol, on a LatchNet. */
#pragma once

#include <memory>

#include "latch_net.hpp"
#include "nodes.hpp"

namespace gam_test
{

struct LatchNodes : Nodes<LatchNet, Latch> {
	LatchNet::Shape shape;

	void make()
	{
		join(std::make_unique<LatchNet>(shape));
		net->on_freed_twice = [] { ADD_FAILURE() << "a buffer is given back that is in use"; };
	}
	void SetUp() override { make(); }

	void await(const Ask &ask) override
	{
		for (int turns = 0; turns < 100 && !ask.is_over; turns++) {
			net->tick();
			net->run();
		}
	}

	/** Checks that lines and entries agree, and that each buffer is in one place. @p lost: or in none. */
	void expect_rest(bool lost = false)
	{
		EXPECT_TRUE(net->run_to_rest());
		EXPECT_EQ(net->disorder(lost), "");
	}
};

} // namespace gam_test
