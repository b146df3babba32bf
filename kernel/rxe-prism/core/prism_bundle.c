// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Taking bundles apart and putting them together: docs/wire-protocol.md W.12. */
#include "prism_bundle.h"

bool prism_opcode_is_bundle(u8 opcode)
{
	return opcode == PRISM_OP_BUNDLE || opcode == PRISM_OP_BUNDLE_RESPONSE;
}

u8 prism_bundle_opcode_of(u8 opcode)
{
	static const u8 bundles[] = {
		[PRISM_OP_READ_REQUEST - PRISM_OP_READ_REQUEST] = PRISM_OP_BUNDLE,
		[PRISM_OP_WRITE_ONLY - PRISM_OP_READ_REQUEST] = PRISM_OP_BUNDLE,
		[PRISM_OP_CAS - PRISM_OP_READ_REQUEST] = PRISM_OP_BUNDLE,
		[PRISM_OP_ALLOCATE_ONLY - PRISM_OP_READ_REQUEST] = PRISM_OP_BUNDLE,
		[PRISM_OP_READ_RESPONSE_ONLY - PRISM_OP_READ_REQUEST] = PRISM_OP_BUNDLE_RESPONSE,
		[PRISM_OP_RESPONSE - PRISM_OP_READ_REQUEST] = PRISM_OP_BUNDLE_RESPONSE,
	};
	const u8 index = opcode - PRISM_OP_READ_REQUEST;

	return index < sizeof(bundles) ? bundles[index] : 0;
}

u8 prism_bundle_takes(const u8 *packet, u32 size, u32 mtu)
{
	const u8 bundle = prism_bundle_opcode_of(packet[0]);

	if (size > PRISM_MAX_ENTRY_PACKET(mtu))
		return 0;
	/* The PSNs of the entries after a READ assume that it takes one. */
	if (packet[0] != PRISM_OP_READ_REQUEST || (packet[8] & PRISM_FLAG_R) || size < PRISM_BTH_SIZE + PRISM_RETH_SIZE)
		return bundle;
	return get_unaligned_be32(packet + PRISM_BTH_SIZE + 12) <= mtu ? bundle : 0;
}

static u32 padded(u32 length)
{
	return (length + 3) & ~3u;
}

/* Copies data; the pad lies in the last word. */
static void copy_padded(u8 *to, const u8 *from, u32 length)
{
	if (length & 3)
		put_unaligned_be32(0, to + (length & ~3u));
	memcpy(to, from, length);
}

static void put_entry_header(u8 *to, u8 opcode, u8 flags, u32 length)
{
	to[0] = opcode;
	to[1] = flags & (PRISM_BTH_ACK_REQ | PRISM_FLAG_MASK);
	to[2] = length >> 8;
	to[3] = length & 0xff;
}

static u32 body_length(const u8 *entry)
{
	return entry[2] << 8 | entry[3];
}

bool prism_bundle_open(struct prism_bundle *bundle, const u8 *packet, u32 size, u32 mtu)
{
	u32 at = PRISM_BTH_SIZE, entries = 0;

	if (size < PRISM_BTH_SIZE || size > mtu + PRISM_BUNDLE_HEADERS)
		return false;
	while (size - at >= PRISM_ENTRY_HEADER_SIZE && entries < PRISM_BUNDLE_MAX_ENTRIES) {
		const u32 room = size - at - PRISM_ENTRY_HEADER_SIZE;
		const u32 body = padded(body_length(packet + at));

		if (body > room)
			return false;
		at += PRISM_ENTRY_HEADER_SIZE + body;
		entries++;
	}
	if (at != size || entries < PRISM_BUNDLE_MIN_ENTRIES)
		return false;
	prism_bth_decode(packet, &bundle->bth);
	bundle->bth.solicited = false;
	bundle->answers = packet[0] == PRISM_OP_BUNDLE_RESPONSE;
	bundle->at = packet + PRISM_BTH_SIZE;
	bundle->end = packet + size;
	return true;
}

