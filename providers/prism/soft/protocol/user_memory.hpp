/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Access to the memory of regions. The application may unmap it, or truncate its file, without deregistering it first.
 * A NIC has pinned it; here the access faults, and must not end the process.
 *
 * The choice is between a system call for each access (process_vm_readv(2), mincore(2), which is out of date at once)
 * and a handler of SIGSEGV and SIGBUS. With the handler an access costs a sigsetjmp() without a signal mask, some
 * nanoseconds, and only a faulting access is slow. Other faults go on to the handler that was installed before.
 *
 * A program that later installs its own handler replaces ours. Under the launcher, which intercepts sigaction(3), the
 * program's handler comes behind ours instead, unknown to the program. Without the launcher ours is put in front again
 * when the next region is registered: a check before each access would cost a system call, too (0.1 us).
 */
#pragma once

#include <csignal>
#include <cstddef>
#include <mutex>

namespace prism::soft
{

/** Makes the functions below survive faults, until the program handles the signals itself. */
void survive_unmapped_memory();
/** Returns the lock that this holds; it takes no other meanwhile. Hold it over a fork, or a child finds it locked for
 * ever.
 */
std::mutex &handlers_lock();

/**
 * Acts as sigaction(3) for the handlers behind ours; once it has been called, all handlers must be installed by it.
 * Returns false, and does nothing, if ours is not installed, or for other signals.
 */
bool stand_in_front(int signal, const struct sigaction *action, struct sigaction *before);

/** Copy by whole words (core/prism_words.h). Return false, with a part copied, if the application's memory is
 * unmapped. */
[[nodiscard]] bool load_from_user(void *to, const void *from, std::size_t length);
[[nodiscard]] bool store_to_user(void *to, const void *from, std::size_t length);
[[nodiscard]] bool copy_within_user(void *to, const void *from, std::size_t length);

} // namespace prism::soft
