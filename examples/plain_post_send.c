/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PRISM from C with ibv_post_send() alone: one list of work requests that follows a pointer, swaps it, and follows it
 * again.
 *
 *     $ build/bin/examples/plain_post_send --self
 *
 * or as two processes: "server", and "client HOST".
 *
 * Everything but prismdv_create_qp(), prismdv_set_peer_capability() and struct prismdv_send_wr is ordinary verbs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/prismdv.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT "18601"
#define TEXT_SIZE 32
#define SECONDS 20

/* The server's memory: a pointer, and two texts that it may point at. */
struct shared {
	uint64_t pointer;
	char text[2][TEXT_SIZE];
};

/* The client's memory: the results of its READs. */
struct answers {
	char before[TEXT_SIZE];
	char after[TEXT_SIZE];
	uint64_t old_pointer;
};

/* Data that both sides exchange. Raw bytes: both are the same program on the same kind of machine. */
struct hello {
	struct prismdv_capability capability;
	union ibv_gid gid;
	uint32_t qp_num;
	uint32_t rkey;
	uint64_t address;
};

struct side {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct hello peer;
};

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

/* Ends the program if a call has returned an errno. */
static void check_errno(int error, const char *what)
{
	errno = error;
	check(!error, what);
}

/* Returns the code, for main(); ends the program if the standard output, perhaps of a full disk, has not taken all. */
static int finish(int code)
{
	check(!fflush(stdout) && !ferror(stdout), "cannot write to the standard output");
	return code;
}

/* Opens the first userspace device. */
static struct ibv_context *open_device(void)
{
	struct ibv_device **list = prismdv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	check(list != NULL, "prismdv_get_device_list");
	for (int i = 0; list[i] && !context; i++) {
		struct prismdv_device_attr attr;

		if (!prismdv_is_supported(list[i]))
			continue;
		context = prismdv_open_device(list[i], NULL);
		check(context != NULL, "prismdv_open_device");
		check_errno(prismdv_query_device(context, &attr), "prismdv_query_device");
		if (!(attr.flags & PRISMDV_DEVICE_USERSPACE)) {
			ibv_close_device(context);
			context = NULL;
		}
	}
	prismdv_free_device_list(list);
	errno = ENODEV;
	check(context != NULL, "no userspace device: is an interface up? (ip link set lo up)");
	return context;
}

static struct ibv_qp *create_qp(const struct side *side)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.cap = {.max_send_wr = 8, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = side->pd,
	};

	return prismdv_create_qp(side->context, &attr, NULL);
}

static void set_up(struct side *side, void *memory, size_t size)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

	side->context = open_device();
	side->pd = ibv_alloc_pd(side->context);
	check(side->pd != NULL, "ibv_alloc_pd");
	side->mr = ibv_reg_mr(side->pd, memory, size, access);
	check(side->mr != NULL, "ibv_reg_mr");
	side->cq = ibv_create_cq(side->context, 8, NULL, NULL, 0);
	check(side->cq != NULL, "ibv_create_cq");
	side->qp = create_qp(side);
	check(side->qp != NULL, "prismdv_create_qp");
}

static void tear_down(struct side *side)
{
	ibv_destroy_qp(side->qp);
	ibv_destroy_cq(side->cq);
	ibv_dereg_mr(side->mr);
	ibv_dealloc_pd(side->pd);
	ibv_close_device(side->context);
}

