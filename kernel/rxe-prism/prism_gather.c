// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Outgoing bundles (docs/wire-protocol.md W.12.3). Packets of one queue pair gather as entries while its requester or
 * responder has more to send. Nothing waits for more: the end of a run, and any packet that is no entry, flushes. An
 * entry that has stayed alone is sent as its packet.
 */
#include "rxe.h"
#include "rxe_loc.h"

/* An ALLOCATE without payload: a packet that leaves no room for it need not gather */
#define PRISM_SHORTEST_ENTRY	(PRISM_ENTRY_HEADER_SIZE + PRISM_ALETH_SIZE)

/* Frees the bundle. Its size depends on the path MTU, which changes after a reset at the earliest. */
void prism_gather_free(struct prism_gather *gather)
{
	kfree(gather->bundle);
	gather->bundle = NULL;
	gather->entries = 0;
}

static void prism_send_bundle(struct rxe_qp *qp, const struct prism_gather *gather, u32 entries)
{
	struct rxe_dev *rxe = to_rdev(qp->ibqp.device);
	struct rxe_pkt_info pkt __uninitialized;
	struct sk_buff *skb;

	skb = prism_packet(qp, &pkt, gather->bundle[0], gather->first_psn, 0, false, gather->size);
	if (!skb)
		return;
	memcpy(pkt.hdr, gather->bundle, gather->size);
	if (prism_transmit(qp, &pkt, skb))
		return;
	rxe_counter_inc(rxe, PRISM_CNT_TX_BUNDLES);
	atomic64_add(entries, &rxe->stats_counters[PRISM_CNT_TX_BUNDLED]);
}

/* Sends the only entry as the packet that it would have replaced */
static void prism_send_alone(struct rxe_qp *qp, const struct prism_gather *gather)
{
	const u8 opcode = gather->bundle[PRISM_BTH_SIZE];
	struct rxe_pkt_info pkt __uninitialized;
	struct prism_bundle bundle;
	struct sk_buff *skb;
	u32 size;

	bundle.at = gather->bundle + PRISM_BTH_SIZE;
	bundle.end = gather->bundle + gather->size;
	bundle.answers = gather->bundle[0] == PRISM_OP_BUNDLE_RESPONSE;
	prism_bth_decode(gather->bundle, &bundle.bth);
	skb = prism_packet(qp, &pkt, opcode, gather->first_psn, 0, false, prism_bundle_room(&bundle));
	if (!skb)
		return;
	size = prism_bundle_next(&bundle, pkt.hdr);
	pkt.paylen = size + RXE_ICRC_SIZE;
	skb_trim(skb, pkt.paylen);
	prism_transmit(qp, &pkt, skb);
}

/* Sends the gathered packets. On failure they are lost: the requester's timer sends them, or asks for them, again. */
void __prism_flush(struct rxe_qp *qp, struct prism_gather *gather)
{
	const u32 entries = gather->entries;

	/* before sending: over rxe's loopback the answer comes before we return */
	gather->entries = 0;
	if (!qp->valid)
		return;
	if (entries == 1)
		prism_send_alone(qp, gather);
	else
		prism_send_bundle(qp, gather, entries);
}

/* True if another entry could fit beside one of this size */
static bool prism_is_worth_it(const struct prism_gather *gather, u32 entry, u32 limit)
{
	return gather->entries || PRISM_BTH_SIZE + entry + PRISM_SHORTEST_ENTRY <= limit;
}

static bool prism_continues(const struct prism_gather *gather, u32 psn, u32 entry, u32 limit)
{
	return psn == ((gather->first_psn + gather->entries) & BTH_PSN_MASK) && gather->size + entry <= limit;
}

/* Adds the packet of @size bytes (BTH to pad) to the gathered ones. False if it must be sent as it is. */
bool prism_gather(struct rxe_qp *qp, struct prism_gather *gather, u32 psn, const u8 *packet, u32 size)
{
	const u32 mtu = qp->mtu, limit = mtu + PRISM_BUNDLE_HEADERS;
	u32 entry;

	if (!prism_bundle_takes(packet, size, mtu))
		return false;
	entry = prism_bundle_entry_size(packet, size);
	if (gather->entries && !prism_continues(gather, psn, entry, limit))
		__prism_flush(qp, gather);
	if (!prism_is_worth_it(gather, entry, limit))
		return false;
	if (!gather->bundle)
		gather->bundle = kmalloc(limit, GFP_ATOMIC);
	if (!gather->bundle)
		return false;
	if (!gather->entries) {
		prism_bundle_put_header(gather->bundle, packet);
		gather->first_psn = psn;
		gather->size = PRISM_BTH_SIZE;
	}
	prism_bundle_put_entry(gather->bundle + gather->size, packet, size);
	gather->size += entry;
	if (++gather->entries == PRISM_BUNDLE_MAX_ENTRIES)
		__prism_flush(qp, gather);
	return true;
}

/*
 * Sends the packet after the gathered ones, or adds it to them if @more, which tells that others follow before the
 * flush. Consumes @skb in any case.
 */
int prism_send(struct rxe_qp *qp, struct prism_gather *gather, struct rxe_pkt_info *pkt, struct sk_buff *skb, bool more)
{
	if ((more || gather->entries) && prism_gather(qp, gather, pkt->psn, pkt->hdr, pkt->paylen - RXE_ICRC_SIZE)) {
		kfree_skb(skb);
		return 0;
	}
	prism_flush(qp, gather);
	return prism_transmit(qp, pkt, skb);
}
