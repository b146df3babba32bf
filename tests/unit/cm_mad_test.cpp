/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages of communication management: byte by byte where the specification gives the bytes, else encoded and decoded.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "cm/mad.hpp"

using namespace prism::cm;

namespace
{

Address ipv4(std::uint8_t last)
{
	return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last}};
}

Address ipv6(std::uint8_t last)
{
	return {{0xfd, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}};
}

template <std::size_t size>
void count_up(PrivateData<size> &data)
{
	std::iota(data.begin(), data.end(), std::uint8_t{1});
}

Req some_req()
{
	Req req;
	req.local_id = 0x11223344;
	req.service_id = make_service_id(PortSpace::tcp, 7174);
	req.ca_guid = 0x0102030405060708;
	req.qkey = 0x80010000;
	req.qpn = 0xabcdef;
	req.responder_resources = 5;
	req.initiator_depth = 6;
	req.remote_response_timeout = 18;
	req.transport = TransportType::uc;
	req.flow_control = true;
	req.starting_psn = 0x654321;
	req.local_response_timeout = 19;
	req.retry_count = 7;
	req.path_mtu = 3;
	req.rnr_retry_count = 6;
	req.max_cm_retries = 15;
	req.srq = true;
	req.local_gid = ipv4(1);
	req.remote_gid = ipv6(2);
	req.traffic_class = 0x28;
	req.hop_limit = 64;
	req.ack_timeout = 17;
	count_up(req.private_data);
	return req;
}

void expect_bytes(const Mad &mad, std::size_t at, std::initializer_list<int> expected)
{
	for (const int byte : expected) {
		EXPECT_EQ(mad[at], byte) << "byte " << at;
		at++;
	}
}

template <typename Type>
Type there_and_back(const Type &message)
{
	const auto found = decode(encode({0x8877665544332211, message}));
	EXPECT_TRUE(found);
	EXPECT_EQ(found->transaction, 0x8877665544332211);
	EXPECT_TRUE(std::holds_alternative<Type>(found->message));
	return std::get<Type>(found->message);
}

} // namespace

TEST(CmMad, header)
{
	const Mad mad = encode({0x0102030405060708, Rtu{1, 2}});
	expect_bytes(mad, 0, {1, 7, 2, 3, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0x14, 0, 0, 0, 0, 0, 0});
	expect_bytes(mad, 24, {0, 0, 0, 1, 0, 0, 0, 2, 0});
}

/* Table 106 of the specification; the message begins at byte 24. */
TEST(CmMad, request_bytes)
{
	const Mad mad = encode({1, some_req()});
	expect_bytes(mad, 16, {0, 0x10});
	expect_bytes(mad, 24 + 0, {0x11, 0x22, 0x33, 0x44, 0, 0, 0, 0});
	expect_bytes(mad, 24 + 8, {0, 0, 0, 0, 0x01, 0x06, 0x1c, 0x06}); /* 7174 = 0x1c06 */
	expect_bytes(mad, 24 + 16, {1, 2, 3, 4, 5, 6, 7, 8});
	expect_bytes(mad, 24 + 28, {0x80, 1, 0, 0, 0xab, 0xcd, 0xef, 5, 0, 0, 0, 6});
	expect_bytes(mad, 24 + 43, {18 << 3 | 1 << 1 | 1, 0x65, 0x43, 0x21, 19 << 3 | 7, 0xff, 0xff});
	expect_bytes(mad, 24 + 50, {3 << 4 | 6, 15 << 4 | 1 << 3, 0xff, 0xff, 0xff, 0xff});
	expect_bytes(mad, 24 + 56, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1, 0xfd, 0x47});
	expect_bytes(mad, 24 + 88, {0, 0, 0, 0, 0x28, 64, 0, 17 << 3, 0});
	expect_bytes(mad, 24 + 140, {1, 2, 3});
	EXPECT_EQ(mad[24 + 140 + 91], 92);
}

TEST(CmMad, reply_bytes)
{
	Rep rep;
	rep.local_id = 1;
	rep.remote_id = 2;
	rep.qpn = 0x123456;
	rep.starting_psn = 0xfedcba;
	rep.responder_resources = 3;
	rep.initiator_depth = 4;
	rep.flow_control = true;
	rep.rnr_retry_count = 7;
	rep.srq = true;
	rep.ca_guid = 9;
	count_up(rep.private_data);
	const Mad mad = encode({1, rep});
	expect_bytes(mad, 24 + 12, {0x12, 0x34, 0x56, 0, 0, 0, 0, 0, 0xfe, 0xdc, 0xba, 0, 3, 4, 1, 7 << 5 | 1 << 4});
	expect_bytes(mad, 24 + 28, {0, 0, 0, 0, 0, 0, 0, 9, 1, 2});
	EXPECT_EQ(mad[255], 196);
}

