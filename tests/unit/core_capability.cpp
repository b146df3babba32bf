/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Capability records against tests/vectors/vectors.json (W.10). */
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "protocol/queue_pair.hpp"
#include "vectors.hpp"

namespace
{

using namespace prism::test;

TEST(CapabilityRecord, IsReadAsTheVectorsSay)
{
	const std::map<std::string, int> errors{{"EINVAL", EINVAL}, {"EPROTONOSUPPORT", EPROTONOSUPPORT}};
	ASSERT_FALSE(vectors()["capability"].empty());
	for (const Json &vector : vectors()["capability"]) {
		const std::string name = vector["name"];
		const Bytes bytes = bytes_of(vector["hex"]);
		prismdv_capability record{};
		ASSERT_EQ(bytes.size(), sizeof(record.bytes));
		std::copy(bytes.begin(), bytes.end(), record.bytes);
		std::uint64_t features = 0;
		const int error = prism::decode_capability(record, features);
		if (!vector["error"].is_null()) {
			EXPECT_EQ(error, errors.at(vector["error"])) << name;
			continue;
		}
		EXPECT_EQ(error, 0) << name;
		const std::uint64_t known = number(vector["fields"]["features"]) & prism::known_features;
		EXPECT_EQ(features, known | prism::peer_declared) << name;
	}
}

/** What a device says is the vector of that name. */
TEST(CapabilityRecord, IsWrittenAsTheVectorSays)
{
	prismdv_capability record;
	prism::encode_capability(record, prism::known_features);
	const Json &all = vectors()["capability"];
	const auto found = std::ranges::find(all, "version_1_all_features", [](const Json &v) { return v["name"]; });
	ASSERT_NE(found, all.end());
	EXPECT_EQ(Bytes(std::begin(record.bytes), std::end(record.bytes)), bytes_of((*found)["hex"]));
}

} // namespace
