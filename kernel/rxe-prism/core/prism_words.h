/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Copies of memory that others use at the same time: docs/semantics.md S.4.4.
 *
 * Every aligned word of 8, 4 or 2 bytes within a copy is loaded as a whole from shared memory, and stored as a whole
 * there. A copy of at most one block has an order, too: its words are loaded from the first to the last, each with
 * acquire, and stored from the last to the first, each with release.
 */
#ifndef PRISM_WORDS_H
#define PRISM_WORDS_H

#include "prism_platform.h"

#define PRISM_WORD	8
/* Size of memory that operations access atomically (S.4.2), and the longest copy that has an order */
#define PRISM_BLOCK	32

/* Copies from shared memory to the caller's */
void prism_words_load(void *to, const void *from, size_t length);
/* Copies from the caller's memory to shared memory */
void prism_words_store(void *to, const void *from, size_t length);
/*
 * Copies between shared memories. If they overlap, each byte of @to gets one that its place in @from held before or
 * meanwhile.
 */
void prism_words_copy(void *to, const void *from, size_t length);

/* Size of the pieces of a copy through a buffer */
#define PRISM_PIECE	512

/*
 * Returns the bytes of @left at @address, at most @room, that are the next piece. The rest begins with a word, so that
 * no word is split. @room is at least a word, and for the first piece more.
 */
static inline size_t prism_words_piece(u64 address, size_t left, size_t room)
{
	return left <= room ? left : room - (address + room) % PRISM_WORD;
}

#endif /* PRISM_WORDS_H */
