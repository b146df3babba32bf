/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Under prism-run --only: a program that is linked with neither libibverbs nor librdmacm, and looks up their functions,
 * as programs do that run with and without RDMA. Arguments: the libraries of lookup_library.c, without and with another
 * behind it.
 */
#define _GNU_SOURCE
#include "expect.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <string.h>
#include <sys/stat.h>

#define CM_DEVICE "/dev/infiniband/rdma_cm"

/* Looks up a function of libibverbs, with or without a version */
static void *verbs(const char *name, const char *version)
{
	static void *handle;

	if (!handle)
		handle = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
	return version ? dlvsym(handle, name, version) : dlsym(handle, name);
}

/* A userspace device is listed, has a GUID, and opens. */
static int finds_a_device(const char *version)
{
	struct ibv_device **(*get_list)(int *) = verbs("ibv_get_device_list", version);
	void (*free_list)(struct ibv_device **) = verbs("ibv_free_device_list", version);
	__be64 (*get_guid)(struct ibv_device *) = verbs("ibv_get_device_guid", version);
	struct ibv_context *(*open_device)(struct ibv_device *) = verbs("ibv_open_device", version);
	int (*query_gid)(struct ibv_context *, uint8_t, int, union ibv_gid *) = verbs("ibv_query_gid", version);
	int (*close_device)(struct ibv_context *) = verbs("ibv_close_device", version);
	struct ibv_device **list = get_list(NULL);
	struct ibv_context *context;
	union ibv_gid gid;
	int good;

	if (!list || !list[0])
		return 0;
	context = open_device(list[0]);
	good = !strncmp(list[0]->name, "prism_", 6) && get_guid(list[0]) && context && !query_gid(context, 1, 0, &gid);
	free_list(list);
	return good && !close_device(context);
}

static int finds_channels(void)
{
	struct ibv_device **(*get_list)(int *) = verbs("ibv_get_device_list", NULL);
	void (*free_list)(struct ibv_device **) = verbs("ibv_free_device_list", NULL);
	struct ibv_context *(*open_device)(struct ibv_device *) = verbs("ibv_open_device", NULL);
	struct ibv_comp_channel *(*create)(struct ibv_context *) = verbs("ibv_create_comp_channel", NULL);
	int (*destroy)(struct ibv_comp_channel *) = verbs("ibv_destroy_comp_channel", NULL);
	struct ibv_device **list = get_list(NULL);
	struct ibv_context *context = list && list[0] ? open_device(list[0]) : NULL;
	struct ibv_comp_channel *channel = context ? create(context) : NULL;

	if (list)
		free_list(list);
	return channel && !destroy(channel);
}

/* Functions of libibverbs's old version, which has another device list, are left alone. */
static int old_version_is_another(void)
{
	void *old = verbs("ibv_get_device_list", "IBVERBS_1.0");

	return old && old != verbs("ibv_get_device_list", NULL) &&
	       verbs("ibv_get_device_list", NULL) == verbs("ibv_get_device_list", "IBVERBS_1.1");
}

static int connection_manager_works(void)
{
	void *handle = dlopen("librdmacm.so.1", RTLD_NOW | RTLD_LOCAL);
	struct ibv_context **(*get_devices)(int *) = dlsym(handle, "rdma_get_devices");
	void *(*create_channel)(void) = dlsym(handle, "rdma_create_event_channel");
	void (*destroy_channel)(void *) = dlsym(handle, "rdma_destroy_event_channel");
	void *channel = create_channel();
	int count = 0;

	if (!channel || !get_devices(&count))
		return 0;
	destroy_channel(channel);
	return count > 0;
}

/* Opens it by the C library's function, found by a handle of its own, or as the next one */
static int opens_the_channel(void *handle)
{
	int (*open_file)(const char *, int, ...) = dlsym(handle, "open");
	int (*status_of)(int, struct stat *) = dlsym(handle, "fstat");
	int (*close_file)(int) = dlsym(handle, "close");
	struct stat status;
	int fd = open_file(CM_DEVICE, O_RDWR | O_CLOEXEC);

	return fd >= 0 && !status_of(fd, &status) && S_ISCHR(status.st_mode) && !close_file(fd);
}

/* As without prism-run: the caller of the lookup is identified. */
static int caller_counts(const char *alone, const char *with_another)
{
	int (*next)(void) = NULL, (*by_default)(void) = NULL, (*behind)(void) = NULL;
	void *first = dlopen(with_another, RTLD_NOW | RTLD_LOCAL), *second = dlopen(alone, RTLD_NOW | RTLD_LOCAL);

	if (first)
		next = dlsym(first, "value_of_next");
	if (first)
		by_default = dlsym(first, "value_by_default");
	if (second)
		behind = dlsym(second, "value_of_next");
	/* Its own value is 1, that of the library behind it 2. The program sees neither. */
	return next && by_default && behind && next() == 2 && by_default() == 1 && behind() == 0 &&
	       !dlsym(RTLD_DEFAULT, "value") && !dlvsym(RTLD_DEFAULT, "value", "IBVERBS_1.1");
}

static int names_that_nobody_has(void)
{
	dlerror();
	return !verbs("ibv_no_such_function", NULL) && dlerror() && !verbs("ibv_open_device", "IBVERBS_0.0") && dlerror();
}

int main(int argc, char **argv)
{
	(void)argc;
	expect("dlsym", finds_a_device(NULL));
	expect("dlvsym", finds_a_device("IBVERBS_1.1"));
	expect("completion channels", finds_channels());
	expect("an old version", old_version_is_another());
	expect("librdmacm", connection_manager_works());
	expect("open() by a handle", opens_the_channel(dlopen("libc.so.6", RTLD_NOW)));
	expect("open() that comes next", opens_the_channel(RTLD_NEXT));
	expect("open() of all", opens_the_channel(RTLD_DEFAULT));
	expect("RTLD_NEXT and RTLD_DEFAULT of a library", caller_counts(argv[1], argv[2]));
	expect("what is not there", names_that_nobody_has());
	return failures != 0;
}
