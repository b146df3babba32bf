// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Puts a program's handlers of SIGSEGV and SIGBUS behind the device's, whenever they are installed: a fault in memory
// that the program has unmapped under its region is not the program's to handle. The program sees its own handlers
// alone.
#include "../soft/verbs/soft_device.h"
#include "next_definition.hpp"

#include <cerrno>
#include <csignal>

namespace
{

int real_sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
	static constinit prism::launcher::NextDefinition<int(int, const struct sigaction *, struct sigaction *)> next(
		"sigaction");

	return next.get()(signal, action, before);
}

// Looks the function up before the program's first signal handler may need it.
__attribute__((constructor)) void look_up()
{
	struct sigaction unused;

	real_sigaction(SIGSEGV, nullptr, &unused);
}

sighandler_t install(int signal, sighandler_t handler, int flags)
{
	struct sigaction action = {}, before;

	action.sa_handler = handler;
	action.sa_flags = flags;
	return sigaction(signal, &action, &before) ? SIG_ERR : before.sa_handler;
}

} // namespace

#pragma GCC visibility push(default)

extern "C" {

int sigaction(int signal, const struct sigaction *action, struct sigaction *before) noexcept
{
	if (prismdv_soft_sigaction(signal, action, before))
		return 0;
	return real_sigaction(signal, action, before);
}

// The C library has two signal() functions: headers map the name to another for programs that want System V's.
sighandler_t signal(int number, sighandler_t handler) noexcept
{
	return install(number, handler, SA_RESTART);
}

sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept
{
	return install(number, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}
}

#pragma GCC visibility pop
