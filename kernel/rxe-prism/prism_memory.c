// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The executor's view of this device: struct prism_env over rxe's memory regions and windows.
 *
 * A span holds a reference to its region, which makes deregistration wait until put(). Its address is the one in the
 * region, which for a zero-based window differs from the one in the request.
 */
#include <rdma/ib_umem.h>

#include "rxe.h"
#include "rxe_loc.h"

static int prism_access(u32 rights)
{
	return (rights & PRISM_RIGHT_READ ? IB_ACCESS_REMOTE_READ : 0) |
	       (rights & PRISM_RIGHT_WRITE ? IB_ACCESS_REMOTE_WRITE : 0) |
	       (rights & PRISM_RIGHT_ATOMIC ? IB_ACCESS_REMOTE_ATOMIC : 0);
}

static bool prism_inside(u64 start, u64 size, u64 va, u32 length)
{
	return va >= start && length <= size && va - start <= size - length;
}

/* Returns the region behind a window, if the range lies in the window; @va becomes an address of the region. */
static struct rxe_mr *prism_window_region(struct rxe_qp *qp, u32 rkey, int access, u64 *va, u32 length)
{
	struct rxe_mw *mw = rxe_lookup_mw(qp, access, rkey);
	struct rxe_mr *mr = NULL;
	u64 base;

	if (!mw)
		return NULL;
	spin_lock_bh(&mw->lock);
	base = mw->access & IB_ZERO_BASED ? 0 : mw->addr;
	/* The window may have been bound anew, with another key and other rights. */
	if (mw->mr && mw->rkey == rkey && (mw->access & access) == access &&
	    prism_inside(base, mw->length, *va, length) && rxe_get(mw->mr)) {
		mr = mw->mr;
		*va += mw->addr - base;
	}
	spin_unlock_bh(&mw->lock);
	rxe_put(mw);
	return mr;
}

static bool prism_get(void *ctx, u32 rkey, u64 va, u32 length, u32 rights, struct prism_span *span)
{
	const int access = prism_access(rights);
	struct rxe_qp *qp = ctx;
	struct rxe_mr *mr;

	span->region = NULL;
	span->va = va;
	span->length = length;
	if (!length)
		return true;
	if (rkey_is_mw(rkey))
		mr = prism_window_region(qp, rkey, access, &span->va, length);
	else
		mr = lookup_mr(qp->pd, access, rkey, RXE_LOOKUP_REMOTE);
	if (!mr)
		return false;
	/* On some kernels lookup_mr() accepts any of several rights; a window has rights of its own. */
	if ((!rkey_is_mw(rkey) && (mr->access & access) != access) || READ_ONCE(mr->state) != RXE_MR_STATE_VALID ||
	    prism_is_paged(mr) || mr_check_range(mr, span->va, length)) {
		rxe_put(mr);
		return false;
	}
	span->region = mr;
	return true;
}

static void prism_put(void *ctx, struct prism_span *span)
{
	struct rxe_mr *mr = span->region;

	if (mr)
		rxe_put(mr);
	span->region = NULL;
}

static void prism_env_load(void *ctx, const struct prism_span *span, u32 offset, void *to, u32 length)
{
	if (rxe_mr_copy(span->region, span->va + offset, to, length, RXE_FROM_MR_OBJ))
		memset(to, 0, length);
}

static void prism_env_store(void *ctx, const struct prism_span *span, u32 offset, const void *from, u32 length)
{
	rxe_mr_copy(span->region, span->va + offset, (void *)from, length, RXE_TO_MR_OBJ);
}

/*
 * Copies in pieces, as regions are not contiguous in memory. Pieces end where words end, on both sides (prism_words.h).
 */
static void prism_env_copy(void *ctx, const struct prism_span *to, const struct prism_span *from, u32 length)
{
	u32 loaded = 0, stored = 0, n;
	u8 piece[PRISM_PIECE];

	while (stored < length) {
		n = prism_words_piece(from->va + loaded, length - loaded, sizeof(piece) - (loaded - stored));
		prism_env_load(ctx, from, loaded, piece + (loaded - stored), n);
		loaded += n;
		n = prism_words_piece(to->va + stored, length - stored, loaded - stored);
		prism_env_store(ctx, to, stored, piece, n);
		stored += n;
		memmove(piece, piece + n, loaded - stored);
	}
}

static void prism_env_lock(void *ctx, const struct prism_span *span, u32 offset, u32 length)
	__acquires(&atomic_ops_lock)
{
	spin_lock_bh(&atomic_ops_lock);
}

static void prism_env_unlock(void *ctx, const struct prism_span *span, u32 offset, u32 length)
	__releases(&atomic_ops_lock)
{
	spin_unlock_bh(&atomic_ops_lock);
}

/* Returns the place of a range of a user region; does not check its pages. */
void prism_place_in(const struct rxe_mr *mr, u64 va, u32 length, struct prism_place *place)
{
	place->mm = mr->umem->owning_mm;
	place->at = mr->umem->address + (va - mr->ibmr.iova);
	place->length = length;
}

/* Returns the place of the range, if access is permitted */
bool prism_locate(struct rxe_qp *qp, u32 rkey, u64 va, u32 length, u32 rights, struct prism_place *place)
{
	struct prism_span span;

	if (!prism_get(qp, rkey, va, length, rights, &span))
		return false;
	memset(place, 0, sizeof(*place));
	if (length)
		prism_place_in(span.region, span.va, length, place);
	prism_put(qp, &span);
	return true;
}

const struct prism_env prism_memory = {
	.get = prism_get,
	.put = prism_put,
	.load = prism_env_load,
	.store = prism_env_store,
	.copy = prism_env_copy,
	.lock = prism_env_lock,
	.unlock = prism_env_unlock,
	.pop = prism_pop,
	.give_back = prism_give_back,
};
