/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Indices of addresses that come and go. */
#include <gtest/gtest.h>

#include "soft/verbs/gid_table.hpp"

using namespace prism::soft;

namespace
{

Address ipv4(std::uint8_t first, std::uint8_t last)
{
	return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, first, 0, 0, last}};
}

Address ipv6(std::uint8_t last)
{
	return {{0xfd, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}};
}

InterfaceInfo interface(std::vector<Address> addresses)
{
	InterfaceInfo made;
	made.name = "eth0";
	made.index = 2;
	made.addresses = std::move(addresses);
	return made;
}

} // namespace

TEST(GidNumbers, AnAddressKeepsItsIndex)
{
	GidNumbers numbers;
	EXPECT_EQ(numbers.add(interface({ipv4(10, 1), ipv6(2)})), (std::vector{ipv4(10, 1), ipv6(2)}));
	/* A new address precedes it in the list; the first has gone. */
	const std::vector expected{ipv4(10, 1), ipv6(2), ipv6(1)};
	EXPECT_EQ(numbers.add(interface({ipv6(1), ipv6(2)})), expected);
	EXPECT_EQ(numbers.add(interface({ipv4(10, 1), ipv6(1), ipv6(2)})), expected);
}

TEST(GidNumbers, InterfacesHaveTheirOwn)
{
	GidNumbers numbers;
	numbers.add(interface({ipv4(10, 1), ipv6(2)}));
	InterfaceInfo another = interface({ipv6(2)});
	another.index = 3; /* of the same name, created again */
	EXPECT_EQ(numbers.add(another), std::vector{ipv6(2)});
}

/* Each context has an address of its own from 127/8, and only one. */
TEST(GidNumbers, LoopbackHasOneEntryForIpv4)
{
	GidNumbers numbers;
	InterfaceInfo loopback = interface({ipv4(127, 1), ipv4(127, 2), ipv6(1)});
	loopback.is_loopback = true;
	EXPECT_EQ(numbers.add(loopback), (std::vector{ipv4(127, 1), ipv6(1)}));
	EXPECT_EQ(gid_name(loopback, ipv4(127, 9)), ipv4(127, 1));
	EXPECT_EQ(gid_name(interface({}), ipv4(127, 9)), ipv4(127, 9));
}

TEST(GidNumbers, AreBounded)
{
	GidNumbers numbers;
	for (unsigned i = 0; i < 2 * max_gids; i++)
		numbers.add(interface({ipv6(static_cast<std::uint8_t>(i))}));
	EXPECT_EQ(numbers.add(interface({})).size(), max_gids);
}

TEST(GidTable, EntriesMayHoldNone)
{
	GidTable table;
	EXPECT_FALSE(table.find(0));
	table.append();
	table.append();
	table.fill(1, {ipv6(1), 0});
	EXPECT_EQ(table.size(), 2U);
	EXPECT_FALSE(table.find(0));
	ASSERT_TRUE(table.find(1));
	EXPECT_EQ(table.find(1)->address, ipv6(1));
	EXPECT_EQ(table.find(1)->source, 0U);
	EXPECT_FALSE(table.find(2));
	table.fill(0, {ipv4(10, 1), 1});
	EXPECT_EQ(table.find(0)->source, 1U);
}
