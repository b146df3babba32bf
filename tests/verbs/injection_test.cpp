/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Attacks on a connection by another program of this host that has nothing but a UDP socket. */
#include "harness.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <set>

#include "net/file_descriptor.hpp"
#include "net/icrc.hpp"
#include "net/slot.hpp"

namespace verbs_test
{
namespace
{

using prism::soft::Address;
using prism::soft::FileDescriptor;

constexpr std::uint16_t roce_port = 4791;

Address to_address(const ibv_gid &gid)
{
	Address address;
	std::copy(std::begin(gid.raw), std::end(gid.raw), address.gid.begin());
	return address;
}

sockaddr_in to_ipv4(const Address &address, std::uint16_t port)
{
	sockaddr_in name{};
	name.sin_family = AF_INET;
	name.sin_port = htons(port);
	std::memcpy(&name.sin_addr, &address.gid[12], sizeof(name.sin_addr));
	return name;
}

/** Sends from any local address, as every user may (IP_PKTINFO), but not from any port. */
class Stranger
{
public:
	explicit Stranger(std::uint16_t port = 0)
	{
		sockaddr_in name{};
		name.sin_family = AF_INET;
		name.sin_port = htons(port);
		name.sin_addr.s_addr = htonl(0x7fc80001); /* 127.200.0.1 */
		const auto *bare = reinterpret_cast<const sockaddr *>(&name);
		error_ = ::bind(socket_.get(), bare, sizeof(name)) < 0 ? errno : 0;
		socklen_t size = sizeof(name);
		::getsockname(socket_.get(), reinterpret_cast<sockaddr *>(&name), &size);
		port_ = ntohs(name.sin_port);
		const int discover = IP_PMTUDISC_DO;
		::setsockopt(socket_.get(), IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof(discover));
	}

	[[nodiscard]] int error() const { return error_; }

	void send_as(const Address &from, const Address &to, std::vector<std::uint8_t> packet)
	{
		const std::uint32_t value = prism::soft::icrc({from, to, port_, roce_port}, packet, 0);
		packet.resize(packet.size() + prism::soft::icrc_size);
		prism::soft::store_icrc(packet.data() + packet.size() - prism::soft::icrc_size, value);
		sockaddr_in name = to_ipv4(to, roce_port);
		iovec part{packet.data(), packet.size()};
		alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in_pktinfo))> control{};
		msghdr message{};
		message.msg_name = &name;
		message.msg_namelen = sizeof(name);
		message.msg_iov = &part;
		message.msg_iovlen = 1;
		message.msg_control = control.data();
		message.msg_controllen = control.size();
		cmsghdr *header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = IPPROTO_IP;
		header->cmsg_type = IP_PKTINFO;
		header->cmsg_len = CMSG_LEN(sizeof(in_pktinfo));
		in_pktinfo source{};
		source.ipi_spec_dst = to_ipv4(from, 0).sin_addr;
		std::memcpy(CMSG_DATA(header), &source, sizeof(source));
		ASSERT_EQ(::sendmsg(socket_.get(), &message, 0), static_cast<ssize_t>(packet.size()));
	}

private:
	FileDescriptor socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
	std::uint16_t port_ = 0;
	int error_ = 0;
};

/** Returns a SEND Only with eight bytes. */
std::vector<std::uint8_t> send_only(std::uint32_t qpn, std::uint32_t psn)
{
	const auto byte = [](std::uint32_t value, int shift) { return static_cast<std::uint8_t>(value >> shift); };
	std::vector<std::uint8_t> packet{0x04, 0x40, 0xff, 0xff, 0, byte(qpn, 16), byte(qpn, 8), byte(qpn, 0), 0,
		byte(psn, 16), byte(psn, 8), byte(psn, 0)};
	packet.resize(packet.size() + 8, 'x');
	return packet;
}

class Injection : public Fabric
{
protected:
	void SetUp() override
	{
		if (devices.kernel || devices.server != "prism_lo")
			skip("about the userspace device on loopback");
		else
			connect();
	}

	static Address address_of(const Host &host)
	{
		int index = 0;
		return to_address(host.gid(false, index));
	}

	static unsigned slot_of(ibv_qp *of) { return of->qp_num >> prism::soft::qpn_index_bits; }

	static std::uint32_t expected_psn(ibv_qp *of)
	{
		ibv_qp_attr attr{};
		ibv_qp_init_attr init{};
		EXPECT_EQ(ibv_query_qp(of, &attr, 0, &init), 0);
		return attr.rq_psn;
	}
};

/* The stranger knows everything, including the PSN and the queue pair. */
TEST_F(Injection, AnotherPortIsNotThePeer)
{
	if (!qp)
		return;
	post_recv(peer.get(), server.memory.sge(0, 64));
	const std::uint64_t before = server.counter("rx_wrong_source");
	Stranger stranger;
	ASSERT_EQ(stranger.error(), 0);
	stranger.send_as(address_of(client), address_of(server), send_only(peer->qp_num, expected_psn(peer.get())));
	EXPECT_TRUE(pump_until([&] { return server.counter("rx_wrong_source") == before + 1; }));
	ibv_wc wc;
	EXPECT_EQ(ibv_poll_cq(server.cq.get(), 1, &wc), 0);
	EXPECT_EQ(run(standard(IBV_WR_SEND, {client.memory.sge(0, 8)})).status, IBV_WC_SUCCESS);
	EXPECT_TRUE(next(server.cq.get()));
}

TEST_F(Injection, ThePortOfASlotIsTakenOnAllAddresses)
{
	if (!qp)
		return;
	EXPECT_EQ(Stranger(prism::soft::source_port_of(slot_of(qp.get()))).error(), EADDRINUSE);
}

/* The number of one queue pair must not reveal those of others. */
TEST_F(Injection, NumbersOfQueuePairsDoNotCountUp)
{
	if (!qp)
		return;
	std::set<std::uint32_t> steps;
	std::vector<Owned<ibv_qp>> qps;
	for (int i = 0; i < 16; i++)
		qps.push_back(create_qp(client));
	for (std::size_t i = 1; i < qps.size(); i++)
		steps.insert(qps[i]->qp_num - qps[i - 1]->qp_num);
	EXPECT_GT(steps.size(), 8u);
}

} // namespace
} // namespace verbs_test
