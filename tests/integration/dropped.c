/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Under prism-run, as root, in a network namespace with lo alone: a daemon opens the device as root and changes to
 * another user then. Another process of root's, which starts later and shares ::1 with it, reaches it there.
 */
#define _GNU_SOURCE
#include "expect.h"
#include "loopback.h"

#include <signal.h>
#include <stdlib.h>

#define NOBODY 65534

struct there {
	uint32_t qpn, rkey;
	uint64_t memory;
	union ibv_gid gid;
};

static char memory[4096];
static struct loopback own;
static int gid_index;

/* Finds the number of the GID ::1, which the contexts of lo share */
static int find_shared_gid(union ibv_gid *gid)
{
	static const uint8_t wanted[16] = {[15] = 1};

	for (int i = 0; i < 16; i++)
		if (!ibv_query_gid(own.context, 1, i, gid) && !memcmp(gid->raw, wanted, sizeof(wanted)))
			return i;
	return -1;
}

static struct there here(void)
{
	struct there me = {own.qp->qp_num, own.mr->rkey, (uintptr_t)memory, {{0}}};

	gid_index = find_shared_gid(&me.gid);
	return me;
}

static int connect_to(const struct there *there)
{
	const struct rc_peer peer = {there->gid, there->qpn, (uint8_t)gid_index, 14, IBV_MTU_1024};
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

	return gid_index >= 0 && !ibv_modify_qp(own.qp, &reset, IBV_QP_STATE) &&
	       !rc_init(own.qp, IBV_ACCESS_REMOTE_WRITE) && !rc_connect(own.qp, &peer);
}

static void be_the_daemon(int hears, int says)
{
	struct there me, root;

	alarm(60);
	if (!loopback_open(&own, memory, sizeof(memory)) || setgid(NOBODY) || setuid(NOBODY))
		_exit(1);
	me = here();
	if (write(says, &me, sizeof(me)) != sizeof(me) || read(hears, &root, sizeof(root)) != sizeof(root) ||
	    !connect_to(&root) || write(says, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static int reaches(const struct there *there)
{
	struct ibv_sge from = {(uintptr_t)memory, 8, own.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED}, *bad;
	const time_t end = time(NULL) + 20;
	struct ibv_wc wc;
	int got = 0;

	wr.wr.rdma.remote_addr = there->memory;
	wr.wr.rdma.rkey = there->rkey;
	if (ibv_post_send(own.qp, &wr, &bad))
		return 0;
	while (!got && time(NULL) < end)
		got = ibv_poll_cq(own.cq, 1, &wc);
	return got == 1 && wc.status == IBV_WC_SUCCESS;
}

int main(void)
{
	struct there there = {0}, me;
	int to[2], from[2], writes = 0;
	pid_t child;
	char byte;

	if (pipe(to) || pipe(from))
		return 1;
	child = fork();
	if (!child)
		be_the_daemon(to[0], from[1]);
	expect("a daemon opens the device, and drops its privileges", read(from[0], &there, sizeof(there)) == sizeof(there));
	expect("root opens it too", loopback_open(&own, memory, sizeof(memory)));
	me = here();
	expect("they connect", write(to[1], &me, sizeof(me)) == sizeof(me) && connect_to(&there) &&
				       read(from[0], &byte, 1) == 1);
	while (writes < 4 && reaches(&there))
		writes++;
	expect("the daemon is reached", writes == 4);
	kill(child, SIGKILL);
	return failures != 0;
}
