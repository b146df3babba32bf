/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Under prism-run: a thread is cancelled (pthread_cancel(3)) during a verb, or during a function of the C library that
 * acts on a channel. Verbs are no cancellation points, and close(2) is one: the thread ends there, or at its next
 * cancellation point, and the process goes on. rping -P cancels its thread of completions like this.
 */
#define _GNU_SOURCE
#include "expect.h"
#include "loopback.h"

#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <sys/stat.h>

static char memory[1 << 20];
static struct loopback loop;
static struct ibv_comp_channel *completions;
static struct rdma_event_channel *events;
static atomic_bool ready, cancelled, done;

static void poll_often(void)
{
	struct ibv_wc wc;

	for (int i = 0; i < 100000; i++)
		ibv_poll_cq(loop.cq, 1, &wc);
}

/* Posts many packets: a train is sent by another system call than a single packet. */
static void post_much(void)
{
	struct ibv_sge from = {(uintptr_t)memory, sizeof(memory) / 2, loop.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE}, *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)memory + sizeof(memory) / 2;
	wr.wr.rdma.rkey = loop.mr->rkey;
	ibv_post_send(loop.qp, &wr, &bad);
}

static void destroy_completion_channel(void)
{
	ibv_destroy_comp_channel(completions);
}

static void destroy_event_channel(void)
{
	rdma_destroy_event_channel(events);
}

static void close_by_range(void)
{
	close_range((unsigned)events->fd, (unsigned)events->fd, 0);
}

static void look_at_channel(void)
{
	struct stat status;

	fstat(events->fd, &status);
}

static const struct work {
	const char *what;
	void (*run)(void);
	int may_end; /* true if the thread may end before the work is done */
} work[] = {
	{"a thread that polls is cancelled", poll_often, 0},
	{"a thread that posts is cancelled", post_much, 0},
	{"a thread that destroys a completion channel is cancelled", destroy_completion_channel, 0},
	{"a thread that destroys an event channel is cancelled", destroy_event_channel, 1},
	{"a thread that closes an event channel by its range is cancelled", close_by_range, 0},
	{"a thread that looks at an event channel is cancelled", look_at_channel, 0},
};

/* The cancellation is pending before the verb is called, and the thread has no other cancellation point. */
static void *works(void *what)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	ready = 1;
	while (!cancelled)
		;
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	((const struct work *)what)->run();
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
	    !(completions = ibv_create_comp_channel(loop.context)) || !(events = rdma_create_event_channel()) ||
	    pthread_create(&thread, NULL, works, (void *)&work[number]))
		return 0;
	while (!ready)
		;
	pthread_cancel(thread);
	cancelled = 1;
	pthread_join(thread, &result);
	return (done || work[number].may_end) && result == PTHREAD_CANCELED && loopback_works(&loop);
}

int main(void)
{
	for (int i = 0; i < (int)(sizeof(work) / sizeof(*work)); i++)
		in_child(work[i].what, outlives, i);
	return failures != 0;
}
