/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Under prism-run: processes that end as soon as they have seen that a message has arrived. Whoever sent it must hear
 * that too: by its acknowledgement, before its retries have failed.
 *
 *   partings WAY N      N processes end so, one after the other
 *
 * WAY: exit: by exit(3), after an event; close: by ibv_close_device(3), with the queue pair; killed: by SIGKILL
 */
#include <infiniband/verbs.h>

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "rc_connection.h"

namespace
{

constexpr int messages = 30;
constexpr unsigned patience = 20; /* seconds, of each process */

[[noreturn]] void die(const char *what)
{
	std::perror(what);
	std::_Exit(2);
}

class End
{
public:
	End()
	{
		ibv_device **const list = ibv_get_device_list(nullptr);
		context = list && *list ? ibv_open_device(*list) : nullptr;
		if (!context)
			die("cannot open a device");
		channel = ibv_create_comp_channel(context);
		cq = ibv_create_cq(context, 4 * messages, nullptr, channel, 0);
		pd = ibv_alloc_pd(context);
		/* A number, as ibv_reg_mr() is a macro that combines it with a flag of another enumeration. */
		constexpr int access = IBV_ACCESS_LOCAL_WRITE;
		mr = ibv_reg_mr(pd, memory.data(), memory.size(), access);
		ibv_qp_init_attr attr{};
		attr.send_cq = attr.recv_cq = cq;
		attr.qp_type = IBV_QPT_RC;
		attr.cap = {messages, messages, 1, 1, 0};
		qp = ibv_create_qp(pd, &attr);
		if (!channel || !cq || !mr || !qp || rc_init(qp, 0))
			die("cannot make objects");
	}

	void connect(int peer)
	{
		rc_peer own{{}, qp->qp_num, 0, 14, IBV_MTU_1024}, its{}; /* an ack timeout of 67 ms */
		if (ibv_query_gid(context, 1, 0, &own.gid) || ::send(peer, &own, sizeof(own), 0) != sizeof(own) ||
			::recv(peer, &its, sizeof(its), MSG_WAITALL) != sizeof(its))
			die("no names");
		if (rc_connect(qp, &its))
			die("cannot connect");
	}

	void post_receive()
	{
		ibv_sge to = piece();
		ibv_recv_wr wr{}, *bad = nullptr;
		wr.sg_list = &to;
		wr.num_sge = 1;
		if (ibv_post_recv(qp, &wr, &bad))
			die("ibv_post_recv");
	}

	/** Returns the status of a message. */
	ibv_wc_status send()
	{
		ibv_sge from = piece();
		ibv_send_wr wr{}, *bad = nullptr;
		wr.sg_list = &from;
		wr.num_sge = 1;
		wr.opcode = IBV_WR_SEND;
		wr.send_flags = IBV_SEND_SIGNALED;
		if (ibv_post_send(qp, &wr, &bad))
			die("ibv_post_send");
		return poll();
	}

	ibv_wc_status poll()
	{
		ibv_wc wc{};
		while (!ibv_poll_cq(cq, 1, &wc))
			;
		return wc.status;
	}

	ibv_wc_status wait()
	{
		ibv_wc wc{};
		while (ibv_req_notify_cq(cq, 0) || !ibv_poll_cq(cq, 1, &wc)) {
			ibv_cq *which = nullptr;
			void *ignored = nullptr;
			if (ibv_get_cq_event(channel, &which, &ignored))
				die("ibv_get_cq_event");
			ibv_ack_cq_events(which, 1);
		}
		return wc.status;
	}

	ibv_context *context;
	ibv_comp_channel *channel;
	ibv_cq *cq;
	ibv_pd *pd;
	ibv_mr *mr;
	ibv_qp *qp;
	std::array<char, 64> memory{};

private:
	[[nodiscard]] ibv_sge piece() const
	{
		return {reinterpret_cast<std::uintptr_t>(memory.data()), static_cast<std::uint32_t>(memory.size()),
			mr->lkey};
	}
};

/** Receives all messages, and ends. */
[[noreturn]] void part(int peer, const std::string &way)
{
	::alarm(patience);
	End end;
	for (int i = 0; i < messages; i++)
		end.post_receive();
	end.connect(peer);
	for (int i = 0; i < messages; i++)
		if ((way == "killed" ? end.poll() : end.wait()) != IBV_WC_SUCCESS)
			die("a receive failed");
	if (way == "killed")
		(void)::kill(::getpid(), SIGKILL);
	if (way == "exit")
		std::exit(0); /* NOLINT(concurrency-mt-unsafe) */
	(void)ibv_close_device(end.context);
	char nothing;
	(void)!::recv(peer, &nothing, 1, 0); /* until the peer has gone */
	std::_Exit(0);
}

/** Returns the status of the last message to a process that ends. */
ibv_wc_status status_of_last(const std::string &way)
{
	std::array<int, 2> pair{};
	if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()))
		die("socketpair");
	const pid_t child = ::fork();
	if (!child) {
		::close(pair[0]);
		part(pair[1], way);
	}
	::close(pair[1]);
	/* Another process, as one that has opened a device should not fork. */
	const pid_t sender = ::fork();
	if (!sender) {
		::alarm(patience);
		End end;
		end.connect(pair[0]);
		ibv_wc_status status = IBV_WC_SUCCESS;
		for (int i = 0; i < messages && status == IBV_WC_SUCCESS; i++)
			status = end.send();
		std::_Exit(status);
	}
	::close(pair[0]);
	int status = 0, ignored = 0;
	(void)::waitpid(sender, &status, 0);
	(void)::waitpid(child, &ignored, 0);
	return WIFEXITED(status) ? static_cast<ibv_wc_status>(WEXITSTATUS(status)) : IBV_WC_GENERAL_ERR;
}

} // namespace

int main(int argc, char **argv)
{
	const std::string way = argc > 2 ? argv[1] : "";
	if (way != "exit" && way != "close" && way != "killed") {
		std::fprintf(stderr, "usage: partings exit|close|killed N\n");
		return 2;
	}
	int failed = 0;
	const int many = std::atoi(argv[2]);
	for (int i = 0; i < many; i++) {
		const ibv_wc_status status = status_of_last(way);
		if (status != IBV_WC_SUCCESS)
			std::printf("%d: %s\n", i, ibv_wc_status_str(status));
		failed += status != IBV_WC_SUCCESS;
	}
	std::printf("%s: %d of %d heard nothing of the last message\n", way.c_str(), failed, many);
	return failed ? 1 : 0;
}
