/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The plugin that libibverbs loads by the name libprism-rdmav34.so. It claims the devices of rxe_prism.ko; the
 * userspace devices come through prismdv_get_device_list() or prism-run(1).
 */
#include "rdma_core_abi.h"
#include "uverbs/device.hpp"

namespace
{

__attribute__((constructor)) void register_provider()
{
	verbs_register_driver_34(&prism::uverbs::device_ops);
}

} // namespace
