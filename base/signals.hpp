/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <csignal>

namespace prism
{

/**
 * Runs @p start, which starts a thread, so that the thread takes no signals but SIGSEGV and SIGBUS, by which it learns
 * that memory is gone. Signals to the process concern the program's own threads, which may have blocked one to wait for
 * it.
 */
template <typename Start>
auto without_signals(const Start &start)
{
	struct Mask {
		Mask()
		{
			sigset_t all;
			sigfillset(&all);
			for (const int its_own : {SIGSEGV, SIGBUS})
				sigdelset(&all, its_own);
			pthread_sigmask(SIG_SETMASK, &all, &before);
		}
		~Mask() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
		sigset_t before;
	};
	const Mask mask;
	return start();
}

} // namespace prism
