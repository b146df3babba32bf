// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Incoming bundles (docs/wire-protocol.md W.12.2). After the checks that rxe makes of every packet, a bundle becomes
 * the packets that its entries replace; nothing else in rxe or in our code knows bundles.
 */
#include "rxe.h"
#include "rxe_loc.h"

/* Fills in the properties of an entry's packet that are not in the bundle's bytes */
static void prism_entry_info(const struct rxe_pkt_info *whole, struct rxe_pkt_info *pkt)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->rxe = whole->rxe;
	pkt->qp = whole->qp;
	pkt->port_num = whole->port_num;
	pkt->pkey_index = whole->pkey_index;
}

/* Returns the next entry as a packet of its own, with room in place of an ICRC. NULL if there is no memory. */
static struct sk_buff *prism_entry_packet(struct sk_buff *whole, struct prism_bundle *bundle)
{
	const u32 room = prism_bundle_room(bundle) + RXE_ICRC_SIZE;
	const u32 psn = bundle->bth.psn;
	struct rxe_pkt_info *pkt;
	struct sk_buff *skb;

	skb = alloc_skb(room, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb->dev = whole->dev;
	skb->protocol = whole->protocol;
	pkt = SKB_TO_PKT(skb);
	prism_entry_info(SKB_TO_PKT(whole), pkt);
	pkt->hdr = skb_put(skb, room);
	pkt->paylen = prism_bundle_next(bundle, pkt->hdr) + RXE_ICRC_SIZE;
	pkt->psn = psn;
	return skb;
}

/*
 * Gives the packet its opcode, if it may be an entry. Among requests, one that may not counts as a request that breaks
 * F4 (the responder finds no such request under a bundle's opcode); among answers, it ends the bundle.
 */
static bool prism_admit(struct rxe_pkt_info *pkt, u8 bundle, u32 mtu)
{
	const bool takes = prism_bundle_takes(pkt->hdr, pkt->paylen - RXE_ICRC_SIZE, mtu) == bundle;

	if (!takes && bundle == PRISM_OP_BUNDLE_RESPONSE)
		return false;
	if (!takes)
		pkt->hdr[0] = PRISM_OP_BUNDLE;
	pkt->opcode = pkt->hdr[0];
	pkt->mask = rxe_opcode[pkt->opcode].mask | PRISM_ENTRY_MASK;
	return true;
}

/* True if the packet is too short for an AETH. For a separate packet rxe has checked this before. */
static bool prism_is_cut(const struct rxe_pkt_info *pkt)
{
	return (pkt->mask & RXE_ACK_MASK) && pkt->paylen < PRISM_BTH_SIZE + PRISM_AETH_SIZE + RXE_ICRC_SIZE;
}

/* Takes the bundle apart. An entry that there is no memory for is lost, with all behind it. */
static u32 prism_take_apart(struct sk_buff *whole, struct prism_bundle *bundle, u32 mtu, struct sk_buff_head *entries)
{
	const struct rxe_pkt_info *pkt = SKB_TO_PKT(whole);
	struct sk_buff *skb;
	u32 count = 0;

	while (prism_bundle_room(bundle)) {
		skb = prism_entry_packet(whole, bundle);
		if (!skb)
			break;
		rxe_counter_inc(pkt->rxe, PRISM_CNT_RX_BUNDLED);
		if (!prism_admit(SKB_TO_PKT(skb), pkt->opcode, mtu)) {
			rxe_counter_inc(pkt->rxe, PRISM_CNT_RESPONSE_DROPPED);
			kfree_skb(skb);
			break;
		}
		if (prism_is_cut(SKB_TO_PKT(skb))) {
			rxe_counter_inc(pkt->rxe, PRISM_CNT_RESPONSE_DROPPED);
			kfree_skb(skb);
			continue;
		}
		if (!ib_device_try_get(&pkt->rxe->ib_dev)) {
			kfree_skb(skb);
			break;
		}
		rxe_get(pkt->qp);
		__skb_queue_tail(entries, skb);
		count++;
	}
	return count;
}

static void prism_let_go(struct rxe_pkt_info *pkt, struct sk_buff *skb)
{
	struct rxe_qp *qp = pkt->qp;
	struct rxe_dev *rxe = pkt->rxe;

	kfree_skb(skb);
	rxe_put(qp);
	ib_device_put(&rxe->ib_dev);
}

/* Hands all over at once, so that their answers find them together. */
static void prism_hand_over(struct rxe_pkt_info *pkt, struct sk_buff_head *entries, u32 count)
{
	const bool requests = pkt->mask & RXE_REQ_MASK;
	struct rxe_qp *qp = pkt->qp;
	struct sk_buff_head *line = requests ? &qp->req_pkts : &qp->resp_pkts;
	struct sk_buff *skb;
	unsigned long flags;

	if (unlikely(skb_queue_len_lockless(line) + count > RXE_MAX_BACKLOG)) {
		rxe_counter_inc(pkt->rxe, RXE_CNT_BACKLOG_DROPS);
		while ((skb = __skb_dequeue(entries)))
			prism_let_go(SKB_TO_PKT(skb), skb);
		return;
	}
	spin_lock_irqsave(&line->lock, flags);
	skb_queue_splice_tail_init(entries, line);
	spin_unlock_irqrestore(&line->lock, flags);
	if (requests)
		prism_kick_responder(qp);
	else
		prism_kick_completer(qp);
}

/*
 * Handles a bundle for a queue pair that speaks PRISM, its ICRC checked. False if it continues as one packet: a
 * malformed request, which is refused in its turn. Otherwise it is consumed.
 */
bool __prism_unbundle(struct rxe_pkt_info *pkt, struct sk_buff *skb)
{
	const u32 mtu = pkt->qp->mtu;
	struct prism_bundle bundle;
	struct sk_buff_head entries;
	bool formed;
	u32 count;

	formed = prism_bundle_open(&bundle, pkt->hdr, pkt->paylen - RXE_ICRC_SIZE, mtu);
	if (!formed && pkt->opcode == PRISM_OP_BUNDLE)
		return false;
	if (formed) {
		rxe_counter_inc(pkt->rxe, PRISM_CNT_RX_BUNDLES);
		__skb_queue_head_init(&entries);
		count = prism_take_apart(skb, &bundle, mtu, &entries);
		if (count)
			prism_hand_over(pkt, &entries, count);
	} else {
		rxe_counter_inc(pkt->rxe, PRISM_CNT_RESPONSE_DROPPED);
	}
	prism_let_go(pkt, skb);
	return true;
}
