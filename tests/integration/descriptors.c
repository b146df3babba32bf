/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Under prism-run: programs that handle descriptors by number. A channel of the connection manager looks like a
 * character device; a program's own file does not, and can be written to, whatever number it has. A program that closes
 * all descriptors leaves open those of the device that it never saw.
 *
 * With the argument "closed" only the end: everything is closed without the C library, and the program must still end.
 * With "scarce": a device that cannot be opened for lack of descriptors.
 */
#define _GNU_SOURCE
#include "expect.h"
#include "loopback.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_user_cm.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define CM_DEVICE "/dev/infiniband/rdma_cm"

static int open_channel(void)
{
	return open(CM_DEVICE, O_RDWR | O_CLOEXEC);
}

/* Old programs call this */
int __fxstat(int version, int fd, struct stat *status);

static int is_channel(int fd)
{
	struct stat status, old;
	struct stat64 large;

	if (fstat(fd, &status) || fstat64(fd, &large) || __fxstat(1, fd, &old))
		return 0;
	return S_ISCHR(status.st_mode) && S_ISCHR(large.st_mode) && S_ISCHR(old.st_mode);
}

/* The device's own names, for which there is no file. Old programs call these: */
int __xstat(int version, const char *path, struct stat *status);
int __xstat64(int version, const char *path, struct stat64 *status);

static int is_there_by_name(const char *path)
{
	struct stat status, old;
	struct stat64 large, old_large;

	if (stat(path, &status) || stat64(path, &large))
		return 0;
	if (__xstat(1, path, &old) || __xstat64(1, path, &old_large))
		return 0;
	return S_ISCHR(status.st_mode) && S_ISCHR(large.st_mode) && S_ISCHR(old.st_mode) && S_ISCHR(old_large.st_mode);
}

static int opens(int fd)
{
	int is = is_channel(fd);

	close(fd);
	return is;
}

/* -D_FORTIFY_SOURCE turns open() into these */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

/* Puts a file of the program's at the number FD, which is free */
static int own_file_works_at(int fd)
{
	int file = memfd_create("own", MFD_CLOEXEC);

	if (file != fd && (dup2(file, fd) != fd || close(file)))
		return 0;
	return !is_channel(fd) && write(fd, "x\n", 2) == 2;
}

static int closes_all(int fd)
{
	return !close_range(3, ~0u, 0) && own_file_works_at(fd);
}

static int closes_by_system_call(int fd)
{
	return !syscall(SYS_close, fd) && own_file_works_at(fd);
}

static int closes_one(int fd)
{
	return !close(fd) && own_file_works_at(fd);
}

static int may_not_use_it(int fd)
{
	char command[64] = {0};

	return is_channel(fd) && write(fd, command, sizeof(command)) == -1 && errno == EBADF;
}

static int opens_its_own(int fd)
{
	int own = open_channel();

	return own >= 0 && own != fd && is_channel(own) && !close(own) && own_file_works_at(own);
}

/* Returns true if the connection manager answers */
static int makes_an_id(int fd)
{
	struct rdma_ucm_create_id_resp response = {0};
	struct {
		struct rdma_ucm_cmd_hdr header;
		struct rdma_ucm_create_id create;
	} command = {{RDMA_USER_CM_CMD_CREATE_ID, sizeof(command.create), sizeof(response)},
		     {.response = (uintptr_t)&response, .ps = RDMA_PS_TCP, .qp_type = IBV_QPT_RC}};

	return write(fd, &command, sizeof(command)) == (ssize_t)sizeof(command) && response.id != 0;
}

/* Lowers the limit to the lowest free number: nothing can be opened any more. */
static int take_all_descriptors(struct rlimit *before)
{
	struct rlimit none;
	const int lowest = dup(0);

	if (lowest < 0 || close(lowest) || getrlimit(RLIMIT_NOFILE, before))
		return 0;
	none = *before;
	none.rlim_cur = (rlim_t)lowest;
	return !setrlimit(RLIMIT_NOFILE, &none);
}

static int outlives_a_lack_of_descriptors(int fd)
{
	struct rlimit before;
	int works;

	if (!take_all_descriptors(&before))
		return 0;
	works = is_channel(fd) && makes_an_id(fd);
	return !setrlimit(RLIMIT_NOFILE, &before) && works && is_channel(fd) && makes_an_id(fd);
}

/* Changes its root as daemons do, which have no /proc from then on */
static int outlives_another_root(int unused)
{
	const int fd = open_channel();

	(void)unused;
	if (chroot("/dev"))
		return errno == EPERM;
	return is_channel(fd) && makes_an_id(fd) && !close(fd) && makes_an_id(open_channel());
}

static int is_told_from_files_without_proc(int unused)
{
	const int fd = open_channel();

	(void)unused;
	if (chroot("/dev"))
		return errno == EPERM;
	return closes_by_system_call(fd);
}

