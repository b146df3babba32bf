/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The plugin that libibverbs loads by the name libprism-rdmav34.so. It claims the devices of the kernel module; until
 * their driver id is known to this build it claims none, and the userspace devices come through
 * prismdv_get_device_list() or prism-run(1).
 */
#include "rdma_core_abi.h"

namespace
{

const verbs_match_ent match_table[] = {{}};

const verbs_device_ops provider_ops = [] {
	verbs_device_ops ops{};
	ops.name = "prism";
	ops.match_table = match_table;
	return ops;
}();

__attribute__((constructor)) void register_provider()
{
	verbs_register_driver_34(&provider_ops);
}

} // namespace
