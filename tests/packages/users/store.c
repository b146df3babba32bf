/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A user's program with the installed libprism-stores, in C and C++: it calls the library's own code. */
#include <prism/gam.h>
#include <prism/kv.h>
#include <prism/tx.h>
#include <stdio.h>

int main(void)
{
	struct prism_kv *store;
	int result = prism_kv_open(&store, "", NULL);
	puts(prism_store_message());
	return result != -22;
}
