/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Child processes of programs that kill and replace them. */
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace prism::test
{

/** Client of a run, in a process of its own. */
struct Child {
	pid_t pid = 0;
	std::uint32_t number = 0;
};

/** Starts the program words[0]. It is killed when the calling thread ends. */
inline pid_t spawn(const std::vector<std::string> &words)
{
	std::vector<char *> arguments;
	for (const std::string &word : words)
		arguments.push_back(const_cast<char *>(word.c_str()));
	arguments.push_back(nullptr);
	std::fflush(stdout);
	const pid_t parent = ::getpid();
	const pid_t pid = ::fork();
	if (pid)
		return pid;
	if (::prctl(PR_SET_PDEATHSIG, SIGKILL) || ::getppid() != parent)
		::_exit(127);
	::execv(arguments[0], arguments.data());
	::_exit(127);
}

inline void kill_and_wait(pid_t pid, int signal = SIGKILL)
{
	::kill(pid, signal);
	::waitpid(pid, nullptr, 0);
}

/** Waits for the end of @p child. Returns its status as waitpid(2) does, and prints it if it is not 0. */
inline int status_of(const Child &child)
{
	int status = 0;
	::waitpid(child.pid, &status, 0);
	if (status)
		fmt::print("client {} ended with {:#x}\n", child.number, status);
	return status;
}

} // namespace prism::test
