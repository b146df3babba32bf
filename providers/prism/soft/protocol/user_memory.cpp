/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "user_memory.hpp"

#include <ucontext.h>

#include <array>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <mutex>

extern "C" {
#include "prism_words.h"
}

namespace prism::soft
{

namespace
{

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
/* Like setjmp() without a mask, but no call: the compiler itself keeps nothing in registers over it. The thread
 * sanitizer has to be told of jumps. */
using Back = std::array<void *, 5>;
#define SET_BACK(back) __builtin_setjmp((back).data())
#define GO_BACK(back) __builtin_longjmp((back).data(), 1)
#else
using Back = sigjmp_buf;
#define SET_BACK(back) sigsetjmp(back, 0)
#define GO_BACK(back) siglongjmp(back, 1)
#endif

/** An access of one thread while it goes on. */
struct Access {
	const void *first;
	const void *second;
	std::size_t length;
	Back back;

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

/* Static storage: the handler reads this in threads that never accessed anything, and must not allocate then. */
[[gnu::tls_model("initial-exec")]] thread_local Access *current = nullptr;

/** True if this thread has unblocked the signals of faults: blocked ones would end the process. */
[[gnu::tls_model("initial-exec")]] thread_local bool takes_faults = false;

[[gnu::noinline]] void take_faults()
{
	sigset_t faults;
	sigemptyset(&faults);
	sigaddset(&faults, SIGSEGV);
	sigaddset(&faults, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
	takes_faults = true;
}

/** The handlers behind ours, for one signal. */
class Behind
{
public:
	/** Stores the handler that was there when ours was first installed. */
	void begin(const struct sigaction &action)
	{
		oldest = action;
		put(action);
	}

	/** Takes no lock: a handler may be installed by a handler. There are never as many at once as slots. */
	void put(const struct sigaction &action)
	{
		const unsigned slot = used_++ % newer_.size();
		newer_[slot] = action;
		last_ = slot;
	}
	[[nodiscard]] struct sigaction newest() const { return newer_[last_]; }

	struct sigaction oldest {
	};

private:
	std::array<struct sigaction, 16> newer_{};
	std::atomic<unsigned> used_{0}, last_{0};
};

Behind behind_segv, behind_bus;

Behind &behind(int signal)
{
	return signal == SIGSEGV ? behind_segv : behind_bus;
}

std::atomic<bool> installed{false};
/** True while the launcher keeps ours in front; without it we are not told that a program has installed its own. */
std::atomic<bool> kept_in_front{false};

/**
 * Mark of a signal that was passed on, in a field that the kernel leaves 0. A handler that was there when ours was put
 * in front again passes on to the one that it knew: ours. So the signal comes back with this mark.
 */
constexpr int passed_on = 0x5052;

/** Calls a handler as the kernel would: with the signals blocked that it asked for. */
void call(const struct sigaction &action, int signal, siginfo_t *info, void *context)
{
	sigset_t blocked = action.sa_mask, before;
	if (!(action.sa_flags & SA_NODEFER))
		sigaddset(&blocked, signal);
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(signal, info, context);
	else
		action.sa_handler(signal);
	pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void pass_on(int signal, siginfo_t *info, void *context)
{
	const bool again = info->si_errno == passed_on;
	const struct sigaction action = again ? behind(signal).oldest : behind(signal).newest();
	if ((action.sa_flags & SA_SIGINFO) || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)) {
		if (action.sa_flags & static_cast<int>(SA_RESETHAND)) {
			struct sigaction none {
			};
			none.sa_handler = SIG_DFL;
			behind(signal).put(none);
		}
		info->si_errno = passed_on;
		call(action, signal, info, context);
		return;
	}
	const bool was_sent = info->si_code <= 0;
	if (was_sent && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN)
		return;
	/* Return to the faulting instruction, which now ends the process there; a signal that was sent is raised
	 * again. */
	installed = false;
	std::signal(signal, SIG_DFL);
	if (was_sent)
		std::raise(signal);
}

/* Returns from the access: the thread goes on here after the handler. */
[[noreturn]] void give_up()
{
	GO_BACK(current->back);
}

/*
 * Makes the thread give up its access when the handler returns. The kernel then gives back what it has changed for the
 * handler, and a jump out of it would leave changed: the mask, rounding modes, the alternate stack.
 */
void give_up_after(ucontext_t &context)
{
#if defined(__x86_64__)
	constexpr greg_t red_zone = 128, alignment = 16, return_address = 8;
	greg_t &stack = context.uc_mcontext.gregs[REG_RSP];
	stack = ((stack - red_zone) & -alignment) - return_address; /* as after a call */
	context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(give_up));
#elif defined(__aarch64__)
	context.uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(give_up);
#else
	pthread_sigmask(SIG_SETMASK, &context.uc_sigmask, nullptr);
	give_up();
#endif
}

void on_fault(int signal, siginfo_t *info, void *context)
{
	if (current && info->si_code > 0 && current->touches(info->si_addr))
		give_up_after(*static_cast<ucontext_t *>(context));
	else
		pass_on(signal, info, context);
}

/* Contains nothing that needs destruction between the fault and here. */
template <typename Copy>
[[gnu::noinline]] bool try_copy(
	Copy copy, void *to, const void *from, std::size_t length, const void *first, const void *second)
{
	if (!takes_faults) [[unlikely]]
		take_faults();
	Access access;
	access.first = first;
	access.second = second;
	access.length = length;
	if (SET_BACK(access.back)) {
		current = nullptr;
		return false;
	}
	current = &access;
	std::atomic_signal_fence(std::memory_order_seq_cst);
	copy(to, from, length);
	std::atomic_signal_fence(std::memory_order_seq_cst);
	current = nullptr;
	return true;
}

void put_in_front(int signal, bool first)
{
	struct sigaction now, ours{};
	if (!first && (sigaction(signal, nullptr, &now) || now.sa_sigaction == on_fault))
		return;
	ours.sa_sigaction = on_fault;
	/* SA_NODEFER: call() blocks what the handlers behind ours ask for. */
	ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
	sigaction(signal, &ours, &now);
	if (first)
		behind(signal).begin(now);
	else
		behind(signal).put(now);
}

} // namespace

std::mutex &handlers_lock()
{
	static constinit std::mutex lock;
	return lock;
}

void survive_unmapped_memory()
{
	const std::lock_guard guard(handlers_lock());
	const bool first = !installed;
	if (!first && kept_in_front)
		return;
	put_in_front(SIGSEGV, first);
	put_in_front(SIGBUS, first);
	installed = true;
}

bool stand_in_front(int signal, const struct sigaction *action, struct sigaction *before)
{
	kept_in_front = true;
	if (!installed || (signal != SIGSEGV && signal != SIGBUS))
		return false;
	const struct sigaction now = behind(signal).newest();
	if (action)
		behind(signal).put(*action);
	if (before)
		*before = now;
	return true;
}

bool load_from_user(void *to, const void *from, std::size_t length)
{
	return try_copy(prism_words_load, to, from, length, from, from);
}

bool store_to_user(void *to, const void *from, std::size_t length)
{
	return try_copy(prism_words_store, to, from, length, to, to);
}

bool copy_within_user(void *to, const void *from, std::size_t length)
{
	return try_copy(prism_words_copy, to, from, length, to, from);
}

} // namespace prism::soft