static void connect_qp(struct side *side)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = side->peer.qp_num,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = 1,
		.ah_attr = {.is_global = 1, .grh = {.dgid = side->peer.gid, .hop_limit = 64}, .port_num = 1},
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 16};

	check_errno(
		ibv_modify_qp(side->qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		"INIT");
	check_errno(ibv_modify_qp(side->qp, &rtr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
		"RTR");
	check_errno(ibv_modify_qp(side->qp, &rts,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				    IBV_QP_MAX_QP_RD_ATOMIC),
		"RTS");
	/* Without this, posting a PRISM request fails: the peer might be a device that drops it silently. */
	check_errno(prismdv_set_peer_capability(side->qp, &side->peer.capability), "prismdv_set_peer_capability");
}

/* Exchanges greetings over @sock, connects, and waits until the peer has connected too. */
static void meet(struct side *side, int sock)
{
	struct hello mine = {.qp_num = side->qp->qp_num, .rkey = side->mr->rkey, .address = (uintptr_t)side->mr->addr};
	const struct timeval limit = {.tv_sec = SECONDS};
	char ready = 'r';

	check(!setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), "SO_RCVTIMEO");
	check_errno(prismdv_query_capability(side->context, &mine.capability), "prismdv_query_capability");
	check_errno(prismdv_query_gid(side->context, 1, 0, &mine.gid), "prismdv_query_gid");
	check(send(sock, &mine, sizeof(mine), MSG_NOSIGNAL) == sizeof(mine), "send");
	check(recv(sock, &side->peer, sizeof(side->peer), MSG_WAITALL) == sizeof(side->peer), "recv");
	connect_qp(side);
	check(send(sock, &ready, 1, MSG_NOSIGNAL) == 1, "send");
	check(recv(sock, &ready, 1, MSG_WAITALL) == 1, "recv");
}

/* The requests --------------------------------------------------------------------------------------------------- */

static void start_wr(
	struct prismdv_send_wr *wr, enum prismdv_wr_opcode opcode, const struct hello *peer, struct ibv_sge *into)
{
	memset(wr, 0, sizeof(*wr));
	wr->wr.opcode = (enum ibv_wr_opcode)opcode;
	wr->wr.wr.rdma.remote_addr = peer->address + offsetof(struct shared, pointer);
	wr->wr.wr.rdma.rkey = peer->rkey;
	wr->wr.sg_list = into;
	wr->wr.num_sge = 1;
}

static struct ibv_sge place(const struct ibv_mr *mr, size_t offset, uint32_t length)
{
	return (struct ibv_sge){.addr = (uintptr_t)mr->addr + offset, .length = length, .lkey = mr->lkey};
}

/* Posts READ *pointer; CAS pointer from the first text to the second; if that worked, READ *pointer. One doorbell. */
static void post_list(struct side *side)
{
	uint64_t first = side->peer.address + offsetof(struct shared, text[0]);
	uint64_t second = side->peer.address + offsetof(struct shared, text[1]);
	struct ibv_sge before = place(side->mr, offsetof(struct answers, before), TEXT_SIZE);
	struct ibv_sge after = place(side->mr, offsetof(struct answers, after), TEXT_SIZE);
	struct ibv_sge old = place(side->mr, offsetof(struct answers, old_pointer), 8);
	struct prismdv_send_wr read, swap, again;
	struct ibv_send_wr *bad;

	start_wr(&read, PRISMDV_WR_READ, &side->peer, &before);
	read.flags = PRISMDV_WR_INDIRECT;

	start_wr(&swap, PRISMDV_WR_CAS, &side->peer, &old);
	swap.cas = (struct prismdv_cas){.mode = PRISMDV_CAS_EQ, .length = 8, .compare = &first, .swap = &second};

	start_wr(&again, PRISMDV_WR_READ, &side->peer, &after);
	again.flags = PRISMDV_WR_INDIRECT | PRISMDV_WR_CONDITIONAL;
	again.wr.send_flags = IBV_SEND_SIGNALED;

	read.wr.next = &swap.wr;
	swap.wr.next = &again.wr;
	/* The operands are copied: nothing on this stack is needed after the call. */
	check_errno(ibv_post_send(side->qp, &read.wr, &bad), "ibv_post_send");
}

