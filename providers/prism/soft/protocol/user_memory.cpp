/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "user_memory.hpp"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>

namespace prism::soft
{

namespace
{

/** Of one thread, while it goes on. */
struct Access {
	const void *first;
	const void *second;
	std::size_t length;
	sigjmp_buf back;

	[[nodiscard]] bool touches(const void *address) const
	{
		return lies_in(address, first) || lies_in(address, second);
	}

private:
	[[nodiscard]] bool lies_in(const void *address, const void *range) const
	{
		return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(range) < length;
	}
};

/* The handler looks here in threads that never accessed anything: no memory may be taken for it then. */
[[gnu::tls_model("initial-exec")]] thread_local Access *current = nullptr;

struct sigaction before_segv, before_bus;

void pass_on(int signal, siginfo_t *info, void *context)
{
	const struct sigaction &before = signal == SIGSEGV ? before_segv : before_bus;
	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(signal, info, context);
		return;
	}
	if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(signal);
		return;
	}
	/* Back to what faulted, which now ends the process where it is; a signal that was sent comes again. */
	std::signal(signal, SIG_DFL);
	if (info->si_code <= 0)
		std::raise(signal);
}

void on_fault(int signal, siginfo_t *info, void *context)
{
	if (current && info->si_code > 0 && current->touches(info->si_addr))
		siglongjmp(current->back, 1);
	pass_on(signal, info, context);
}

/* Nothing that has to be destroyed lies between the fault and here. */
[[gnu::noinline]] bool try_move(void *to, const void *from, std::size_t length, const void *first, const void *second)
{
	Access access;
	access.first = first;
	access.second = second;
	access.length = length;
	if (sigsetjmp(access.back, 0)) {
		current = nullptr;
		return false;
	}
	current = &access;
	std::atomic_signal_fence(std::memory_order_seq_cst);
	std::memmove(to, from, length);
	std::atomic_signal_fence(std::memory_order_seq_cst);
	current = nullptr;
	return true;
}

} // namespace

void survive_unmapped_memory()
{
	static std::once_flag once;
	std::call_once(once, [] {
		struct sigaction action {
		};
		action.sa_sigaction = on_fault;
		/* Not blocked while it is handled: siglongjmp() restores no mask. */
		action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
		sigaction(SIGSEGV, &action, &before_segv);
		sigaction(SIGBUS, &action, &before_bus);
	});
}

bool load_from_user(void *to, const void *from, std::size_t length)
{
	return try_move(to, from, length, from, from);
}

bool store_to_user(void *to, const void *from, std::size_t length)
{
	return try_move(to, from, length, to, to);
}

bool copy_within_user(void *to, const void *from, std::size_t length)
{
	return try_move(to, from, length, to, from);
}

} // namespace prism::soft
