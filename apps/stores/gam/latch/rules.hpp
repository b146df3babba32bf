/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

namespace prism::gam::latch
{

/** The rules of races. All are on; the simulator switches one off, and its checks must find that. */
struct Rules {
	bool await_acks = true;        /**< who writes has the block when all sharers have let go */
	bool drop_invalidated = true;  /**< a copy that was invalidated before it came serves only who waited for it */
	bool reread = true;            /**< who was invalidated while it made itself the writer reads again */
	bool ack_without_copy = true;  /**< who has no copy acknowledges too */
	bool locks_hold = true;        /**< what is locked for reading is acknowledged at the last unlock */
	bool ack_at_unlock = true;     /**< ... and it is, then */
	bool own_locks_hold = true;    /**< a block that is locked is not given to another */
	bool turn_away = true;         /**< who does not have the block any more says so to those who asked */
	bool undo_tries = true;        /**< a try that a lock refuses leaves the entry without a writer */
	bool await_all_answers = true; /**< ... when all sharers have answered */
	bool write_back = true;        /**< a block goes on to another when the entry points at what was written */
	bool release_old = true;       /**< the buffer that is reported is the one that was replaced */
	bool rest_for_the_dead = true; /**< nobody asks the dead */
	bool drop_sharers_of_the_dead = true; /**< nobody waits for the dead to acknowledge */
	bool let_go = true;                   /**< a death is confirmed when nothing under way gives the dead a block */
	bool look_again = true;    /**< who is swept while a chain is under way is not looked for in what that brings */
	bool fail_lost = true;     /**< nobody waits behind a lock of a block that is lost */
	bool sweep_writers = true; /**< a home takes the dead out of its entries */
	bool sweep_waiters = true;
	bool sweep_sharers = true;
};

} // namespace prism::gam::latch
