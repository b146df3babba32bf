// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ICRC of a segment. When a train of packets (UDP GSO) comes from this host, the UDP layer cuts it up, and each
 * piece keeps the IP header of the whole: neither its length nor its identification is the one that the sender's ICRC
 * covers. The length can be restored, the identification cannot: as docs/wire-protocol.md W.9.1 has it for receivers
 * that do not see it, the packet is right if some identification makes the ICRC right.
 *
 * With v the two identification bytes that are missing, and n the number of bytes behind them, the difference of the
 * ICRCs is v run through the CRC and n bytes further. So run the difference backwards by n + 2 bytes: v is left, with
 * nothing above its 16 bits, or there is no such v.
 */
#include "rxe.h"
#include "rxe_loc.h"

#define PRISM_CRC_POLYNOMIAL	0xedb88320

static u32 prism_crc_back[256];

/* One step back undoes eight shifts; what was shifted out shows in the upper bits. */
static u32 prism_crc_back_byte(u32 crc)
{
	int bit;

	for (bit = 0; bit < 8; bit++)
		crc = crc & BIT(31) ? (crc ^ PRISM_CRC_POLYNOMIAL) << 1 | 1 : crc << 1;
	return crc;
}

void prism_icrc_init(void)
{
	u32 top;

	for (top = 0; top < ARRAY_SIZE(prism_crc_back); top++)
		prism_crc_back[top] = prism_crc_back_byte(top << 24);
}

static u32 prism_crc_unwind(u32 crc, u32 bytes)
{
	while (bytes--)
		crc = crc << 8 ^ prism_crc_back[crc >> 24];
	return crc;
}

/* A piece of a train that was cut up on this host: the IP header is longer than the UDP datagram behind it. */
static bool prism_is_segment(struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) &&
	       ntohs(ip_hdr(skb)->tot_len) > sizeof(struct iphdr) + ntohs(udp_hdr(skb)->len);
}

static bool prism_is_segment6(struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IPV6) &&
	       ntohs(ipv6_hdr(skb)->payload_len) > ntohs(udp_hdr(skb)->len);
}

/* The ICRC that the packet should have, as its headers stand now */
static __be32 prism_icrc(struct sk_buff *skb, struct rxe_pkt_info *pkt)
{
	rxe_icrc_generate(skb, pkt);
	return *(__be32 *)(pkt->hdr + pkt->paylen - RXE_ICRC_SIZE);
}

/*
 * The ICRC did not fit. True if the packet is such a segment and is right; its IP header is then as it was sent, but
 * for an identification of 0.
 */
bool prism_icrc_segment(struct sk_buff *skb, struct rxe_pkt_info *pkt, __be32 received)
{
	const u32 behind = sizeof(struct iphdr) - offsetofend(struct iphdr, id) + sizeof(struct udphdr) +
			   pkt->paylen - RXE_ICRC_SIZE;
	u32 difference;

	if (prism_is_segment6(skb)) {
		ipv6_hdr(skb)->payload_len = udp_hdr(skb)->len;
		return prism_icrc(skb, pkt) == received;
	}
	if (!prism_is_segment(skb))
		return false;
	ip_hdr(skb)->tot_len = htons(sizeof(struct iphdr) + ntohs(udp_hdr(skb)->len));
	ip_hdr(skb)->id = 0;
	difference = (__force u32)(prism_icrc(skb, pkt) ^ received);
	if (prism_crc_unwind(difference, behind + sizeof(__be16)) >> 16)
		return false;
	rxe_counter_inc(pkt->rxe, PRISM_CNT_ICRC_ID_UNKNOWN);
	return true;
}
