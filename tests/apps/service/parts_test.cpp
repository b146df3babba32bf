/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A one-sided server with options that ask for more than there is, or than numbers can express. */
#include <gtest/gtest.h>

#include <limits>

#include "base/saturating.hpp"
#include "service/one_sided_server.hpp"

namespace
{

using namespace prism;
using namespace prism::apps;

/** Access to functions for derived classes. */
class Parts : public OneSidedServer
{
public:
	static int error_of(std::size_t slot_bytes, std::vector<BufferClass> lists)
	{
		const Context context = Context::open("prism_lo", Progress::caller).value();
		OneSidedServerOptions options;
		options.address = "127.0.0.1";
		options.log = [](LogLevel, const std::string &) {};
		const auto made =
			make_parts(context, Hello{}, {slot_bytes, "table", std::move(lists), "take less"}, options);
		if (!made) {
			EXPECT_NE(made.error().message.find("take less"), std::string::npos) << made.error().message;
		}
		return made ? 0 : made.error().code;
	}
};

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t most_buffers = std::numeric_limits<std::uint32_t>::max();

TEST(OneSidedServerParts, AreMadeIfThereIsMemory)
{
	EXPECT_EQ(Parts::error_of(1024, {{64, 10}}), 0);
}

TEST(OneSidedServerParts, OfSumsThatNoNumberHoldsAreRefused)
{
	for (const std::size_t slots : {most, most - 1, most - 63, most - 64, most / 2})
		EXPECT_EQ(Parts::error_of(slots, {}), ENOMEM) << slots;
	const BufferClass largest{most_buffers - 63, most_buffers};
	EXPECT_EQ(Parts::error_of(1024, {largest}), ENOMEM);
	EXPECT_EQ(Parts::error_of(1024, {largest, largest, largest}), ENOMEM);
	EXPECT_EQ(Parts::error_of(1024, {largest, {128, 1}, {1U << 31, 1U << 31}, {1U << 31, 1U << 31}}), ENOMEM);
}

TEST(Saturating, NeverWrapsAround)
{
	EXPECT_EQ(sum_of(most - 1, 1), most);
	EXPECT_EQ(sum_of(most, 1), most);
	EXPECT_EQ(sum_of(3, 4), 7u);
	EXPECT_EQ(product_of(most, 1), most);
	EXPECT_EQ(product_of(std::uint64_t{1} << 32, std::uint64_t{1} << 32), most);
	EXPECT_EQ(product_of(0, most), 0u);
	EXPECT_EQ(product_of(most, 0), 0u);
	EXPECT_EQ(rounded_up(0, 64), 0u);
	EXPECT_EQ(rounded_up(65, 64), 128u);
	EXPECT_EQ(rounded_up(most - 63, 64), most - 63);
	EXPECT_EQ(rounded_up(most - 62, 64), most);
}

} // namespace
