// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "real_verbs.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace prism::real_verbs
{

namespace
{

[[noreturn]] void give_up(const char *what, const char *reason)
{
	std::fprintf(stderr, "libprism: %s: %s\n", what, reason ? reason : "no such function");
	std::abort();
}

void *libibverbs()
{
	// Opened by its soname, to get the copy that the process has loaded already. Never closed: its functions stay
	// in use until the process ends.
	static constinit std::atomic<void *> handle = nullptr;

	if (!handle)
		handle = dlopen("libibverbs.so.1", RTLD_LAZY);
	if (!handle)
		give_up("libibverbs.so.1", dlerror());
	return handle;
}

} // namespace

void *find(const char *name, const char *version)
{
	return version ? dlvsym(libibverbs(), name, version) : dlsym(libibverbs(), name);
}

void *lookup(const char *name, const char *version)
{
	void *const address = find(name, version);

	if (!address)
		give_up(name, dlerror());
	return address;
}

struct ibv_device **get_device_list(int *num)
{
	static constinit Function<struct ibv_device **(int *)> real("ibv_get_device_list", "IBVERBS_1.1");

	return real(num);
}

void free_device_list(struct ibv_device **list)
{
	static constinit Function<void(struct ibv_device **)> real("ibv_free_device_list", "IBVERBS_1.1");

	real(list);
}

} // namespace prism::real_verbs
