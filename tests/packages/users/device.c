/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A user's program with the installed libprism, in C and C++. */
#include <infiniband/prismdv.h>
#include <stdio.h>

int main(void)
{
	int count = 0;
	struct ibv_device **list = prismdv_get_device_list(&count);
	puts(prismdv_status_str(PRISMDV_STATUS_CAS_MISS));
	prismdv_free_device_list(list);
	return list ? 0 : 1;
}
