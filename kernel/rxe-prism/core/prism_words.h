/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Copies of memory that others use at the same time: docs/semantics.md S.4.4.
 *
 * Every aligned word of 8, 4 or 2 bytes that lies in a copy is loaded whole from memory that is shared, and stored
 * whole there. A copy of at most one block has an order, too: its words are loaded from the first to the last, each
 * with acquire, and stored from the last to the first, each with release.
 */
#ifndef PRISM_WORDS_H
#define PRISM_WORDS_H

#include "prism_platform.h"

#define PRISM_WORD	8
/* Memory that is atomic as one among operations (S.4.2), and the longest copy that has an order */
#define PRISM_BLOCK	32

/* From memory that is shared, to memory that is the caller's */
void prism_words_load(void *to, const void *from, size_t length);
/* The other way round */
void prism_words_store(void *to, const void *from, size_t length);
/* Both are shared. If they overlap, each byte of @to gets one that its place in @from held before or meanwhile. */
void prism_words_copy(void *to, const void *from, size_t length);

/* What goes by way of a buffer goes in pieces of so many bytes. */
#define PRISM_PIECE	512

/*
 * So many of @left bytes at @address, at most @room, are the next piece. The rest begins with a word, so that no word
 * is cut in two. @room is at least a word, and that of the first piece is longer.
 */
static inline size_t prism_words_piece(u64 address, size_t left, size_t room)
{
	return left <= room ? left : room - (address + room) % PRISM_WORD;
}

#endif /* PRISM_WORDS_H */