static void with_a_channel(void)
{
	int fd = open_channel(), status;
	pid_t child;

	expect("a channel", fd >= 0 && is_channel(fd));
	expect("stat, stat64, __xstat and __xstat64", is_there_by_name("/dev/infiniband/prism_lo"));
	expect("and there is no other", !is_there_by_name("/dev/infiniband/prism_none"));
	expect("open64", opens(open64(CM_DEVICE, O_RDWR)));
	expect("__open_2", opens(__open_2(CM_DEVICE, O_RDWR)));
	expect("__open64_2", opens(__open64_2(CM_DEVICE, O_RDWR)));
	child = vfork();
	if (!child) {
		for (int each = 3; each < 64; each++)
			close(each);
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	expect("after a child's vfork, close and exec it is one still", is_channel(fd));
	in_child("a child closes a range", closes_all, fd);
	in_child("a child closes by a system call", closes_by_system_call, fd);
	in_child("a child closes it", closes_one, fd);
	in_child("a child has its parent's", may_not_use_it, fd);
	in_child("a child opens its own", opens_its_own, fd);
	expect("after all of them it is one still", is_channel(fd));
	expect("it works when no descriptor is left", outlives_a_lack_of_descriptors(fd));
	in_child("it works in another root", outlives_another_root, 0);
	in_child("another root, and a file takes its number", is_told_from_files_without_proc, 0);
	expect("a file takes its number", own_file_works_at(fd));
	fd = open_channel();
	expect("another channel", fd >= 0 && is_channel(fd));
	expect("the program closes a range", !close_range((unsigned)fd, (unsigned)fd, 0) && own_file_works_at(fd));
}

static void close_each(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
}

static void close_from(void)
{
	closefrom(3);
}

static void close_all_but_one(void)
{
	close_range(3, 20, 0);
	close_range(22, ~0u, 0);
}

static const struct way {
	const char *what;
	void (*close_all)(void);
} ways[] = {{"close()", close_each}, {"closefrom()", close_from}, {"close_range()", close_all_but_one}};

/* Runs in a child, which has no part of the device; returns true if it has closed everything */
static int has_nothing_open(int lowest_free)
{
	int fd;

	closefrom(lowest_free);
	fd = memfd_create("own", 0);
	return fd == lowest_free;
}

/* The device goes on; the program's own descriptors are closed: a file, and a channel. */
static void closes_everything_by(const struct way *way, struct loopback *loop)
{
	int fd = open_channel(), own = memfd_create("own", 0), lowest;
	char text[128];

	way->close_all();
	lowest = memfd_create("own", 0);
	snprintf(text, sizeof(text), "%s closes what is the program's", way->what);
	expect(text, fd >= 0 && !is_channel(fd) && lowest <= own && (fcntl(own, F_GETFD) == -1 || lowest == own));
	snprintf(text, sizeof(text), "%s leaves the device what is the device's", way->what);
	expect(text, loopback_works(loop));
	close(lowest);
}

static void with_a_device(void)
{
	static char memory[4096];
	struct loopback loop = {0};

	expect("a connection", loopback_open(&loop, memory, sizeof(memory)) && loopback_works(&loop));
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		closes_everything_by(&ways[i], &loop);
	in_child("a child closes all", has_nothing_open, 3);
	expect("and its parent's device goes on", loopback_works(&loop));
	expect("the device is closed", !ibv_destroy_qp(loop.qp) && !ibv_destroy_cq(loop.cq) && !ibv_dereg_mr(loop.mr) &&
					       !ibv_dealloc_pd(loop.pd) && !ibv_close_device(loop.context));
}

/* Requests under way must not keep the process from its end. */
static void with_nothing_left(void)
{
	static char memory[4096];
	struct loopback loop = {0};

	expect("a channel", open_channel() >= 0);
	expect("a connection", loopback_open(&loop, memory, sizeof(memory)) && loopback_works(&loop));
	usleep(300 * 1000); /* so that all threads wait */
	expect("everything is closed", !syscall(SYS_close_range, 3, ~0u, 0));
	expect("the device is closed", !ibv_destroy_qp(loop.qp) && !ibv_destroy_cq(loop.cq) && !ibv_dereg_mr(loop.mr) &&
					       !ibv_dealloc_pd(loop.pd) && !ibv_close_device(loop.context));
}

static void with_too_few(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct rlimit before;

	expect("a device", list && list[0]);
	expect("no descriptor is left", take_all_descriptors(&before));
	errno = 0;
	expect("it cannot be opened", !ibv_open_device(list[0]) && errno == EMFILE);
	expect("there are descriptors again", !setrlimit(RLIMIT_NOFILE, &before));
	expect("it can be opened", ibv_open_device(list[0]) != NULL);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "scarce")) {
		with_too_few();
	} else if (argc > 1) {
		with_nothing_left();
	} else {
		with_a_channel();
		with_a_device();
	}
	return failures != 0;
}
