/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Discovery: nothing of PRISM is sent to a peer that has not been declared capable (S.10). */
#include "harness.hpp"

#include <cerrno>
#include <endian.h>

namespace verbs_test
{
namespace
{

class Capability : public EachVariant
{
protected:
	Capability()
	{
		PathOptions options;
		options.declare = false;
		connect(options);
		EXPECT_EQ(prismdv_query_capability(server.context.get(), &record_), 0);
	}
	int declare_features(std::uint64_t features)
	{
		prismdv_capability record = record_;
		const std::uint64_t wire = htobe64(features);
		std::memcpy(record.bytes + 8, &wire, sizeof(wire));
		return prismdv_set_peer_capability(qp.get(), &record);
	}
	Op read() { return prism_read({client.memory.sge(0, 8)}, server.memory); }

	prismdv_capability record_{};
	Cas8 cas_{};
};

TEST_P(Capability, RecordIsThatOfTheProtocol)
{
	prismdv_device_attr attr;
	ASSERT_EQ(prismdv_query_device(server.context.get(), &attr), 0);
	EXPECT_EQ(attr.features & ~std::uint64_t{PRISMDV_FEATURE_RESUME}, 0x7fu);
	EXPECT_TRUE(attr.protocol_version == 1 || attr.protocol_version == 2) << attr.protocol_version;
	prismdv_capability expected{{'P', 'R', 'S', 'M', 1, static_cast<std::uint8_t>(attr.protocol_version)}};
	expected.bytes[15] = static_cast<std::uint8_t>(attr.features);
	EXPECT_EQ(std::memcmp(record_.bytes, expected.bytes, sizeof(expected.bytes)), 0);
}

TEST_P(Capability, NothingIsPostedBeforeTheDeclaration)
{
	const FreeList list(server, 4);
	for (const Op &op : {read(), prism_write({}, server.memory), prism_cas({}, server.memory, 0, cas_.operands()),
		     prism_allocate({}, list.get())})
		EXPECT_EQ(post({op}), EOPNOTSUPP);
	EXPECT_EQ(run(standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 8)}, &server.memory)).status, IBV_WC_SUCCESS);
	ASSERT_EQ(prismdv_set_peer_capability(qp.get(), &record_), 0);
	EXPECT_EQ(status(read()), 0u);
}

TEST_P(Capability, DeclarationEndsWithAReset)
{
	ASSERT_EQ(prismdv_set_peer_capability(qp.get(), &record_), 0);
	EXPECT_EQ(status(read()), 0u);
	disconnect();
	PathOptions options;
	options.declare = false;
	connect(options);
	EXPECT_EQ(post({read()}), EOPNOTSUPP);
}

TEST_P(Capability, EachFeatureThatAPeerLacksIsRefused)
{
	const FreeList list(server, 4);
	const std::uint64_t at = server.memory.at(64);
	const std::uint32_t key = server.memory.key();
	const std::pair<std::uint64_t, Op> needs[] = {
		{PRISMDV_FEATURE_INDIRECT, read().indirect()},
		{PRISMDV_FEATURE_BOUNDED, read().bounded()},
		{PRISMDV_FEATURE_DATA_INDIRECT, prism_write({}, server.memory).data_from(at, key, 8)},
		{PRISMDV_FEATURE_CONDITIONAL, read().conditional()},
		{PRISMDV_FEATURE_REDIRECT, prism_read({}, server.memory).redirect(at, key, 8)},
		{PRISMDV_FEATURE_CAS, prism_cas({}, server.memory, 0, cas_.operands())},
		{PRISMDV_FEATURE_ALLOCATE, prism_allocate({}, list.get())},
	};
	for (const auto &[feature, op] : needs) {
		ASSERT_EQ(declare_features(all_features & ~feature), 0);
		EXPECT_EQ(post({op}), EOPNOTSUPP) << feature;
		EXPECT_EQ(status(read()), 0u);
		ASSERT_EQ(declare_features(all_features), 0);
		EXPECT_EQ(run(op).status, IBV_WC_SUCCESS) << feature;
	}
}

