/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * UC and UD: requests without answers (IBTA 9.8.2, 9.8.3). They complete when they have been sent; a responder drops
 * those that it cannot take.
 */
#include <algorithm>
#include <array>
#include <cstring>

#include "base/wire.hpp"
#include "requester.hpp"
#include "responder.hpp"

namespace prism::soft
{

namespace
{

/*
 * Bursts. Sockets do not tell how fast the peer reads. A burst fits the smallest socket buffer that it may have, with
 * room for other senders; the pause lets it drain.
 */
constexpr std::uint32_t burst_packets = 64;
constexpr std::uint32_t burst_bytes = 64 << 10;
constexpr Time burst_pause = 40'000;
/** Part of the first burst that leaves before a path is prepared: those of many senders at once fit one socket. */
constexpr std::uint32_t early_packets = 8;
constexpr std::uint32_t early_bytes = 8 << 10;

/** Destination of a request's packets. */
struct Way {
	unsigned source;
	const Address &peer;
	std::uint32_t qpn;
};

Way way_of(const QueuePair &qp, const SendRequest &wr)
{
	if (qp.type != IBV_QPT_UD)
		return {qp.attr.source, qp.attr.peer, qp.attr.dest_qpn};
	return {wr.to.source, wr.to.peer, wr.to.qpn == multicast_qpn ? 0 : wr.to.qpn};
}

/** Bit in a request's Q_Key that selects the queue pair's own (IBTA 10.2.5). */
constexpr std::uint32_t own_qkey = 1u << 31;

constexpr std::size_t ipv4_header = 20;
constexpr std::uint8_t udp_protocol = 17;
constexpr std::uint8_t hop_limit = 64;
constexpr std::size_t udp_header = 8;
constexpr std::size_t icrc = 4;

/** Returns the checksum, by which libibverbs tells the two forms apart (ibv_init_ah_from_wc). */
std::uint16_t ipv4_checksum(const std::uint8_t *header)
{
	std::uint32_t sum = 0;
	for (std::size_t i = 0; i < ipv4_header; i += 2)
		sum += static_cast<std::uint32_t>(header[i] << 8 | header[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return static_cast<std::uint16_t>(~sum);
}

/*
 * Values of the service level, which RoCE packets do not have. The most widespread NICs (mlx5) report the packet type
 * of a datagram there, and UCX learns from it whether the 40 bytes before the payload hold an IPv4 or an IPv6 header.
 */
constexpr std::uint8_t packet_type_ipv6 = 9;
constexpr std::uint8_t packet_type_ipv4 = 10;

using Grh = std::array<std::uint8_t, grh_size>;

/** Makes the IP header of a packet of @p size bytes between BTH and pad. A socket does not show it; most of it is
 * known. */
Grh make_grh(const Route &route, std::size_t size)
{
	const std::size_t datagram = udp_header + size + icrc;
	Grh grh{};
	if (!route.from.is_ipv4()) {
		grh[0] = 6 << 4;
		store(&grh[4], static_cast<std::uint16_t>(datagram));
		grh[6] = udp_protocol;
		grh[7] = hop_limit;
		std::copy(route.from.gid.begin(), route.from.gid.end(), &grh[8]);
		std::copy(route.to.gid.begin(), route.to.gid.end(), &grh[24]);
		return grh;
	}
	std::uint8_t *const ip = &grh[grh_size - ipv4_header];
	ip[0] = 4 << 4 | ipv4_header / 4;
	store(ip + 2, static_cast<std::uint16_t>(ipv4_header + datagram));
	ip[6] = 1 << 6; /* do not fragment */
	ip[8] = hop_limit;
	ip[9] = udp_protocol;
	std::copy_n(&route.from.gid[12], 4, ip + 12);
	std::copy_n(&route.to.gid[12], 4, ip + 16);
	store(ip + 10, ipv4_checksum(ip));
	return grh;
}

} // namespace

/* Sending ------------------------------------------------------------------------------------------------------- */

bool Requester::in_burst() const
{
	return req_.burst_packets < burst_packets && req_.burst_bytes < burst_bytes;
}

/** Tells if a packet may leave before a path is prepared: of a whole burst if the engine has no thread, as the program
 * may wait for the answer before it drives the engine again. */
bool Requester::is_early() const
{
	return engine_.has_thread ? req_.burst_packets < early_packets && req_.burst_bytes < early_bytes : in_burst();
}

bool Requester::may_burst(Time now)
{
	if (now >= req_.burst_began + burst_pause) {
		req_.burst_began = now;
		req_.burst_packets = req_.burst_bytes = 0;
	}
	if (in_burst())
		return true;
	req_.wait_until = req_.burst_began + burst_pause;
	engine_.arm_timer(qp_, req_.wait_until);
	return false;
}

/** Tells if the next packet of @p wr may leave now, or is lost. */
Requester::Turn Requester::turn_of(const SendRequest &wr, Time now)
{
	const Way way = way_of(qp_, wr);
	PacketSink &carrier = engine_.sink_.carrier();
	switch (carrier.room(way.source, way.peer, way.qpn)) {
	case Room::yes:
		return Turn::now;
	case Room::no:
		return carrier.loses(way.source, way.peer, way.qpn, now) ? Turn::never : Turn::with_room;
	default:
		if (carrier.prepares(way.qpn, now))
			return is_early() ? Turn::now : Turn::with_room;
		return may_burst(now) ? Turn::now : Turn::later;
	}
}

bool Requester::transmit_unacknowledged(Time now)
{
	while (sq_.cursor != sq_.tail && req_.wait_until <= now) {
		SendRequest &wr = sq_.at(sq_.cursor);
		if (!wr.started && qp_.state == IBV_QPS_SQD)
			break;
		if (is_local(wr)) {
			if (!run_local(wr))
				break;
			continue;
		}
		if (!check_local_memory(wr))
			break;
		if (qp_.type == IBV_QPT_UD && !check_datagram(wr))
			break;
		const Turn turn = turn_of(wr, now);
		if (turn == Turn::later || turn == Turn::with_room)
			return turn == Turn::with_room;
		if (!wr.started)
			start(wr);
		if (turn == Turn::never) /* the rest of the message is useless, too */
			wr.sent = wr.psns;
		else
			send_unacknowledged(wr);
		if (wr.sent == wr.psns)
			complete_head(IBV_WC_SUCCESS, wr.length);
	}
	return false;
}

void Requester::send_unacknowledged(SendRequest &wr)
{
	req_.burst_packets++;
	req_.burst_bytes += qp_.type == IBV_QPT_UD ? send_datagram(wr) : send_message_packet(wr);
}

/** Checks that a datagram fits one packet and has a destination. */
bool Requester::check_datagram(const SendRequest &wr)
{
	if (wr.addressed && wr.length <= qp_.attr.mtu)
		return true;
	complete_head(wr.addressed ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_QP_OP_ERR);
	return false;
}

std::uint32_t Requester::send_datagram(SendRequest &wr)
{
	const bool immediate = wr.tail == Tail::immediate;
	const std::size_t headers = bth_size + deth_size + (immediate ? immediate_size : 0);
	const std::uint32_t pad = pad_for(wr.length);
	const Way way = way_of(qp_, wr);
	std::uint8_t *packet = engine_.sink_.begin_from(way.source, way.peer, way.qpn, headers + wr.length + pad);
	prism_bth bth{};
	bth.opcode = immediate ? ud_send_only_imm : ud_send_only;
	bth.pad = static_cast<u8>(pad);
	bth.solicited = wr.solicited;
	bth.qpn = wr.to.qpn;
	bth.psn = wr.first_psn;
	prism_bth_encode(packet, &bth);
	put_unaligned_be32(wr.to.qkey & own_qkey ? qp_.attr.qkey : wr.to.qkey, packet + bth_size);
	put_unaligned_be32(qp_.qpn, packet + bth_size + 4);
	if (immediate)
		std::memcpy(packet + bth_size + deth_size, &wr.immediate, immediate_size);
	if (!gather(wr, 0, packet + headers, wr.length))
		return 0;
	std::memset(packet + headers + wr.length, 0, pad);
	engine_.sink_.commit();
	wr.sent++;
	return wr.length;
}

/* Receiving ----------------------------------------------------------------------------------------------------- */

void Responder::receive_unacknowledged(const prism_bth &bth, Packet packet)
{
	const std::uint16_t flags = uc_opcode_flags(bth.opcode);
	/* A packet is missing, or the sender gave up: the message under way will stay incomplete. */
	if (resp_.message.active && (bth.psn != resp_.expected_psn || (flags & op_first)))
		drop_message();
	resp_.expected_psn = bth.psn;
	if (packet.size() & 3)
		refuse(PRISM_BAD_FORMAT, bth.psn);
	else if (resp_.message.active || (flags & op_first))
		execute_standard(bth, flags, packet, 0);
	resp_.expected_psn = psn_add(bth.psn, 1);
}

void Responder::receive_datagram(const Route &route, const prism_bth &bth, Packet packet)
{
	const bool immediate = bth.opcode == ud_send_only_imm;
	const std::size_t headers = bth_size + deth_size + (immediate ? immediate_size : 0);
	if ((packet.size() & 3) || packet.size() < headers + bth.pad) {
		engine_.counters.rx_bad_format++;
		return;
	}
	if (get_unaligned_be32(packet.data() + bth_size) != qp_.attr.qkey) {
		engine_.counters.rx_bad_qkey++;
		return;
	}
	const Packet payload = packet.subspan(headers, packet.size() - headers - bth.pad);
	const Popped popped = pop_receive(grh_size + payload.size());
	if (popped == Popped::none)
		engine_.counters.rx_no_receive++;
	if (popped == Popped::too_small)
		engine_.counters.rx_message_dropped++;
	if (popped != Popped::yes)
		return;
	resp_.message = {};
	resp_.source_qpn = get_unaligned_be32(packet.data() + bth_size + 4) & PRISM_QPN_MASK;
	resp_.packet_type = route.from.is_ipv4() ? packet_type_ipv4 : packet_type_ipv6;
	const Grh grh = make_grh(route, packet.size());
	if (store_received(grh) != IBV_WC_SUCCESS || store_received(payload) != IBV_WC_SUCCESS) {
		complete_receive(IBV_WC_LOC_PROT_ERR, nullptr, 0, 0);
		engine_.fail_qp(qp_);
		return;
	}
	std::uint32_t tail = 0;
	if (immediate)
		std::memcpy(&tail, packet.data() + bth_size + deth_size, sizeof(tail));
	complete_receive(IBV_WC_SUCCESS, &bth, immediate ? op_send | op_immediate : op_send, tail);
}

} // namespace prism::soft
