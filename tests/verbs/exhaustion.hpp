/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Every allocation of a verb fails once: the verb then returns ENOMEM, and works when it is called again. */
#pragma once

#include "../unit/allocations.hpp"
#include "harness.hpp"

#include <cerrno>

namespace verbs_test
{

using prism::test::allocations_left;

class Exhaustion : public Fabric
{
protected:
	/** Calls @p verb, which returns 0 or an errno, with memory for no allocation, for one, ... until it works. */
	static void starve(const std::function<int()> &verb)
	{
		int error = ENOMEM;
		for (int enough = 0; enough < 1000 && error; enough++) {
			allocations_left = enough;
			error = verb();
			allocations_left = -1;
			ASSERT_TRUE(error == 0 || error == ENOMEM) << error << " after " << enough << " allocations";
		}
		EXPECT_EQ(error, 0);
	}

	/** The same for a verb that makes an object. */
	template <typename Create>
	static auto starve_object(const Create &create)
	{
		decltype(create()) object = nullptr;
		starve([&] {
			object = create();
			return object ? 0 : errno;
		});
		return Owned<std::remove_pointer_t<decltype(object)>>(object);
	}
};

} // namespace verbs_test
