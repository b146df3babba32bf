/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Included before rxe_mr.c and rxe_odp.c, and before no other file (Kbuild). These files copy all payload, of standard
 * requests too, from and to regions by memcpy(), which may be a string instruction, and that tears words
 * (docs/semantics.md S.4.4). Here memcpy() is a copy by whole words. No line of rxe has to change for that: a function
 * of rxe that copies has a parameter that tells which side is the region, and one without it does not compile.
 */
#ifndef PRISM_MR_COPY_H
#define PRISM_MR_COPY_H

/* The headers that they include, which use memcpy(), too. */
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
