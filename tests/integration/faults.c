/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A program with its own handlers of SIGSEGV, installed after the device was opened, as those of crash reporters.
 * Accesses of the device to unmapped memory do not reach them; faults of the program do. Under prism-run without an
 * argument; by itself with one, and then the handlers are installed before the memory is registered.
 */
#define _GNU_SOURCE
#include "expect.h"

#include <infiniband/prismdv.h>
#define loopback_devices prismdv_get_device_list
#define loopback_gid prismdv_query_gid
#include "loopback.h"

#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef SS_AUTODISARM /* of linux/signal.h, which does not go with signal.h */
#define SS_AUTODISARM (1U << 31)
#endif

static const size_t size = 1 << 16;
static sigjmp_buf back;
static volatile sig_atomic_t handled;
static struct sigaction before;

static void note(int number, siginfo_t *info, void *context)
{
	(void)context;
	handled = number == SIGSEGV && info->si_addr ? 1 : -1;
	siglongjmp(back, 1);
}

static void note_simply(int number)
{
	handled = number == SIGSEGV ? 2 : -1;
	siglongjmp(back, 1);
}

/* Calls the previous handler with all it expects, as a crash reporter does. */
static void hand_on(int number, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(number, info, context);
	signal(SIGSEGV, SIG_DFL);
}

static void install(void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	sigaction(SIGSEGV, &action, &before);
}

static void touch_nothing(void)
{
	*(volatile char *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
}

/* Causes a fault of the program's own; returns the handler's note of it */
static int own_fault(void)
{
	handled = 0;
	if (!sigsetjmp(back, 1))
		touch_nothing();
	return handled;
}

/* The memory of a connection vanishes: a request that needs it fails, and the process lives. */
static void device_survives(const char *what, struct loopback *loop)
{
	struct ibv_sge from = {(uintptr_t)loop->memory, 8, loop->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE}, *bad;
	struct ibv_wc wc;
	volatile int got = 0;

	handled = 0;
	mmap(loop->memory, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	wr.wr.rdma.remote_addr = (uintptr_t)loop->memory + 8;
	wr.wr.rdma.rkey = loop->mr->rkey;
	if (!sigsetjmp(back, 1) && !ibv_post_send(loop->qp, &wr, &bad))
		for (time_t end = time(NULL) + 5; !got && time(NULL) < end;)
			got = ibv_poll_cq(loop->cq, 1, &wc);
	expect(what, got == 1 && wc.status == IBV_WC_LOC_PROT_ERR && !handled);
}

static struct loopback *with_memory(struct loopback *loop)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(loop, 0, sizeof(*loop));
	expect("a connection", loopback_open(loop, memory, size) && loopback_works(loop));
	return loop;
}

/* Passes all on, as the device's page asks for; meanwhile the kernel blocks more signals than one. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	before.sa_sigaction(number, info, context);
}

/* Checks that a thread is as it was after a fault of the device's, and so survives the next one. */
static void leaves_no_trace(struct loopback *loop, struct loopback *(*again)(struct loopback *))
{
	static char memory[1 << 16];
	const stack_t own = {.ss_sp = memory, .ss_size = sizeof(memory), .ss_flags = (int)SS_AUTODISARM};
	struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigset_t mask;
	stack_t stack;

	sigaddset(&action.sa_mask, SIGUSR1);
	sigaction(SIGSEGV, &action, &before);
	sigaltstack(&own, NULL);
	fesetround(FE_UPWARD);
	for (int i = 0; i < 3; i++) {
		device_survives("one fault after the other", loop);
		again(loop);
		sigaction(SIGSEGV, &action, NULL);
	}
	expect("the rounding mode stays", fegetround() == FE_UPWARD);
	fesetround(FE_TONEAREST);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	expect("no signal stays blocked", !sigismember(&mask, SIGSEGV) && !sigismember(&mask, SIGUSR1));
	expect("the alternate stack stays", !sigaltstack(NULL, &stack) && stack.ss_sp == own.ss_sp);
	sigaction(SIGSEGV, &before, NULL);
}

/* A thread of a program whose signals go to another thread. */
static void *drives_with_signals_blocked(void *loop)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	device_survives("signals are blocked", loop);
	return NULL;
}

