/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A program that loads libprism for a while, by the name that is its argument. Its later faults still reach the handler
 * that it had before.
 */
#include "expect.h"

#include <dlfcn.h>
#include <infiniband/prismdv.h>
#include <signal.h>
#include <sys/mman.h>

static void note(int number)
{
	_exit(number == SIGSEGV ? 0 : 2);
}

static int opens_a_device(void *library)
{
	struct ibv_device **(*get_list)(int *) = dlsym(library, "prismdv_get_device_list");
	void (*free_list)(struct ibv_device **) = dlsym(library, "prismdv_free_device_list");
	struct ibv_context *(*open_device)(struct ibv_device *, const struct prismdv_context_attr *) =
		dlsym(library, "prismdv_open_device");
	struct ibv_device **list = get_list(NULL);
	struct ibv_context *context = list && list[0] ? open_device(list[0], NULL) : NULL;

	if (list)
		free_list(list);
	return context && !ibv_close_device(context);
}

static int comes_to_the_handler(int unused)
{
	char *nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	*(volatile char *)nothing = 1;
	return 0;
}

int main(int argc, char **argv)
{
	void *library;

	signal(SIGSEGV, note);
	library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	expect("a device opens", opens_a_device(library));
	expect("the library is given back", !dlclose(library));
	in_child("a fault of the program's", comes_to_the_handler, 0);
	return failures != 0;
}
