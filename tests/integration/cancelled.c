/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Under prism-run: a thread that is cancelled (pthread_cancel(3)) while it is in a verb. Verbs are no cancellation
 * points: it ends where it asks for it, and the process goes on. rping -P cancels its thread of completions so.
 */
#define _GNU_SOURCE
#include "expect.h"
#include "loopback.h"

#include <pthread.h>
#include <stdatomic.h>

static char memory[1 << 20];
static struct loopback loop;
static atomic_bool ready, cancelled, done;

static void poll_often(void)
{
	struct ibv_wc wc;

	for (int i = 0; i < 100000; i++)
		ibv_poll_cq(loop.cq, 1, &wc);
}

/* Many packets: what leaves as a train leaves by another system call than a single one. */
static void post_much(void)
{
	struct ibv_sge from = {(uintptr_t)memory, sizeof(memory) / 2, loop.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED}, *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)memory + sizeof(memory) / 2;
	wr.wr.rdma.rkey = loop.mr->rkey;
	ibv_post_send(loop.qp, &wr, &bad);
}

static void (*const work[])(void) = {poll_often, post_much};

/* The request to end is there before the verb is called, and nothing else of the thread's is a cancellation point. */
static void *works(void *what)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	ready = 1;
	while (!cancelled)
		;
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	(*(void (*const *)(void))what)();
	done = 1;
	pthread_testcancel();
	return NULL;
}

static int outlives(int number)
{
	void *result = NULL;
	pthread_t thread;

	alarm(30);
	if (!loopback_open(&loop, memory, sizeof(memory)) || !loopback_works(&loop) ||
	    pthread_create(&thread, NULL, works, (void *)&work[number]))
		return 0;
	while (!ready)
		;
	pthread_cancel(thread);
	cancelled = 1;
	pthread_join(thread, &result);
	return done && result == PTHREAD_CANCELED;
}

int main(void)
{
	in_child("a thread that polls is cancelled", outlives, 0);
	in_child("a thread that posts is cancelled", outlives, 1);
	return failures != 0;
}
