/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * confined PROGRAM [ARGUMENT...]: runs a program under Docker's default list of system calls for a container without
 * capabilities, with one difference: calls that Docker answers with EPERM kill here. So a program that ends well has
 * not even tried one. confined --check: checks that each of these calls kills.
 */
#define _GNU_SOURCE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <err.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "expect.h"

#if defined(__x86_64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/*
 * System calls that the list of May 2026 denies (github.com/moby/profiles, seccomp/default.json), and those that the
 * lists before March 2021 deny as well: process_vm_readv and process_vm_writev.
 */
static const unsigned denied[] = {
	SYS_acct, SYS_add_key, SYS_bpf, SYS_chroot, SYS_clock_settime, SYS_delete_module, SYS_fanotify_init,
	SYS_finit_module, SYS_fsconfig, SYS_fsmount, SYS_fsopen, SYS_fspick, SYS_get_mempolicy, SYS_init_module,
	SYS_io_uring_enter, SYS_io_uring_register, SYS_io_uring_setup, SYS_kcmp, SYS_kexec_file_load, SYS_kexec_load,
	SYS_keyctl, SYS_lookup_dcookie, SYS_mbind, SYS_migrate_pages, SYS_mount, SYS_mount_setattr, SYS_move_mount,
	SYS_move_pages, SYS_open_by_handle_at, SYS_open_tree, SYS_perf_event_open, SYS_pidfd_getfd, SYS_pivot_root,
	SYS_process_madvise, SYS_process_vm_readv, SYS_process_vm_writev, SYS_quotactl, SYS_quotactl_fd, SYS_reboot,
	SYS_request_key, SYS_set_mempolicy, SYS_set_mempolicy_home_node, SYS_setdomainname, SYS_sethostname, SYS_setns,
	SYS_settimeofday, SYS_swapoff, SYS_swapon, SYS_syslog, SYS_umount2, SYS_unshare, SYS_userfaultfd, SYS_vhangup,
#ifdef __x86_64__
	SYS__sysctl, SYS_afs_syscall, SYS_create_module, SYS_get_kernel_syms, SYS_getpmsg, SYS_ioperm, SYS_iopl,
	SYS_putpmsg, SYS_query_module, SYS_security, SYS_sysfs, SYS_tuxcall, SYS_uselib, SYS_ustat, SYS_vserver,
#endif
	SYS_nfsservctl,
};
#define DENIED (sizeof(denied) / sizeof(*denied))

/* The newest call on the list is removexattrat; runc answers later ones as an older kernel would. */
#define FIRST_UNKNOWN 467
/* CLONE_NEWNS, CLONE_NEWUSER and the other namespaces */
#define NEW_NAMESPACES 0x7e020000
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define ANSWER(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
/* The lower half, on a little-endian machine */
#define LOAD_ARGUMENT LOAD(offsetof(struct seccomp_data, args[0]))
/* Continues with the next instruction if the word is @value, and skips @skip instructions otherwise. */
#define IF_EQUAL(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)

static const struct sock_filter first[] = {
	LOAD(offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCHITECTURE, 1, 0),
	KILL,
	LOAD(offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_UNKNOWN, 0, 1),
	ANSWER(ENOSYS),
	IF_EQUAL(SYS_clone3, 1), /* no filter can see its flags: libc then uses clone */
	ANSWER(ENOSYS),
	IF_EQUAL(SYS_clone, 4),
	LOAD_ARGUMENT,
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, 0, 1),
	KILL,
	ALLOW,
	IF_EQUAL(SYS_socket, 4),
	LOAD_ARGUMENT,
	IF_EQUAL(AF_VSOCK, 1),
	KILL,
	ALLOW,
	IF_EQUAL(SYS_personality, 8), /* five values are harmless */
	LOAD_ARGUMENT,
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PER_LINUX, 4, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PER_LINUX32, 3, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UNAME26, 2, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UNAME26 | PER_LINUX32, 1, 0),
	IF_EQUAL(0xffffffff, 1), /* a query */
	ALLOW,
	KILL,
};

static void confine(void)
{
	static struct sock_filter program[sizeof(first) / sizeof(*first) + 2 * DENIED + 1];
	struct sock_fprog all = {.len = sizeof(program) / sizeof(*program), .filter = program};
	struct sock_filter *next = program + sizeof(first) / sizeof(*first);

	memcpy(program, first, sizeof(first));
	for (size_t i = 0; i < DENIED; i++) {
		*next++ = (struct sock_filter)IF_EQUAL(denied[i], 1);
		*next++ = (struct sock_filter)KILL;
	}
	*next = (struct sock_filter)ALLOW;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all))
		err(1, "no filter of system calls");
}

/* Returns true if a child that makes the call is killed. In a filter that works none of these calls has an effect. */
static int is_denied(unsigned call)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		confine();
		syscall(call, -1, -1, -1, -1, -1, -1);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

static int check(void)
{
	size_t count = 0;

	for (size_t i = 0; i < DENIED; i++)
		count += (size_t)is_denied(denied[i]);
	expect("every call of the list kills", count == DENIED);
	expect("another does not", !is_denied(SYS_getppid));
	return failures != 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--check"))
		return check();
	if (argc < 2)
		errx(1, "usage: confined PROGRAM [ARGUMENT...] | confined --check");
	confine();
	execvp(argv[1], argv + 1);
	err(127, "%s", argv[1]);
}
