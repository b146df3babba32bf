/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Two libraries, one behind the other, with a function of the same name: used by lookups.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

int value(void);
int value_of_next(void);
int value_by_default(void);

int value(void)
{
	return VALUE;
}

static int call(int (*function)(void))
{
	return function ? function() : 0;
}

int value_of_next(void)
{
	return call(dlsym(RTLD_NEXT, "value"));
}

int value_by_default(void)
{
	return call(dlsym(RTLD_DEFAULT, "value"));
}
