/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Read before rxe_mr.c and rxe_odp.c, and before no other file (Kbuild). All payload, of standard requests too, goes
 * from and to regions by what these copy with: a memcpy() that may be a string instruction, which tears words
 * (docs/semantics.md S.4.4).
 * Here memcpy() is a copy by whole words. No line of rxe has to change for that: where it copies it has a parameter
 * that says which side is the region, and what has none does not compile.
 */
#ifndef PRISM_MR_COPY_H
#define PRISM_MR_COPY_H

/* What they include: headers use memcpy(), too. */
#include <linux/hmm.h>
#include <linux/libnvdimm.h>
#include <rdma/ib_umem_odp.h>
#include "rxe.h"
#include "rxe_loc.h"
#include "core/prism_words.h"

#undef memcpy
#define memcpy(to, from, length) prism_mr_copy(dir, to, from, length)

static inline void prism_mr_copy(enum rxe_mr_copy_dir dir, void *to, const void *from, u32 length)
{
	if (dir == RXE_TO_MR_OBJ)
		prism_words_store(to, from, length);
	else
		prism_words_load(to, from, length);
}

#endif /* PRISM_MR_COPY_H */
