/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Checks of a program, a line each; its exit status is failures != 0. */
#ifndef PRISM_TESTS_EXPECT_H
#define PRISM_TESTS_EXPECT_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

static inline void expect(const char *what, int holds)
{
	printf("%s: %s\n", what, holds ? "ok" : "FAILED");
	fflush(stdout);
	failures += !holds;
}

/* Expects that CHECK(ARG) holds in a child, which ends by itself. */
static inline void in_child(const char *what, int (*check)(int), int arg)
{
	int status = 0;
	pid_t child = fork();

	if (!child)
		_exit(check(arg) ? 0 : 1);
	waitpid(child, &status, 0);
	expect(what, status == 0);
}

#endif
