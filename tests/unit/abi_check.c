/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Checks that rdma_core_abi.h lays things out as rdma-core's own <infiniband/driver.h> does. Compiled twice, because
 * the two headers define the same names: with PRISM_ABI_REAL for the real one's table, without for ours and the
 * comparison.
 */
#include "abi_check.h"

#ifdef PRISM_ABI_REAL
#include <infiniband/driver.h>
#define TABLE abi_real
#else
#include "verbs/rdma_core_abi.h"
#include <stdio.h>
#define TABLE abi_ours
#endif

#define SIZE(type) {"sizeof " #type, sizeof(struct type)},
#define OFFSET(type, member) {"offset of " #type "." #member, offsetof(struct type, member)},
#define CONSTANT(name) {#name, (size_t)(name)},

const struct abi_fact TABLE[] = {ABI_SIZES(SIZE) ABI_MEMBERS(OFFSET) ABI_CONSTANTS(CONSTANT){NULL, 0}};

#ifndef PRISM_ABI_REAL

int main(void)
{
	int facts = 0, differences = 0;

	for (; abi_ours[facts].what; facts++) {
		if (abi_ours[facts].value == abi_real[facts].value)
			continue;
		printf("%s: %zu in rdma_core_abi.h, %zu in rdma-core\n", abi_ours[facts].what, abi_ours[facts].value,
			abi_real[facts].value);
		differences++;
	}
	printf("%d facts compared, %d differ\n", facts, differences);
	return differences || !facts;
}

#endif
