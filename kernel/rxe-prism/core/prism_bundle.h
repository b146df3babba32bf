/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Bundles: several requests of one queue pair, or several short answers to one, in one packet.
 * Specification: docs/wire-protocol.md W.12.
 */
#ifndef PRISM_BUNDLE_H
#define PRISM_BUNDLE_H

#include "prism_wire.h"

#define PRISM_BUNDLE_MIN_ENTRIES	2
#define PRISM_BUNDLE_MAX_ENTRIES	16
#define PRISM_ENTRY_HEADER_SIZE		4

/* Offset of an entry in the packet that it replaces, if their bodies lie at the same place */
#define PRISM_ENTRY_OFFSET		(PRISM_BTH_SIZE - PRISM_ENTRY_HEADER_SIZE)

/* Bytes by which a bundle may exceed the path MTU, from BTH to the last pad */
#define PRISM_BUNDLE_HEADERS		36
/* Hence the longest packet that an entry replaces: it has a BTH instead of the entry header */
#define PRISM_MAX_ENTRY_PACKET(mtu)	((mtu) + PRISM_BUNDLE_HEADERS - PRISM_ENTRY_HEADER_SIZE)

/* The entries of a bundle that are still to be taken. Points into the packet. */
struct prism_bundle {
	const u8 *at;
	const u8 *end;
	struct prism_bth bth;	/* of the packet of the entry last taken, but for the PSN, which is the next one's */
	bool answers;
};

bool prism_opcode_is_bundle(u8 opcode);

/* Returns the bundle opcode under which @opcode travels as an entry; 0 if it never does. */
u8 prism_bundle_opcode_of(u8 opcode);

/*
 * Returns the opcode of the bundles that take the packet of @size bytes (BTH to pad); 0 if none does. Does not check
 * anything else: a packet too short for its headers may be an entry, and is refused as that packet.
 */
u8 prism_bundle_takes(const u8 *packet, u32 size, u32 mtu);

/*
 * Begins to take apart the packet of @size bytes (BTH to pad), whose opcode is a bundle's. Returns false if it is
 * malformed; then nothing of it may be used.
 */
bool prism_bundle_open(struct prism_bundle *bundle, const u8 *packet, u32 size, u32 mtu);

/*
 * Writes the next entry as the packet that it replaces, of at most PRISM_MAX_ENTRY_PACKET(mtu) bytes. Restores the
 * zeros that were left out of a RESPONSE. Returns the packet's size (BTH to pad), 0 after the last entry.
 */
u32 prism_bundle_next(struct prism_bundle *bundle, u8 *packet);

/* Returns the most bytes that prism_bundle_next() writes for the next entry; 0 after the last. */
u32 prism_bundle_room(const struct prism_bundle *bundle);

/* Returns the bytes that the packet takes as an entry, header and pad included. */
u32 prism_bundle_entry_size(const u8 *packet, u32 size);

/* Writes the packet as an entry at @to, which must have room for prism_bundle_entry_size(). Returns that size. */
u32 prism_bundle_put_entry(u8 *to, const u8 *packet, u32 size);

/*
 * Makes the packet an entry where it lies: its body stays, and the entry header takes the place of the BTH's end.
 * Returns the entry's size. The PRISM_ENTRY_OFFSET bytes in front of the entry are no longer needed.
 */
u32 prism_bundle_make_entry(u8 *packet, u32 size);

/* Writes the BTH of a bundle whose first entry replaces a packet with this BTH. */
void prism_bundle_put_header(u8 *to, const u8 *first_packet);

#endif /* PRISM_BUNDLE_H */
