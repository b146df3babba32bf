/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Under prism-run: events that must not harm the connections of a process.
 *
 * "descriptors": there are none left for a while. "forks": a thread forks while others use librdmacm, through the
 * address that follows, if there is one. "asks": connects to that address, which has no listener, until it is killed.
 * "kept", "taken": its client is another process, which is killed, and a child of the client keeps its name, or another
 * process takes it. "first": it is number 1 of its PID namespace, as a child of its is of another. "renumbered": a
 * channel's number becomes another file's, or another channel's, without close(2).
 */
#define _GNU_SOURCE
#include "expect.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

static struct sockaddr_in loopback = {.sin_family = AF_INET};

/* Returns the type of the next event of CHANNEL, -1 if there is none in time; stores its id in ID. */
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

static struct rdma_conn_param param = {.qp_num = 5, .retry_count = 7};

static int listens(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *listener;

	loopback.sin_port = 0;
	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&loopback) || rdma_listen(listener, 4))
		return 0;
	loopback.sin_port = rdma_get_src_port(listener);
	return 1;
}

static struct rdma_cm_id *resolves(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *client;

	if (rdma_create_id(channel, &client, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(client, NULL, (struct sockaddr *)&loopback, 1000) ||
	    !comes(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) || rdma_resolve_route(client, 1000) ||
	    !comes(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL))
		return NULL;
	return client;
}

static struct rdma_cm_id *begin_to_connect(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *client = resolves(channel);

	return client && !rdma_connect(client, &param) ? client : NULL;
}

static int ends_to_connect(struct rdma_event_channel *channel, struct rdma_cm_id *client)
{
	return client && comes(channel, RDMA_CM_EVENT_CONNECT_RESPONSE, NULL) && !rdma_establish(client);
}

static struct rdma_cm_id *connect_both(struct rdma_event_channel *servers, struct rdma_event_channel *clients)
{
	struct rdma_cm_id *server, *client;

	if (!listens(servers))
		return NULL;
	client = begin_to_connect(clients);
	if (!client || !comes(servers, RDMA_CM_EVENT_CONNECT_REQUEST, &server) || rdma_accept(server, &param) ||
	    !ends_to_connect(clients, client) || !comes(servers, RDMA_CM_EVENT_ESTABLISHED, NULL))
		return NULL;
	return client;
}

/* Lasts longer than the connection manager's interval between probes of its peers */
static void without_descriptors(void)
{
	struct rdma_event_channel *servers = rdma_create_event_channel(), *clients = rdma_create_event_channel();
	struct rdma_cm_id *client = servers && clients ? connect_both(servers, clients) : NULL;
	struct rdma_cm_id *other = client ? resolves(clients) : NULL;
	const int lowest = dup(0);
	struct rlimit before, none;

	expect("a connection", other && lowest >= 0);
	close(lowest);
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = (rlim_t)lowest;
	expect("no descriptor is left", !setrlimit(RLIMIT_NOFILE, &none) && dup(0) == -1);
	expect("the server hears nothing", next_event(servers, 2000, NULL) == -1);
	expect("nor does the client", next_event(clients, 100, NULL) == -1);
	expect("another client asks", other && !rdma_connect(other, &param));
	expect("it is not refused", next_event(clients, 500, NULL) == -1);
	setrlimit(RLIMIT_NOFILE, &before);
	expect("its request comes", comes(servers, RDMA_CM_EVENT_CONNECT_REQUEST, NULL));
	expect("the connection ends when it is ended", client && !rdma_disconnect(client) &&
						   comes(servers, RDMA_CM_EVENT_DISCONNECTED, NULL) &&
						   comes(clients, RDMA_CM_EVENT_DISCONNECTED, NULL));
}

/*
 * Connects, reports that to ANSWER, and waits until no process has the writing end of OVER any more, as its open files
 * would disturb others. With KEEPS it has a child that waits, too.
 */
static void be_a_client(int answer, const int over[2], int keeps)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *client = channel ? begin_to_connect(channel) : NULL;
	char byte;

	close(over[1]);

	if (!ends_to_connect(channel, client))
		_exit(1);
	if (keeps && fork() == 0) {
		alarm(60);
		_exit((int)read(over[0], &byte, 1));
	}
	dprintf(answer, "x");
	_exit(pause());
}

static int has_socket(pid_t pid, unsigned long inode)
{
	char path[300], wanted[64], target[64];
	struct dirent *entry;
	DIR *descriptors;
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
	descriptors = opendir(path);
	while (!found && descriptors && (entry = readdir(descriptors))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, entry->d_name);
		const ssize_t length = readlink(path, target, sizeof(target) - 1);
		target[length < 0 ? 0 : length] = 0;
		found = !strcmp(target, wanted);
	}
	if (descriptors)
		closedir(descriptors);
	return found;
}

