/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

namespace prism::gam::latch
{

/** The rules for races. All are on; the simulator switches one off, and its checks must detect that. */
struct Rules {
	bool await_acks = true;               /**< a writer has the block when all sharers have acknowledged */
	bool drop_invalidated = true;         /**< a copy invalidated before it came serves only its first access */
	bool reread = true;                   /**< a node that was invalidated while it became the writer reads again */
	bool ack_without_copy = true;         /**< a node without a copy acknowledges too */
	bool locks_hold = true;               /**< a copy locked for reading is acknowledged at the last unlock */
	bool ack_at_unlock = true;            /**< ... and it is, then */
	bool own_locks_hold = true;           /**< a block that is locked is not given to another */
	bool turn_away = true;                /**< a node that has lost the block says so to those that have asked */
	bool undo_tries = true;               /**< a try that a lock refuses leaves the entry without a writer */
	bool await_all_answers = true;        /**< ... when all sharers have answered */
	bool write_back = true;               /**< a block is handed on when the entry points at the written value */
	bool release_old = true;              /**< the reported buffer is the one that was replaced */
	bool rest_for_the_dead = true;        /**< no node asks the dead */
	bool drop_sharers_of_the_dead = true; /**< no node waits for the dead to acknowledge */
	bool let_go = true;                   /**< a death is confirmed when nothing under way gives the dead a block */
	bool look_again = true;    /**< a node that is swept during a chain is ignored in the chain's result */
	bool fail_lost = true;     /**< no access waits behind a lock of a lost block */
	bool sweep_writers = true; /**< a home takes the dead out of its entries */
	bool sweep_waiters = true;
	bool sweep_sharers = true;
};

} // namespace prism::gam::latch