static void wait_completion(const struct side *side)
{
	const time_t deadline = time(NULL) + SECONDS;
	struct ibv_wc wc;
	int got;

	do {
		got = ibv_poll_cq(side->cq, 1, &wc);
		errno = ETIMEDOUT;
		check(got >= 0 && time(NULL) <= deadline, "ibv_poll_cq");
	} while (got == 0);
	if (wc.status == IBV_WC_SUCCESS && wc.vendor_err == PRISMDV_STATUS_OK)
		return;
	fprintf(stderr, "request failed: %s, %s\n", ibv_wc_status_str(wc.status), prismdv_status_str(wc.vendor_err));
	exit(EXIT_FAILURE);
}

/* The two sides ---------------------------------------------------------------------------------------------------- */

static void run_server(int listener)
{
	static struct shared memory = {.text = {"the first text", "the second text"}};
	struct side side;
	int sock = accept(listener, NULL, NULL);
	char end;

	check(sock >= 0, "accept");
	memory.pointer = (uintptr_t)memory.text[0];
	set_up(&side, &memory, sizeof(memory));
	meet(&side, sock);
	/* The device serves the client; this process sleeps until the client hangs up. */
	check(recv(sock, &end, 1, 0) == 0, "the client did not hang up");
	printf("server: the pointer now points at \"%s\"\n", (const char *)(uintptr_t)memory.pointer);
	tear_down(&side);
	close(sock);
}

static void run_client(int sock)
{
	static struct answers memory;
	struct side side;

	set_up(&side, &memory, sizeof(memory));
	meet(&side, sock);
	post_list(&side);
	wait_completion(&side);
	printf("client: before \"%s\", after \"%s\"\n", memory.before, memory.after);
	check_errno(strcmp(memory.before, "the first text") || strcmp(memory.after, "the second text") ? EBADMSG : 0,
		"wrong text");
	tear_down(&side);
	close(sock);
}

/* Sockets ---------------------------------------------------------------------------------------------------------- */

static int open_socket(const char *host, const char *port, int listening)
{
	const struct addrinfo hints = {
		.ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = listening ? AI_PASSIVE : 0};
	const int on = 1;
	struct addrinfo *address;
	int sock, failed;

	errno = EHOSTUNREACH;
	check(!getaddrinfo(host, port, &hints, &address), "cannot resolve the host");
	sock = socket(address->ai_family, SOCK_STREAM, 0);
	check(sock >= 0, "socket");
	if (listening)
		failed = setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
			 bind(sock, address->ai_addr, address->ai_addrlen) || listen(sock, 1);
	else
		failed = connect(sock, address->ai_addr, address->ai_addrlen);
	check(!failed, listening ? "cannot listen" : "cannot connect: is the server running, and the interface up?");
	freeaddrinfo(address);
	return sock;
}

static int run_both(void)
{
	struct sockaddr_in bound;
	socklen_t size = sizeof(bound);
	int listener = open_socket("127.0.0.1", "0", 1);
	int status = 0;
	char port[8];
	pid_t child;

	check(!getsockname(listener, (struct sockaddr *)&bound, &size), "getsockname");
	snprintf(port, sizeof(port), "%u", ntohs(bound.sin_port));
	child = fork();
	check(child >= 0, "fork");
	if (child == 0) {
		run_server(listener);
		exit(finish(EXIT_SUCCESS));
	}
	close(listener);
	run_client(open_socket("127.0.0.1", port, 0));
	check(waitpid(child, &status, 0) == child, "waitpid");
	return finish(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--self"))
		return run_both();
	if (argc == 2 && !strcmp(argv[1], "server")) {
		run_server(open_socket(NULL, PORT, 1));
	} else if (argc == 3 && !strcmp(argv[1], "client")) {
		run_client(open_socket(argv[2], PORT, 0));
	} else {
		fprintf(stderr, "usage: %s server | client HOST | --self\n", argv[0]);
		return EXIT_FAILURE;
	}
	return finish(EXIT_SUCCESS);
}