/* Returns the signals, of the first 31, that a thread does not block. */
static unsigned long takes(const char *thread)
{
	char path[300], line[256];
	unsigned long blocked = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", thread);
	status = fopen(path, "r");
	if (!status)
		return 0;
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "SigBlk: %lx", &blocked) == 1)
			break;
	fclose(status);
	return ~blocked & 0x7ffffffful;
}

static void threads_leave_signals(void)
{
	const unsigned long theirs =
		1ul << (SIGSEGV - 1) | 1ul << (SIGBUS - 1) | 1ul << (SIGKILL - 1) | 1ul << (SIGSTOP - 1);
	const struct dirent *thread;
	int devices = 0;
	DIR *list = opendir("/proc/self/task");

	while ((thread = readdir(list))) {
		if (thread->d_name[0] == '.' || atoi(thread->d_name) == getpid())
			continue;
		devices++;
		/* A thread that begins blocks all signals for a moment. */
		for (int i = 0; i < 1000 && !(takes(thread->d_name) & 1ul << (SIGSEGV - 1)); i++)
			usleep(1000);
		expect("a thread of the device takes no signals", takes(thread->d_name) == theirs);
	}
	closedir(list);
	expect("the device has a thread", devices > 0);
}

static void cannot_register(const char *what, struct loopback *loop, void *memory, size_t length)
{
	errno = 0;
	expect(what, !ibv_reg_mr(loop->pd, memory, length, IBV_ACCESS_LOCAL_WRITE) && errno);
}

static int ends_by_its_own_fault(int unused)
{
	(void)unused;
	install(hand_on);
	touch_nothing();
	return 0;
}

static int ends_by_default(int unused)
{
	(void)unused;
	signal(SIGSEGV, SIG_DFL);
	touch_nothing();
	return 0;
}

static void ends_by_signal(const char *what, int (*check)(int))
{
	int status = 0;
	pid_t child = fork();

	if (!child)
		_exit(check(0));
	waitpid(child, &status, 0);
	expect(what, WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

int main(int argc, char **argv)
{
	const int alone = argc > 1;
	struct loopback first, second;
	pthread_t blocked;

	(void)argv;
	with_memory(&first);
	cannot_register("all addresses", &first, NULL, SIZE_MAX);
	cannot_register("all addresses but some", &first, (void *)4096, SIZE_MAX - 4096);
	threads_leave_signals();
	leaves_no_trace(&first, with_memory);
	pthread_create(&blocked, NULL, drives_with_signals_blocked, &first);
	pthread_join(blocked, NULL);
	with_memory(&first);
	install(note);
	if (!alone) {
		struct sigaction now;
		expect("a handler is what was installed", !sigaction(SIGSEGV, NULL, &now) && now.sa_sigaction == note);
		device_survives("the device's faults are its own", &first);
	}
	expect("the program's faults are its own", own_fault() == 1);
	device_survives("those of the next region's are the device's", with_memory(&second));
	expect("the program's faults still are", own_fault() == 1 && own_fault() == 1);
	expect("signal() knows the handler", (void *)signal(SIGSEGV, note_simply) != (void *)SIG_ERR);
	device_survives("a simple handler stands behind", with_memory(&first));
	expect("and gets what is the program's", own_fault() == 2);
	signal(SIGSEGV, SIG_DFL);
	with_memory(&second);
	ends_by_signal("who hands on ends", ends_by_its_own_fault);
	with_memory(&first);
	ends_by_signal("who has none ends", ends_by_default);
	install(hand_on);
	with_memory(&second);
	ends_by_signal("who hands on to the device ends", ends_by_default);
	return failures != 0;
}