/* Finds the name by which the connection managers of others reach the process; there may be many names. */
static int find_name(pid_t pid, char name[64])
{
	FILE *sockets = fopen("/proc/net/unix", "r");
	unsigned long inode;
	char line[512];
	int found = 0;

	while (!found && sockets && fgets(line, sizeof(line), sockets))
		found = sscanf(line, "%*s %*s %*s %*s %*s %*s %lu @%63[^\n]", &inode, name) == 2 &&
			!strncmp(name, "prism-cm/process/", strlen("prism-cm/process/")) && has_socket(pid, inode);
	if (sockets)
		fclose(sockets);
	return found;
}

/* Other processes of this host may send here by mistake: only messages that the test itself sends count. */
static int is_from(int sockets, pid_t sender)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	char text[512];
	struct iovec part = {text, sizeof(text)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	const struct cmsghdr *at;
	struct ucred from;

	message.msg_control = control.room;
	message.msg_controllen = sizeof(control);
	if (recvmsg(sockets, &message, 0) <= 0)
		return 0;
	at = CMSG_FIRSTHDR(&message);
	if (!at || at->cmsg_type != SCM_CREDENTIALS)
		return 0;
	memcpy(&from, CMSG_DATA(at), sizeof(from));
	if (from.pid != sender)
		fprintf(stderr, "process %d sent something, too\n", (int)from.pid);
	return from.pid == sender;
}

