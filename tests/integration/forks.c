/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Under prism-run: ibv_fork_init(3), or RDMAV_FORK_SAFE for it with the argument "asked". A child does not get pages in
 * which memory is registered; it and its parent go on all the same.
 */
#define _GNU_SOURCE
#include "expect.h"
#include "loopback.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

static struct loopback loop;

static int has_the_page(int wanted)
{
	unsigned char resident;

	return (mincore(loop.memory, 1, &resident) == 0) == wanted;
}

static int does_nothing(int unused)
{
	(void)unused;
	return 1;
}

static int executes(int unused)
{
	(void)unused;
	execl("/bin/true", "true", (char *)NULL);
	return 0;
}

static int may_use_a_device_of_its_own(int unused)
{
	static char memory[8192] __attribute__((aligned(4096)));
	struct loopback own = {0};

	(void)unused;
	return loopback_open(&own, memory, sizeof(memory)) && loopback_works(&own);
}

static void with_children(void)
{
	int status = 0;
	pid_t child;

	in_child("a child ends", does_nothing, 0);
	in_child("a child executes a program", executes, 0);
	in_child("a child has a device of its own", may_use_a_device_of_its_own, 0);
	expect("system()", !system("true"));
	child = fork();
	if (!child)
		_exit(pause());
	expect("the parent goes on beside a child", loopback_works(&loop) && loopback_works(&loop));
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	expect("and without it", loopback_works(&loop));
}

static int find_heap(uintptr_t *begin, uintptr_t *end)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int found = 0;

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "[heap]") && sscanf(line, "%" SCNxPTR "-%" SCNxPTR, begin, end) == 2;
	if (maps)
		fclose(maps);
	return found;
}

/*
 * Acts as a program that registers all its memory, and thereby the library's own data on the heap. The child allocates
 * and frees no memory.
 */
static void with_the_heap_registered(void)
{
	uintptr_t begin = 0, end = 0;
	struct ibv_mr *mr = NULL;

	if (find_heap(&begin, &end))
		mr = ibv_reg_mr(loop.pd, (void *)begin, end - begin, IBV_ACCESS_LOCAL_WRITE);
	expect("the heap is registered", mr != NULL);
	in_child("a child ends without the heap", does_nothing, 0);
	in_child("a child executes a program without the heap", executes, 0);
	expect("the parent goes on", loopback_works(&loop));
	ibv_dereg_mr(mr);
}

int main(int argc, char **argv)
{
	const int asked = argc > 1 && !strcmp(argv[1], "asked");
	void *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!asked)
		expect("ibv_fork_init", !ibv_fork_init());
	expect("a connection", loopback_open(&loop, memory, 8192) && loopback_works(&loop));
	expect("fork is safe", ibv_is_fork_initialized() != IBV_FORK_DISABLED);
	if (ibv_is_fork_initialized() == IBV_FORK_ENABLED)
		in_child("a child does not have what is registered", has_the_page, 0);
	with_children();
	with_the_heap_registered();
	ibv_dereg_mr(loop.mr);
	in_child("a child has what is registered no more", has_the_page, 1);
	return failures != 0;
}
