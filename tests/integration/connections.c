/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Under prism-run: what a process's own doings may not do to its connections. It has both ends of them.
 *
 * "descriptors": there are none left for a while. "forks": a thread makes children while others use librdmacm.
 */
#define _GNU_SOURCE
#include "expect.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

static struct sockaddr_in loopback = {.sin_family = AF_INET};

/* The type of the next event of CHANNEL, -1 if there is none in time; its id goes to ID. */
static int next_event(struct rdma_event_channel *channel, int milliseconds, struct rdma_cm_id **id)
{
	struct pollfd readable = {channel->fd, POLLIN, 0};
	struct rdma_cm_event *event;
	int type;

	if (poll(&readable, 1, milliseconds) <= 0 || rdma_get_cm_event(channel, &event))
		return -1;
	type = (int)event->event;
	if (id)
		*id = event->id;
	rdma_ack_cm_event(event);
	return type;
}

static int comes(struct rdma_event_channel *channel, enum rdma_cm_event_type type, struct rdma_cm_id **id)
{
	return next_event(channel, 10000, id) == (int)type;
}

static struct rdma_cm_id *connect_both(struct rdma_event_channel *servers, struct rdma_event_channel *clients)
{
	struct rdma_conn_param param = {.qp_num = 5, .retry_count = 7};
	struct rdma_cm_id *listener, *server, *client;

	if (rdma_create_id(servers, &listener, NULL, RDMA_PS_TCP) || rdma_create_id(clients, &client, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&loopback) || rdma_listen(listener, 4))
		return NULL;
	loopback.sin_port = rdma_get_src_port(listener);
	if (rdma_resolve_addr(client, NULL, (struct sockaddr *)&loopback, 1000) ||
	    !comes(clients, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) || rdma_resolve_route(client, 1000) ||
	    !comes(clients, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) || rdma_connect(client, &param) ||
	    !comes(servers, RDMA_CM_EVENT_CONNECT_REQUEST, &server) || rdma_accept(server, &param) ||
	    !comes(clients, RDMA_CM_EVENT_CONNECT_RESPONSE, NULL) || rdma_establish(client) ||
	    !comes(servers, RDMA_CM_EVENT_ESTABLISHED, NULL))
		return NULL;
	return client;
}

/* Longer than the connection manager takes to look whether its peers are there */
static void without_descriptors(void)
{
	struct rdma_event_channel *servers = rdma_create_event_channel(), *clients = rdma_create_event_channel();
	struct rdma_cm_id *client = servers && clients ? connect_both(servers, clients) : NULL;
	const int lowest = dup(0);
	struct rlimit before, none;

	expect("a connection", client && lowest >= 0);
	close(lowest);
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = (rlim_t)lowest;
	expect("no descriptor is left", !setrlimit(RLIMIT_NOFILE, &none) && dup(0) == -1);
	expect("the server hears nothing", next_event(servers, 2000, NULL) == -1);
	expect("nor does the client", next_event(clients, 100, NULL) == -1);
	setrlimit(RLIMIT_NOFILE, &before);
	expect("it ends when it is ended", client && !rdma_disconnect(client) &&
						   comes(servers, RDMA_CM_EVENT_DISCONNECTED, NULL) &&
						   comes(clients, RDMA_CM_EVENT_DISCONNECTED, NULL));
}

static atomic_bool over;

static void *opens_channels(void *unused)
{
	while (!over) {
		struct rdma_event_channel *channel = rdma_create_event_channel();
		if (channel)
			rdma_destroy_event_channel(channel);
	}
	return unused;
}

static void *resolves_addresses(void *unused)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	while (!over && channel && !rdma_create_id(channel, &id, NULL, RDMA_PS_TCP)) {
		if (!rdma_resolve_addr(id, NULL, (struct sockaddr *)&loopback, 1000))
			next_event(channel, 10000, NULL);
		rdma_destroy_id(id);
	}
	return unused;
}

/* Each of the three wants a lock that another one has, if they take them in different orders. */
static void beside_children(void)
{
	void *(*const work[])(void *) = {opens_channels, resolves_addresses};
	pthread_t threads[2];
	int status = 0, made = 0;

	loopback.sin_port = htons(7);
	alarm(50); /* the end, if they wait for one another */
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work[i], NULL);
	for (; made < 300 && !status; made++) {
		const pid_t child = fork();
		if (!child)
			_exit(0);
		waitpid(child, &status, 0);
	}
	over = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	expect("children are made while others use librdmacm", made == 300 && status == 0);
}

int main(int argc, char **argv)
{
	loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (argc > 1 && !strcmp(argv[1], "descriptors"))
		without_descriptors();
	else
		beside_children();
	return failures != 0;
}
