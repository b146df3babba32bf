/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Under prism-run, with a channel of the connection manager open: what programs do with descriptors by number. A
 * channel looks like a character device; a program's own file does not, and can be written to, whatever number it has.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CM_DEVICE "/dev/infiniband/rdma_cm"

static int failures;

static void expect(const char *what, int holds)
{
	printf("%s: %s\n", what, holds ? "ok" : "FAILED");
	fflush(stdout);
	failures += !holds;
}

static int open_channel(void)
{
	return open(CM_DEVICE, O_RDWR | O_CLOEXEC);
}

/* What old programs call */
int __fxstat(int version, int fd, struct stat *status);

static int is_channel(int fd)
{
	struct stat status, old;
	struct stat64 large;

	if (fstat(fd, &status) || fstat64(fd, &large) || __fxstat(1, fd, &old))
		return 0;
	return S_ISCHR(status.st_mode) && S_ISCHR(large.st_mode) && S_ISCHR(old.st_mode);
}

static int opens(int fd)
{
	int is = is_channel(fd);

	close(fd);
	return is;
}

/* What -D_FORTIFY_SOURCE makes of open() */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

/* A file of the program's at the number FD, which is free */
static int own_file_works_at(int fd)
{
	int file = memfd_create("own", MFD_CLOEXEC);

	if (file != fd && (dup2(file, fd) != fd || close(file)))
		return 0;
	return !is_channel(fd) && write(fd, "x\n", 2) == 2;
}

static void in_child(const char *what, int (*check)(int), int fd)
{
	int status = 0;
	pid_t child = fork();

	if (!child)
		_exit(check(fd) ? 0 : 1);
	waitpid(child, &status, 0);
	expect(what, status == 0);
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

int main(void)
{
	int fd = open_channel(), status;
	pid_t child;

	expect("a channel", fd >= 0 && is_channel(fd));
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
	expect("a file takes its number", own_file_works_at(fd));
	fd = open_channel();
	expect("another channel", fd >= 0 && is_channel(fd));
	expect("the program closes a range", !close_range((unsigned)fd, (unsigned)fd, 0) && own_file_works_at(fd));
	return failures != 0;
}
