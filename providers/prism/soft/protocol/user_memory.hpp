/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The memory of regions, which the application may unmap, or truncate the file of, without deregistering it first. A
 * NIC has pinned it; here the access faults, and must not end the process.
 *
 * The choice is between a system call for each access (process_vm_readv(2), mincore(2), which is out of date at once)
 * and a handler of SIGSEGV and SIGBUS. With the handler an access costs what sigsetjmp() without a signal mask costs,
 * some nanoseconds, and only the one that faults is slow. What is not such an access goes on to the handler that was
 * there before.
 *
 * A program that installs its own later takes ours away. Under the launcher, which has sigaction(3), it stands behind
 * ours all the same, and does not see it. Without the launcher ours is put in front again when the next region is
 * registered: to look before each access would cost a system call, too (0.1 us).
 */
#pragma once

#include <csignal>
#include <cstddef>
#include <mutex>

namespace prism::soft
{

/** From now on the functions below survive, until somebody else handles the signals. */
void survive_unmapped_memory();
/** What it holds meanwhile; nothing else is taken then. To be held over a fork: a child would find it taken for ever.
 */
std::mutex &handlers_lock();

/**
 * sigaction(3) for the handlers that stand behind ours; from the first call on, all handlers are installed by it.
 * False if ours is not there, or for other signals: then nothing is done.
 */
bool stand_in_front(int signal, const struct sigaction *action, struct sigaction *before);

/** By whole words (core/prism_words.h). False, with part of it done, if the application's memory is not there. */
[[nodiscard]] bool load_from_user(void *to, const void *from, std::size_t length);
[[nodiscard]] bool store_to_user(void *to, const void *from, std::size_t length);
[[nodiscard]] bool copy_within_user(void *to, const void *from, std::size_t length);

} // namespace prism::soft
