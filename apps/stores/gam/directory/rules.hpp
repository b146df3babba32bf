/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

namespace prism::gam::directory
{

/** The rules for races. All are on; the simulator switches one off, and its checks must detect that. */
struct Rules {
	bool await_acks = true;           /**< the block is granted when all sharers have acknowledged */
	bool await_done = true;           /**< a node that was handed the block owns it when the home knows */
	bool upgrade_without_copy = true; /**< an upgrade by a node that is no sharer is a write */
	bool upgrade_of_dirty = true;     /**< an upgrade of a block that has an owner is a write */
	bool serve_while_evicting = true; /**< an owner serves from the line until its eviction is over */
	bool late_eviction = true;     /**< an owner that evicts what is in transit stays the owner until it answers */
	bool ack_without_copy = true;  /**< a node without a copy acknowledges too */
	bool ack_while_reading = true; /**< a node that waits for a copy acknowledges at once */
	bool drop_invalidated = true;  /**< ... and the copy serves only the reads that waited before */
	bool ack_while_writing = true; /**< a node that waits for the exclusive block acknowledges at once */
	bool serve_after_grant = true; /**< a node that waits for the exclusive block serves others when it has it */
	bool locks_hold = true;        /**< demands wait for the lock of a line */
	bool readers_hold_upgrades = true; /**< a write waits for the locks of this node's readers */
	bool copies_yield = true; /**< a write that waited for a lock lets the home invalidate first, then upgrades */
	bool roll_back = true;    /**< a try that a lock refuses leaves the block as it was */
	bool drop_sharers_of_the_dead = true; /**< no node waits for the dead */
	bool asked_wait_no_more = true; /**< a line that is asked for out of turn waits no longer to be asked for */
	bool receipts = true; /**< a write-back of data already sent to the home waits until the home has it */
};

} // namespace prism::gam::directory
