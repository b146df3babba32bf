/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * <prism/store.h>: the common part of the interfaces of all stores. Include <prism/kv.h>, <prism/tx.h> or
 * <prism/gam.h>.
 *
 * Errors. Functions that return int return 0, or a count, on success, and a negative errno value on failure;
 * prism_store_message() then tells the cause. Two values mean the same everywhere:
 *
 *     -EINVAL       An argument is wrong; nothing was done.
 *     -EINPROGRESS  The outcome is unknown: either all changes of the call are done, or will be, or none. Only
 *                   reading again can tell.
 *
 * After every other failure nothing was changed.
 *
 * Threads. A handle may be used by several threads at once. It has a thread of its own, which answers the servers while
 * no call is made. After fork() the child must not use the handles of its parent, not even to close them.
 *
 * Memory. The memory that arguments point at belongs to the caller, and is not used after the function has returned,
 * unless its description says otherwise.
 */
#ifndef PRISM_STORE_H
#define PRISM_STORE_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns the cause of the last failure of a function of <prism/kv.h>, <prism/tx.h> or <prism/gam.h> on the calling
 * thread, and a next step, for people, without a line end. Never NULL; empty if none has failed. Valid until the next
 * failure on this thread.
 */
const char *prism_store_message(void);

#ifdef __cplusplus
}
#endif

#endif