TEST(CmMad, there_and_back)
{
	const Req req = there_and_back(some_req());
	EXPECT_EQ(req.service_id, 0x01061c06);
	EXPECT_EQ(req.transport, TransportType::uc);
	EXPECT_EQ(req.retry_count, 7);
	EXPECT_EQ(req.max_cm_retries, 15);
	EXPECT_TRUE(req.srq);
	EXPECT_EQ(req.remote_gid, ipv6(2));
	EXPECT_EQ(req.ack_timeout, 17);
	EXPECT_EQ(req.private_data, some_req().private_data);

	const Mra mra = there_and_back(Mra{3, 4, About::rep, 21});
	EXPECT_EQ(mra.about, About::rep);
	EXPECT_EQ(mra.service_timeout, 21);

	Rej sent;
	sent.local_id = 8;
	sent.about = About::other;
	sent.reason = RejectReason::stale_connection;
	count_up(sent.private_data);
	const Rej rej = there_and_back(sent);
	EXPECT_EQ(rej.local_id, 8U);
	EXPECT_EQ(rej.about, About::other);
	EXPECT_EQ(rej.reason, RejectReason::stale_connection);
	EXPECT_EQ(rej.private_data, sent.private_data);

	EXPECT_EQ(there_and_back(Dreq{1, 2, 0xffffff}).remote_qpn, 0xffffffU);
	EXPECT_EQ(there_and_back(Drep{1, 2}).remote_id, 2U);

	SidrReq asked;
	asked.request_id = 77;
	asked.service_id = make_service_id(PortSpace::udp, 1);
	count_up(asked.private_data);
	EXPECT_EQ(there_and_back(asked).private_data, asked.private_data);
	EXPECT_EQ(there_and_back(asked).service_id, 0x01110001U);

	SidrRep told;
	told.request_id = 77;
	told.status = SidrStatus::rejected;
	told.qpn = 0x00c0de;
	told.qkey = 0x01234567;
	count_up(told.private_data);
	EXPECT_EQ(there_and_back(told).qpn, 0xc0deU);
	EXPECT_EQ(there_and_back(told).qkey, 0x01234567U);
	EXPECT_EQ(there_and_back(told).status, SidrStatus::rejected);
}

TEST(CmMad, who_is_asked)
{
	EXPECT_TRUE(is_request(Req{}));
	EXPECT_TRUE(is_request(SidrReq{}));
	EXPECT_FALSE(is_request(Rep{}));
	EXPECT_EQ(destination(Dreq{1, 2, 3}), 2U);
	SidrRep reply;
	reply.request_id = 5;
	EXPECT_EQ(destination(reply), 5U);
	EXPECT_EQ(destination(some_req()), 0U);
}

TEST(CmMad, other_headers_are_refused)
{
	const Mad good = encode({1, Rtu{1, 2}});
	ASSERT_TRUE(decode(good));
	struct {
		std::size_t at;
		std::uint8_t value;
	} const changes[] = {{0, 2}, {1, 3}, {2, 1}, {3, 0x81}, {16, 1}, {17, 0}, {17, 0x19}, {17, 0xff}};
	for (const auto &change : changes) {
		Mad bad = good;
		bad[change.at] = change.value;
		EXPECT_FALSE(decode(bad)) << "byte " << change.at << " is " << int{change.value};
	}
	EXPECT_FALSE(decode(Mad{}));
}

TEST(CmMad, ip_header)
{
	std::array<std::uint8_t, IpHeader::size> bytes;
	encode_ip_header({ipv4(1), 0x1234, ipv4(2)}, bytes);
	EXPECT_EQ(bytes[0], 0);
	EXPECT_EQ(bytes[1], 0x40);
	EXPECT_EQ(bytes[2], 0x12);
	EXPECT_EQ(bytes[3], 0x34);
	/* Twelve zeros come first, not the prefix of a GID. */
	EXPECT_EQ(std::count(bytes.begin() + 4, bytes.begin() + 16, 0), 12);
	EXPECT_EQ(bytes[16], 10);
	EXPECT_EQ(bytes[35], 2);
	const auto four = decode_ip_header(bytes);
	ASSERT_TRUE(four);
	EXPECT_EQ(four->source, ipv4(1));
	EXPECT_EQ(four->source_port, 0x1234);
	EXPECT_EQ(four->destination, ipv4(2));

	encode_ip_header({ipv6(1), 1, ipv6(2)}, bytes);
	EXPECT_EQ(bytes[1], 0x60);
	const auto six = decode_ip_header(bytes);
	ASSERT_TRUE(six);
	EXPECT_EQ(six->source, ipv6(1));
	EXPECT_EQ(six->destination, ipv6(2));

	for (const std::uint8_t version : {0x00, 0x50, 0xf0}) {
		bytes[1] = version;
		EXPECT_FALSE(decode_ip_header(bytes));
	}
	bytes[1] = 0x40;
	bytes[0] = 1;
	EXPECT_FALSE(decode_ip_header(bytes));
}

TEST(CmMad, service_ids)
{
	EXPECT_EQ(port_of(0x01061c06), 7174);
	EXPECT_EQ(port_space_of(0x01061c06), PortSpace::tcp);
	EXPECT_EQ(port_space_of(0x0111ffff), PortSpace::udp);
	EXPECT_FALSE(port_space_of(0x1000001061c06));
	EXPECT_FALSE(port_space_of(0));
}
