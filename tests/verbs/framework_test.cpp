/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Properties that UCX, librdmacm and libfabric rely on beyond the text of the verbs (docs/frameworks.md). */
#include <algorithm>

#include "harness.hpp"

namespace verbs_test
{

namespace
{

constexpr std::uint32_t qkey = 0x1234;
constexpr std::uint32_t header_room = sizeof(ibv_grh);

Owned<ibv_qp> create_datagram_qp(const Host &host)
{
	ibv_qp_init_attr init{};
	init.qp_type = IBV_QPT_UD;
	init.send_cq = init.recv_cq = host.cq.get();
	init.cap = {4, 4, 1, 1, 0};
	Owned<ibv_qp> qp(ibv_create_qp(host.pd.get(), &init));
	if (!qp)
		return qp;
	ready_for_datagrams(qp.get(), qkey);
	return qp;
}

struct DestroyHandle {
	void operator()(ibv_ah *ah) const { EXPECT_EQ(ibv_destroy_ah(ah), 0); }
};

struct FreeDevices {
	void operator()(ibv_device **list) const { prismdv_free_device_list(list); }
};
using DeviceList = std::unique_ptr<ibv_device *, FreeDevices>;

const ibv_device *client_device(const DeviceList &list)
{
	for (ibv_device **device = list.get(); device && *device; device++)
		if (devices.client == ibv_get_device_name(*device))
			return *device;
	return nullptr;
}

} // namespace

/* librdmacm compares the pointers of one list with those of the next: a device that is missing counts as removed. */
TEST(Frameworks, AListNamesTheSameDevicesAsTheOneBefore)
{
	const DeviceList first(prismdv_get_device_list(nullptr)), second(prismdv_get_device_list(nullptr));
	ASSERT_TRUE(client_device(first));
	EXPECT_EQ(client_device(second), client_device(first));
	EXPECT_EQ(open_device(devices.client, PRISMDV_PROGRESS_INLINE)->device, client_device(first));
}

/* UCX tells from it whether an IPv4 or an IPv6 header precedes a datagram's payload. */
class DatagramKind : public Fabric, public testing::WithParamInterface<bool>
{
protected:
	/** Returns the completion of the receive; the 40 bytes before the payload are in memory. */
	std::optional<ibv_wc> receive_one(bool ipv6)
	{
		const Owned<ibv_qp> sender = create_datagram_qp(client), receiver = create_datagram_qp(server);
		if (!sender || !receiver)
			return std::nullopt;
		ibv_ah_attr path{};
		int index = 0;
		path.grh.dgid = server.gid(ipv6, index);
		static_cast<void>(client.gid(ipv6, index));
		path.grh.sgid_index = static_cast<std::uint8_t>(index);
		path.is_global = path.port_num = 1;
		const std::unique_ptr<ibv_ah, DestroyHandle> ah(ibv_create_ah(client.pd.get(), &path));
		post_recv(receiver.get(), server.memory.sge(0, header_room + 64));

		ibv_sge sge = client.memory.sge(0, 64);
		ibv_send_wr wr{}, *bad;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.opcode = IBV_WR_SEND;
		wr.wr.ud.ah = ah.get();
		wr.wr.ud.remote_qpn = receiver->qp_num;
		wr.wr.ud.remote_qkey = qkey;
		if (!ah || ibv_post_send(sender.get(), &wr, &bad))
			return std::nullopt;
		return next(server.cq.get());
	}
};

TEST_P(DatagramKind, IsInTheServiceLevel)
{
	if (devices.kernel)
		GTEST_SKIP() << "rxe reports no service level";
	const std::optional<ibv_wc> wc = receive_one(GetParam());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
	EXPECT_TRUE(wc->wc_flags & IBV_WC_GRH);
	EXPECT_EQ(wc->byte_len, header_room + 64);
	EXPECT_EQ(wc->sl, GetParam() ? 9 : 10);
	int index = 0;
	const union ibv_gid to = server.gid(GetParam(), index);
	const std::size_t length = GetParam() ? 16 : 4;
	EXPECT_TRUE(std::equal(to.raw + 16 - length, to.raw + 16, server.memory.bytes(header_room - length)))
		<< "the header ends with the receiver's address";
}

INSTANTIATE_TEST_SUITE_P(Families, DatagramKind, testing::Bool(),
	[](const testing::TestParamInfo<bool> &family) { return family.param ? "ipv6" : "ipv4"; });

} // namespace verbs_test
