/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Under prism-run: there is no memory for a while, for the connection manager's thread or for the program's own that
 * closes a channel; or a single allocation fails. A message for which there is no memory counts as lost, and close(2)
 * throws nothing.
 */
#include "expect.h"

#include <arpa/inet.h>
#include <poll.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

namespace
{

enum class Starving {
	nobody,
	others,
	the_program
};

std::atomic<Starving> starving{Starving::nobody};
std::atomic<int> others_left{-1}; /* allocations of other threads until one fails */
thread_local bool is_the_program = false;

} // namespace

void *operator new(std::size_t size)
{
	const Starving now = starving;
	if (now == (is_the_program ? Starving::the_program : Starving::others))
		throw std::bad_alloc();
	if (!is_the_program && others_left >= 0 && others_left-- == 0)
		throw std::bad_alloc();
	if (void *memory = std::malloc(size))
		return memory;
	throw std::bad_alloc();
}

void operator delete(void *memory) noexcept
{
	std::free(memory);
}

void operator delete(void *memory, std::size_t) noexcept
{
	std::free(memory);
}

namespace
{

sockaddr_in address{};
rdma_conn_param param{};

bool is_readable(rdma_event_channel *channel)
{
	pollfd readable{channel->fd, POLLIN, 0};
	return poll(&readable, 1, 10000) > 0;
}

bool comes(rdma_event_channel *channel, rdma_cm_event_type type)
{
	rdma_cm_event *event;
	if (!is_readable(channel) || rdma_get_cm_event(channel, &event))
		return false;
	const bool is = event->event == type;
	rdma_ack_cm_event(event);
	return is;
}

bool listens(rdma_event_channel *channel)
{
	rdma_cm_id *listener;
	if (!channel || rdma_create_id(channel, &listener, nullptr, RDMA_PS_TCP) ||
		rdma_bind_addr(listener, reinterpret_cast<sockaddr *>(&address)) || rdma_listen(listener, 4))
		return false;
	address.sin_port = rdma_get_src_port(listener);
	return true;
}

rdma_cm_id *resolves(rdma_event_channel *channel)
{
	rdma_cm_id *client;
	if (rdma_create_id(channel, &client, nullptr, RDMA_PS_TCP) ||
		rdma_resolve_addr(client, nullptr, reinterpret_cast<sockaddr *>(&address), 1000) ||
		!comes(channel, RDMA_CM_EVENT_ADDR_RESOLVED) || rdma_resolve_route(client, 1000) ||
		!comes(channel, RDMA_CM_EVENT_ROUTE_RESOLVED))
		return nullptr;
	return client;
}

bool begins_to_connect(rdma_event_channel *channel)
{
	rdma_cm_id *client = resolves(channel);
	return client && !rdma_connect(client, &param);
}

enum Heard {
	though_one_failed,
	as_none_failed,
	not_at_all
};

/* Makes the NUMBERth allocation for a request fail. */
Heard hears_a_request(int number)
{
	rdma_event_channel *servers = rdma_create_event_channel(), *clients = rdma_create_event_channel();
	rdma_cm_id *client = clients && listens(servers) ? resolves(clients) : nullptr;
	others_left = number;
	if (!client || rdma_connect(client, &param) || !comes(servers, RDMA_CM_EVENT_CONNECT_REQUEST))
		return not_at_all;
	return others_left < 0 ? though_one_failed : as_none_failed;
}

/* Fails allocations FIRST and later, each in a child at the same time, as each waits for its request to be repeated.
 * Returns true if the last child had no allocation to fail. */
bool expect_requests(int first)
{
	std::array<pid_t, 48> children{};
	for (pid_t &child : children)
		if (!(child = fork()))
			_exit(hears_a_request(first + static_cast<int>(&child - children.data())));
	int unheard = 0, how = 0;
	for (const pid_t child : children) {
		waitpid(child, &how, 0);
		unheard += how != W_EXITCODE(though_one_failed, 0) && how != W_EXITCODE(as_none_failed, 0);
	}
	expect("a request comes whichever allocation fails", unheard == 0);
	return how == W_EXITCODE(as_none_failed, 0);
}

/* The number of allocations depends on the interfaces of the host. */
void expect_requests()
{
	bool each = false;
	for (int first = 0; !each && first < 1000; first += 48)
		each = expect_requests(first);
	expect("each has failed", each);
}

/* Returns what the program gets from close(2), which C code calls: it must never be an exception. */
bool closes(int fd)
{
	starving = Starving::the_program;
	int result = -1;
	try {
		result = close(fd);
	} catch (...) {
		result = -2;
	}
	starving = Starving::nobody;
	return result == 0;
}

} // namespace

int main()
{
	is_the_program = true;
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	param.qp_num = 5;
	param.retry_count = 7;
	expect_requests();
	rdma_event_channel *servers = rdma_create_event_channel(), *clients = rdma_create_event_channel();
	rdma_cm_id *client = servers && clients && listens(servers) ? resolves(clients) : nullptr;
	expect("a listener, and a client of its", client != nullptr);
	starving = Starving::others;
	expect("the client asks", client && !rdma_connect(client, &param));
	usleep(300 * 1000);
	starving = Starving::nobody;
	expect("its request comes again", comes(servers, RDMA_CM_EVENT_CONNECT_REQUEST));
	expect("another client asks", begins_to_connect(clients) && is_readable(servers));
	expect("a channel is closed without memory", closes(servers->fd));
	/* A new listener gets another number, or it would be ended at last */
	expect("its listener's port is free", dup(0) == servers->fd && listens(rdma_create_event_channel()));
	return failures != 0;
}
