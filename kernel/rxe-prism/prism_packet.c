// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Building and sending PRISM packets over rxe's network layer. */
#include "rxe.h"
#include "rxe_loc.h"

/*
 * Makes a packet with its BTH written; the caller fills in the rest after it, up to @size bytes with pad. Returns NULL
 * if there is no memory or no route.
 */
struct sk_buff *prism_packet(struct rxe_qp *qp, struct rxe_pkt_info *pkt, u8 opcode, u32 psn, u8 flags,
			     bool ack_req, u32 size)
{
	const struct prism_bth bth = {
		.opcode = opcode,
		.pad = -size & 3,
		.ack_req = ack_req,
		.flags = flags,
		.qpn = qp->attr.dest_qp_num,
		.psn = psn,
	};
	struct rxe_dev *rxe = to_rdev(qp->ibqp.device);
	struct sk_buff *skb;

	memset(pkt, 0, sizeof(*pkt));
	pkt->mask = rxe_opcode[opcode].mask;
	pkt->paylen = size + bth.pad + RXE_ICRC_SIZE;
	skb = rxe_init_packet(rxe, &qp->pri_av, pkt->paylen, pkt);
	if (!skb)
		return NULL;
	pkt->qp = qp;
	pkt->opcode = opcode;
	pkt->psn = psn;
	prism_bth_encode(pkt->hdr, &bth);
	memset(pkt->hdr + size, 0, bth.pad);
	return skb;
}

/*
 * Sends the packet, and consumes @skb in any case. A packet that the network does not take now is a lost packet: the
 * timer of the requester sends it again.
 */
int prism_transmit(struct rxe_qp *qp, struct rxe_pkt_info *pkt, struct sk_buff *skb)
{
	const int err = rxe_prepare(&qp->pri_av, pkt, skb);

	if (err) {
		kfree_skb(skb);
		return err;
	}
	rxe_xmit_packet(qp, pkt, skb);
	return 0;
}
