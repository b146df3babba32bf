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

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

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

	(void)argv;
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
