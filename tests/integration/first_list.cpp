/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A child that is born while another thread lists devices for the first time may list them as well. Here that thread is
 * always in the midst of it when the fork begins, as reading the interfaces takes so long.
 */
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include <dlfcn.h>
#include <ifaddrs.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/prismdv.h>

namespace
{

std::atomic<bool> forking, listing;

void list_devices()
{
	prismdv_free_device_list(prismdv_get_device_list(nullptr));
}

} // namespace

/* In front of the C library's */
extern "C" int getifaddrs(ifaddrs **list)
{
	static const auto next = reinterpret_cast<decltype(&getifaddrs)>(dlsym(RTLD_NEXT, "getifaddrs"));
	if (forking && !listing.exchange(true))
		std::this_thread::sleep_for(std::chrono::milliseconds(300));
	return next(list);
}

int main()
{
	pthread_atfork(
		[] {
			forking = true;
			while (!listing)
				std::this_thread::yield();
		},
		nullptr, nullptr);
	std::thread lister([] {
		while (!forking)
			std::this_thread::yield();
		list_devices();
	});
	const pid_t child = fork();
	if (!child) {
		alarm(5);
		list_devices();
		_exit(0);
	}
	int status = -1;
	waitpid(child, &status, 0);
	lister.join();
	if (status != 0)
		std::fprintf(stderr, "a child that lists devices hangs\n");
	return status == 0 ? 0 : 1;
}
