/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Masked comparison and masked swap of 8, 16 or 32 bytes (docs/semantics.md S.6; PRISM section 3.3). */
#ifndef PRISM_CAS_H
#define PRISM_CAS_H

#include "prism_wire.h"

/* The operands of one CAS; each array holds @size bytes in memory order. */
struct prism_cas {
	u8 mode;		/* enum prism_cas_mode */
	u8 size;		/* 8, 16 or 32 */
	const u8 *compare;
	const u8 *swap;
	const u8 *compare_mask;
	const u8 *swap_mask;
};

/* Returns (compare & mask) MODE (target & mask), as unsigned little-endian integers of @size bytes */
bool prism_cas_holds(const struct prism_cas *cas, const u8 *target);

/* Sets target = (target & ~mask) | (swap & mask) */
void prism_cas_swap(const struct prism_cas *cas, u8 *target);

#endif /* PRISM_CAS_H */
