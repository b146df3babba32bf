/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Common part of the examples: their command line, and giving up with a message.
 *
 *     example server            waits for one client
 *     example client HOST       talks to it
 *     example --self            both at once, in two processes
 *
 * They take the first userspace device. Between two hosts it must belong to a network interface that connects them:
 * PRISM_DEVICES=eth0 leaves only this one.
 */
#pragma once

#include <prism/prism.hpp>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace example
{

constexpr std::uint16_t port = 18600;
constexpr auto patience = std::chrono::seconds(20);

[[noreturn]] inline void give_up(const std::string &message)
{
	std::fprintf(stderr, "%s\n", message.c_str());
	std::exit(EXIT_FAILURE);
}

/** Returns the value, or ends the program with the reason. */
template <typename T>
T must(prism::Result<T> result)
{
	if (!result)
		give_up(result.error().message);
	if constexpr (!std::is_void_v<T>)
		return std::move(result).value();
}

/** Does the same for calls that return 0 or errno. */
inline void must(int error, const char *what)
{
	if (error)
		give_up(std::string(what) + ": " + std::strerror(error));
}

/** Returns @p code, for main(); ends the program if the standard output, perhaps of a full disk, has not taken all. */
inline int finish(int code = EXIT_SUCCESS)
{
	must(std::fflush(stdout) ? errno : std::ferror(stdout) ? EIO : 0, "cannot write to the standard output");
	return code;
}

/** Waits for the next completion, which must not be an error. It may have any status. */
inline prism::Completion wait(const prism::QueuePair &qp)
{
	prism::Completion completion;
	must(qp.send_queue().wait(completion, patience), "no completion");
	if (completion.failed())
		give_up(std::string("request failed: ") + completion.describe());
	return completion;
}

/** Returns when the client has closed its side of the connection. Calls @p work all the time. */
inline void serve_until_gone(
	const prism::TcpRendezvous &client, const std::function<void()> &work = [] {})
{
	while (!client.peer_gone()) {
		work();
		usleep(1000);
	}
	work();
}

using Server = void (*)(prism::TcpListener listener);
using Client = void (*)(const std::string &host, std::uint16_t port);

/* Runs both. The listener exists before the fork, so the client knows the port and need not wait for the server. */
inline int run_both(Server server, Client client)
{
	prism::TcpListener listener = must(prism::TcpListener::create(0, "127.0.0.1"));
	const std::uint16_t chosen = listener.port();
	const pid_t child = fork();
	if (child < 0)
		give_up("cannot fork");
	if (child == 0) {
		server(std::move(listener));
		std::exit(finish());
	}
	client("127.0.0.1", chosen);
	int status = 0;
	waitpid(child, &status, 0);
	return finish(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

inline int run(int argc, char **argv, Server server, Client client)
{
	const std::string role = argc > 1 ? argv[1] : "";
	if (role == "--self" && argc == 2)
		return run_both(server, client);
	if (role == "server" && argc == 2)
		server(must(prism::TcpListener::create(port)));
	else if (role == "client" && argc == 3)
		client(argv[2], port);
	else
		give_up(std::string("usage: ") + argv[0] + " server | client HOST | --self");
	return finish();
}

} // namespace example
