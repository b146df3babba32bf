/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Capability records against tests/vectors/vectors.json (W.10). */
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "protocol/engine.hpp"
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
		const int error = prism::decode_capability(record, PRISM_PROTOCOL_VERSION, features);
		if (!vector["error"].is_null()) {
			EXPECT_EQ(error, errors.at(vector["error"])) << name;
			continue;
		}
		EXPECT_EQ(error, 0) << name;
		const std::uint64_t known = number(vector["fields"]["features"]) & prism::known_features;
		const bool bundles = vector["bundles"];
		EXPECT_EQ(features, known | prism::peer_declared | (bundles ? prism::peer_bundles : 0)) << name;
	}
}

/** A device writes the record that is the vector of that name. */
TEST(CapabilityRecord, IsWrittenAsTheVectorSays)
{
	prismdv_capability record;
	prism::encode_capability(record, PRISM_PROTOCOL_VERSION, prism::known_features);
	const Json &all = vectors()["capability"];
	const auto found =
		std::ranges::find(all, "versions_1_and_2_all_features", [](const Json &v) { return v["name"]; });
	ASSERT_NE(found, all.end());
	EXPECT_EQ(Bytes(std::begin(record.bytes), std::end(record.bytes)), bytes_of((*found)["hex"]));
}

/**
 * Requests are as long as every peer of the version accepts: the requester assumes nothing that the record does not
 * tell.
 */
TEST(CapabilityRecord, NoRequestIsLongerThanEachPeerTakes)
{
	const std::uint32_t each_takes = 1 << 20;
	static_assert(prism::soft::max_indirect_read >= each_takes);
	prism::PostingRules rules{};
	rules.prism = true;
	rules.peer_features = prism::known_features | prism::peer_declared;
	rules.mtu = 1024;
	const auto check = [&rules](prism_op op, u8 flags, std::uint32_t length) {
		prism::soft::SendRequest wr{};
		prism::begin_prism(wr, op, 1, 4096);
		wr.prism.flags = flags;
		if (flags)
			prism::set_aux(wr, 1, 8192, length);
		else
			wr.length = length;
		return prism::check_prism(rules, wr);
	};
	const std::pair<prism_op, u8> limited[] = {
		{PRISM_READ, 0}, {PRISM_READ, PRISM_FLAG_R}, {PRISM_WRITE, PRISM_FLAG_D}};
	for (const auto &[op, flags] : limited) {
		EXPECT_EQ(check(op, flags, each_takes), 0) << op << ' ' << int{flags};
		EXPECT_EQ(check(op, flags, each_takes + 1), EINVAL) << op << ' ' << int{flags};
	}
	EXPECT_EQ(check(PRISM_WRITE, 0, 2 * each_takes), 0) << "takes a PSN for each packet, so it has no such limit";
}

} // namespace
