/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Steering questions against tests/vectors/vectors.json (W.1.3). */
#include <gtest/gtest.h>

#include "net/udp/steering.hpp"
#include "vectors.hpp"

namespace
{

using namespace prism::test;
using prism::soft::SteeringProbe;

TEST(SteeringQuestion, IsWrittenAndReadAsTheVectorsSay)
{
	ASSERT_FALSE(vectors()["steering"].empty());
	for (const Json &vector : vectors()["steering"]) {
		const std::string name = vector["name"];
		const Json &fields = vector["fields"];
		const Bytes bytes = bytes_of(vector["hex"]);
		const SteeringProbe probe{fields["asker"], fields["index"], fields["nonce"]};
		const auto written = probe.encode();
		EXPECT_EQ(Bytes(written.begin(), written.end()), bytes) << name;
		const auto read = SteeringProbe::decode(bytes);
		ASSERT_TRUE(read) << name;
		EXPECT_EQ(read->asker, probe.asker) << name;
		EXPECT_EQ(read->index, probe.index) << name;
		EXPECT_EQ(read->nonce, probe.nonce) << name;
	}
}

TEST(SteeringQuestion, NothingElseIsTakenForOne)
{
	Bytes bytes = bytes_of(vectors()["steering"][0]["hex"]);
	bytes.push_back(0);
	EXPECT_FALSE(SteeringProbe::decode(bytes));
	bytes.resize(SteeringProbe::size - 1);
	EXPECT_FALSE(SteeringProbe::decode(bytes));
	bytes.resize(SteeringProbe::size);
	EXPECT_TRUE(SteeringProbe::decode(bytes));
	for (const std::size_t at : {0, 1}) {
		bytes[at] ^= 1;
		EXPECT_FALSE(SteeringProbe::decode(bytes)) << at;
		bytes[at] ^= 1;
	}
}

} // namespace