u32 prism_bundle_room(const struct prism_bundle *bundle)
{
	u32 size;

	if (bundle->at == bundle->end)
		return 0;
	size = PRISM_BTH_SIZE + padded(body_length(bundle->at));
	return size < PRISM_RESPONSE_SIZE ? PRISM_RESPONSE_SIZE : size;
}

u32 prism_bundle_next(struct prism_bundle *bundle, u8 *packet)
{
	const u8 *entry = bundle->at;
	struct prism_bth *bth = &bundle->bth;
	u32 length, size;

	if (entry == bundle->end)
		return 0;
	length = body_length(entry);
	size = PRISM_BTH_SIZE + padded(length);
	bth->opcode = entry[0];
	bth->ack_req = entry[1] & PRISM_BTH_ACK_REQ;
	bth->flags = entry[1] & PRISM_FLAG_MASK;
	bth->pad = padded(length) - length;
	copy_padded(packet + PRISM_BTH_SIZE, entry + PRISM_ENTRY_HEADER_SIZE, length);
	if (bundle->answers && entry[0] == PRISM_OP_RESPONSE && size <= PRISM_RESPONSE_SIZE &&
	    length >= PRISM_AETH_SIZE + PRISM_RSPETH_SIZE) {
		memset(packet + size, 0, PRISM_RESPONSE_SIZE - size);
		size = PRISM_RESPONSE_SIZE;
		bth->pad = 0;
	}
	prism_bth_encode(packet, bth);
	bth->psn = (bth->psn + 1) & PRISM_PSN_MASK;
	bundle->at = entry + PRISM_ENTRY_HEADER_SIZE + padded(length);
	return size;
}

/* Returns the number of the packet's bytes behind the BTH that an entry carries */
static u32 body_of(const u8 *packet, u32 size)
{
	const u32 shortest = PRISM_BTH_SIZE + PRISM_AETH_SIZE + PRISM_RSPETH_SIZE;

	if (packet[0] != PRISM_OP_RESPONSE)
		return size - PRISM_BTH_SIZE - (packet[1] >> 4 & 3);
	/* Most results consist of zeros. */
	while (size >= shortest + sizeof(u64) && !get_unaligned_be64(packet + size - sizeof(u64)))
		size -= sizeof(u64);
	while (size > shortest && !packet[size - 1])
		size--;
	return size - PRISM_BTH_SIZE;
}

u32 prism_bundle_entry_size(const u8 *packet, u32 size)
{
	return PRISM_ENTRY_HEADER_SIZE + padded(body_of(packet, size));
}

u32 prism_bundle_put_entry(u8 *to, const u8 *packet, u32 size)
{
	const u32 length = body_of(packet, size);

	put_entry_header(to, packet[0], packet[8], length);
	copy_padded(to + PRISM_ENTRY_HEADER_SIZE, packet + PRISM_BTH_SIZE, length);
	return PRISM_ENTRY_HEADER_SIZE + padded(length);
}

u32 prism_bundle_make_entry(u8 *packet, u32 size)
{
	const u32 length = body_of(packet, size);
	u8 *body = packet + PRISM_BTH_SIZE;

	put_entry_header(body - PRISM_ENTRY_HEADER_SIZE, packet[0], packet[8], length);
	if (length & 3)
		memset(body + length, 0, padded(length) - length);
	return PRISM_ENTRY_HEADER_SIZE + padded(length);
}

void prism_bundle_put_header(u8 *to, const u8 *first_packet)
{
	struct prism_bth bth;

	prism_bth_decode(first_packet, &bth);
	bth.opcode = prism_bundle_opcode_of(first_packet[0]);
	bth.solicited = false;
	bth.ack_req = false;
	bth.flags = 0;
	bth.pad = 0;
	prism_bth_encode(to, &bth);
}
