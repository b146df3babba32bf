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

/* How much longer than the path MTU a bundle may be, from BTH to the last pad */
#define PRISM_BUNDLE_HEADERS		36
/* Hence the longest packet that an entry replaces: it has a BTH in place of the entry header */
#define PRISM_MAX_ENTRY_PACKET(mtu)	((mtu) + PRISM_BUNDLE_HEADERS - PRISM_ENTRY_HEADER_SIZE)

/* The entries of a bundle that are still to be taken out. Points into the packet. */
struct prism_bundle {
	const u8 *at;
	const u8 *end;
	struct prism_bth bth;	/* of the next entry's packet, as far as the bundle tells */
	bool answers;
};

bool prism_opcode_is_bundle(u8 opcode);

/* The bundle opcode that @opcode travels under as an entry; 0: it never is one. */
u8 prism_bundle_opcode_of(u8 opcode);

/*
 * May the packet of @size bytes (BTH to pad) be an entry? Nothing else of it is checked: one that is too short for its
 * headers may, and is refused as that packet.
 */
bool prism_bundle_takes(const u8 *packet, u32 size, u32 mtu);

/*
 * Begin to take apart the packet of @size bytes (BTH to pad), whose opcode is a bundle's.
 * False if it is not well formed; then nothing of it may be used.
 */
bool prism_bundle_open(struct prism_bundle *bundle, const u8 *packet, u32 size, u32 mtu);

/*
 * Write the next entry as the packet that it replaces, of at most PRISM_MAX_ENTRY_PACKET(mtu) bytes. A RESPONSE gets
 * back the zeros that were left out. Returns the packet's size (BTH to pad), 0 behind the last entry.
 */
u32 prism_bundle_next(struct prism_bundle *bundle, u8 *packet);

/* Bytes that prism_bundle_next() writes at most for the next entry; 0 behind the last. */
u32 prism_bundle_room(const struct prism_bundle *bundle);

/* Bytes that the packet takes as an entry, header and pad included. */
u32 prism_bundle_entry_size(const u8 *packet, u32 size);

/* Write the packet as an entry at @to, where there is room for what prism_bundle_entry_size() says. Returns that. */
u32 prism_bundle_put_entry(u8 *to, const u8 *packet, u32 size);

/* Write the BTH of a bundle whose first entry replaces a packet with this BTH. */
void prism_bundle_put_header(u8 *to, const u8 *first_packet);

#endif /* PRISM_BUNDLE_H */