TEST_P(Capability, PeerWithoutAnyFeatureTakesPlainReadAndWrite)
{
	ASSERT_EQ(declare_features(0), 0);
	EXPECT_EQ(status(read()), 0u);
	EXPECT_EQ(status(prism_write({client.memory.sge(0, 8)}, server.memory)), 0u);
	EXPECT_EQ(post({prism_cas({}, server.memory, 0, cas_.operands())}), EOPNOTSUPP);
}

TEST_P(Capability, UnknownFeaturesOfALaterPeerAreIgnored)
{
	ASSERT_EQ(declare_features(~std::uint64_t{0}), 0);
	EXPECT_EQ(status(read()), 0u);
}

TEST_P(Capability, BytesThatAreNoRecordAreRefused)
{
	prismdv_capability bad = record_;
	bad.bytes[0] = 'Q';
	EXPECT_EQ(prismdv_set_peer_capability(qp.get(), &bad), EINVAL);
	bad = record_;
	bad.bytes[4] = static_cast<std::uint8_t>(bad.bytes[5] + 1); /* the lowest version above the highest */
	EXPECT_EQ(prismdv_set_peer_capability(qp.get(), &bad), EINVAL);
	EXPECT_EQ(post({read()}), EOPNOTSUPP);
}

TEST_P(Capability, PeerOfAnotherVersionIsRefused)
{
	prismdv_capability later = record_;
	later.bytes[4] = 3;
	later.bytes[5] = 4;
	EXPECT_EQ(prismdv_set_peer_capability(qp.get(), &later), EPROTONOSUPPORT);
	later.bytes[4] = 1;
	EXPECT_EQ(prismdv_set_peer_capability(qp.get(), &later), 0) << "a range that includes ours";
}

TEST_P(Capability, RefusedRecordLeavesTheEarlierDeclaration)
{
	ASSERT_EQ(prismdv_set_peer_capability(qp.get(), &record_), 0);
	const prismdv_capability bad{};
	EXPECT_EQ(prismdv_set_peer_capability(qp.get(), &bad), EINVAL);
	EXPECT_EQ(status(read()), 0u);
}

INSTANTIATE_TEST_SUITE_P(Each, Capability, testing::ValuesIn(all_variants()), variant_name);

/* A queue pair that was made by plain verbs. */
class PlainPeer : public EachVariant
{
};

TEST_P(PlainPeer, PlainQueuePairNeitherDeclaresNorPosts)
{
	QpOptions plain;
	plain.prism = false;
	qp = create_qp(client, plain);
	connect();
	prismdv_capability record;
	ASSERT_EQ(prismdv_query_capability(server.context.get(), &record), 0);
	EXPECT_EQ(prismdv_set_peer_capability(qp.get(), &record), EOPNOTSUPP);
	errno = 0;
	EXPECT_EQ(prismdv_qp_ex_from_ibv_qp_ex(ibv_qp_to_qp_ex(qp.get())), nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
	prismdv_send_wr wr{};
	const unsigned opcode = PRISMDV_WR_READ;
	std::memcpy(&wr.wr.opcode, &opcode, sizeof(opcode));
	ibv_send_wr *bad = nullptr;
	EXPECT_EQ(ibv_post_send(qp.get(), &wr.wr, &bad), EOPNOTSUPP);
	EXPECT_EQ(bad, &wr.wr);
}

TEST_P(PlainPeer, PlainQueuePairDropsPrismInSilenceAndServesTheRest)
{
	QpOptions plain;
	plain.prism = false;
	peer = create_qp(server, plain);
	PathOptions options;
	options.timeout = 12;
	options.retry = 2;
	connect(options);
	EXPECT_EQ(run(standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 8)}, &server.memory)).status, IBV_WC_SUCCESS);
	EXPECT_EQ(run(prism_read({client.memory.sge(0, 8)}, server.memory)).status, IBV_WC_RETRY_EXC_ERR);
	if (server.counts("rx_unknown_opcode")) {
		EXPECT_TRUE(pump_until([this] { return server.counter("rx_unknown_opcode") >= 2; }));
	}
	EXPECT_EQ(state_of(peer.get()), IBV_QPS_RTS);
}

INSTANTIATE_TEST_SUITE_P(Each, PlainPeer, testing::ValuesIn(all_variants()), variant_name);

} // namespace
} // namespace verbs_test