/* Takes the name as soon as it is free; reports messages that the parent sends to it on REPORTS. */
static void take_name(const char *name, int reports)
{
	const int taken = socket(AF_UNIX, SOCK_DGRAM, 0), on = 1;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));

	alarm(60);
	memcpy(address.sun_path + 1, name, strlen(name));
	if (setsockopt(taken, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		_exit(1);
	dprintf(reports, "x");
	while (bind(taken, (struct sockaddr *)&address, size))
		usleep(100);
	for (;;)
		if (is_from(taken, getppid()))
			dprintf(reports, "m");
}

/* Kills a client; with KEEPS a child of the client keeps its name, without it another process takes the name. */
static void with_a_killed_client(int keeps)
{
	struct rdma_event_channel *servers = rdma_create_event_channel();
	struct pollfd report = {.events = POLLIN};
	struct rdma_cm_id *server = NULL;
	int answer[2], reports[2], over[2], alone;
	pid_t client, thief = -1;
	char byte, name[64];
	int named;

	if (!servers || !listens(servers) || pipe(answer) || pipe(reports) || pipe(over))
		exit(1);
	client = fork();
	if (!client)
		be_a_client(answer[1], over, keeps);
	expect("a client connects", comes(servers, RDMA_CM_EVENT_CONNECT_REQUEST, &server) &&
					    !rdma_accept(server, &param) &&
					    comes(servers, RDMA_CM_EVENT_ESTABLISHED, NULL) &&
					    read(answer[0], &byte, 1) == 1);
	named = find_name(client, name);
	expect("it has a name", named);
	if (!keeps && named) {
		thief = fork();
		if (!thief)
			take_name(name, reports[1]);
		expect("somebody waits for it", read(reports[0], &byte, 1) == 1);
	}
	kill(client, SIGKILL);
	waitpid(client, NULL, 0);
	expect(keeps ? "the server learns that it is gone, of which a child has the name" :
		       "the server learns that it is gone, whose name another has",
	       comes(servers, RDMA_CM_EVENT_DISCONNECTED, NULL));
	rdma_disconnect(server);
	rdma_destroy_id(server);
	report.fd = reports[0];
	alone = poll(&report, 1, 500) == 0;
	expect("nobody else hears of it from here", alone);
	if (thief > 0)
		kill(thief, SIGKILL);
}

/* Acts as the first process of a container, which makes others: all of them are number 1. */
static void with_a_child_of_the_same_pid(void)
{
	struct rdma_event_channel *servers = rdma_create_event_channel(), *clients = rdma_create_event_channel();
	int status = -1;
	pid_t child;

	expect("a connection of process 1", getpid() == 1 && servers && clients && connect_both(servers, clients));
	expect("a namespace for children", !unshare(CLONE_NEWPID));
	child = fork();
	if (!child)
		exit(getpid() != 1);
	waitpid(child, &status, 0);
	expect("a child that is process 1, too, ends", child > 0 && status == 0);
	expect("the server hears nothing", next_event(servers, 1000, NULL) == -1);
	expect("nor does the client", next_event(clients, 100, NULL) == -1);
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

/* Each of the three needs a lock that another one holds, if they lock in different orders. */
static void beside_children(void)
{
	void *(*const work[])(void *) = {opens_channels, resolves_addresses};
	pthread_t threads[2];
	int status = 0, made = 0;

	loopback.sin_port = htons(7);
	alarm(50); /* ends the process if they wait for one another */
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

static void ask_for_ever(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	while (channel && (id = begin_to_connect(channel)))
		rdma_destroy_id(id);
}

/* The number of a channel belongs to a file when an event arrives. */
static void with_a_file_in_place_of_a_channel(void)
{
	struct rdma_event_channel *servers = rdma_create_event_channel(), *clients = rdma_create_event_channel();
	const int file = memfd_create("the program's", MFD_CLOEXEC);

	expect("a listener", servers && clients && listens(servers));
	expect("a file takes the channel's number", file >= 0 && dup2(file, servers->fd) == servers->fd);
	expect("a client asks", begin_to_connect(clients) != NULL);
	usleep(300 * 1000);
	expect("nothing is written to the file", lseek(file, 0, SEEK_END) == 0);
}

/* An event is in the channel when its number is given to a socket, which contains TEXT. */
static void with_a_socket_in_place_of_a_channel(const char *text)
{
	struct rdma_event_channel *servers = rdma_create_event_channel(), *clients = rdma_create_event_channel();
	const ssize_t length = (ssize_t)strlen(text);
	char got[64] = {0};
	int ends[2];

	expect("a listener, and a client that asks", servers && clients && listens(servers) &&
		       begin_to_connect(clients) && poll(&(struct pollfd){servers->fd, POLLIN, 0}, 1, 10000) == 1);
	expect("a socket takes the number", !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) &&
						    dup2(ends[0], servers->fd) == servers->fd &&
						    send(ends[1], text, (size_t)length, 0) == length);
	expect("it is written to", write(servers->fd, "x", 1) == 1 && recv(ends[1], got, 1, 0) == 1);
	expect("nothing is taken from it",
	       recv(servers->fd, got, sizeof(got), MSG_DONTWAIT) == (length ? length : -1));
}

static int asks_for_an_address(struct rdma_event_channel *channel, struct rdma_cm_id **id)
{
	return !rdma_create_id(channel, id, NULL, RDMA_PS_TCP) &&
	       !rdma_resolve_addr(*id, NULL, (struct sockaddr *)&loopback, 1000);
}

/* The channel before it had an event. */
static int gets_its_own_events(int unused)
{
	struct rdma_event_channel *first = rdma_create_event_channel(), *second;
	struct rdma_cm_id *before, *own, *heard;

	(void)unused;
	alarm(20);
	if (!first || !asks_for_an_address(first, &before) || syscall(SYS_close, first->fd))
		return 0;
	second = rdma_create_event_channel();
	return second && second->fd == first->fd && asks_for_an_address(second, &own) &&
	       comes(second, RDMA_CM_EVENT_ADDR_RESOLVED, &heard) && heard == own;
}

/* The connection manager opens files while it looks up the device of an address. */
static int goes_on(int unused)
{
	struct rdma_event_channel *first = rdma_create_event_channel(), *second = rdma_create_event_channel();
	struct rdma_cm_id *id;

	(void)unused;
	alarm(20);
	return first && second && !syscall(SYS_close, first->fd) && asks_for_an_address(second, &id);
}

/* Takes all free numbers below LIMIT but one. */
static int leaves_one_below(int limit)
{
	int number, left = 0;

	for (number = 0; number < limit; number++)
		left += fcntl(number, F_GETFD) < 0;
	for (; left > 1; left--)
		if (dup(0) < 0)
			return 0;
	return left == 1;
}

/* Each channel has a second number, the next that is free. */
static int closes_what_is_its_own(int unused)
{
	struct rdma_event_channel *lower = rdma_create_event_channel(), *upper = rdma_create_event_channel(), *last;

	(void)unused;
	alarm(20);
	if (!lower || !upper)
		return 0;
	rdma_destroy_event_channel(lower);
	if (syscall(SYS_close, upper->fd) || !leaves_one_below(upper->fd))
		return 0;
	last = rdma_create_event_channel();
	if (!last || last->fd >= upper->fd)
		return 0;
	rdma_destroy_event_channel(last);
	return 1;
}

static void with_another_file_in_place_of_a_channel(void)
{
	loopback.sin_port = htons(7);
	in_child("a channel that has the number of one before gets its own events", gets_its_own_events, 0);
	in_child("the connection manager goes on when a file of its has the number", goes_on, 0);
	in_child("a channel closes whose second number was another one's", closes_what_is_its_own, 0);
	alarm(50);
	with_a_file_in_place_of_a_channel();
	with_a_socket_in_place_of_a_channel("for the program");
	with_a_socket_in_place_of_a_channel("");
}

int main(int argc, char **argv)
{
	loopback.sin_addr.s_addr = argc > 2 ? inet_addr(argv[2]) : htonl(INADDR_LOOPBACK);
	if (argc > 1 && !strcmp(argv[1], "descriptors"))
		without_descriptors();
	else if (argc > 1 && !strcmp(argv[1], "first"))
		with_a_child_of_the_same_pid();
	else if (argc > 1 && !strcmp(argv[1], "kept"))
		with_a_killed_client(1);
	else if (argc > 1 && !strcmp(argv[1], "taken"))
		with_a_killed_client(0);
	else if (argc > 1 && !strcmp(argv[1], "asks"))
		ask_for_ever();
	else if (argc > 1 && !strcmp(argv[1], "renumbered"))
		with_another_file_in_place_of_a_channel();
	else
		beside_children();
	return failures != 0;
}
