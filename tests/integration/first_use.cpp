/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A child that is born while another thread lists or opens a device for the first time may do so as well. Here that
 * thread is always in the middle of it when the fork begins, as a function that it calls then takes long: the argument,
 * getifaddrs for the list, pipe2 when libibverbs is asked for its layout, sigaction when handlers of faults are
 * installed.
 */
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <thread>

#include <dlfcn.h>
#include <ifaddrs.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/prismdv.h>

namespace
{

std::atomic<bool> forking, in_the_midst, ended;
std::string_view slow;
thread_local bool is_first;

bool use_a_device()
{
	ibv_device **list = prismdv_get_device_list(nullptr);
	ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : nullptr;
	if (list)
		prismdv_free_device_list(list);
	return context && !ibv_close_device(context);
}

void take_time(std::string_view function)
{
	if (!is_first || function != slow || in_the_midst.exchange(true))
		return;
	while (!forking)
		std::this_thread::yield();
	std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

template <typename Function>
Function *next(const char *name)
{
	return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

} // namespace

/* Takes precedence over the C library's */
extern "C" int getifaddrs(ifaddrs **list)
{
	take_time("getifaddrs");
	return next<decltype(getifaddrs)>("getifaddrs")(list);
}

extern "C" int pipe2(int *ends, int flags)
{
	take_time("pipe2");
	return next<decltype(pipe2)>("pipe2")(ends, flags);
}

extern "C" int sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
	take_time("sigaction");
	return next<int(int, const struct sigaction *, struct sigaction *)>("sigaction")(signal, action, before);
}

int main(int argc, char **argv)
{
	slow = argc > 1 ? argv[1] : "";
	/* Registered last, so it runs before the library's own handlers when a fork begins. */
	pthread_atfork([] { forking = true; }, nullptr, nullptr);
	std::thread first([] {
		is_first = true;
		if (!use_a_device())
			std::fprintf(stderr, "the parent has no device\n");
		ended = true;
	});
	while (!in_the_midst && !ended)
		std::this_thread::yield();
	if (!in_the_midst) {
		std::fprintf(stderr, "nobody calls '%s'\n", argc > 1 ? argv[1] : "");
		first.join();
		return 1;
	}
	const pid_t child = fork();
	if (!child) {
		alarm(5);
		_exit(use_a_device() ? 0 : 1);
	}
	int status = -1;
	waitpid(child, &status, 0);
	first.join();
	if (status != 0)
		std::fprintf(stderr, "a child that uses a device hangs, or has none\n");
	return status == 0 ? 0 : 1;
}
