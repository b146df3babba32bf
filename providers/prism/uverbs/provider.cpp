/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The plug-in that libibverbs loads by the name libprism-rdmav<number of its private ABI>.so. It claims the devices of
 * rxe_prism.ko; the userspace devices come through prismdv_get_device_list() or prism-run(1).
 */
#include "../verbs/plugin.hpp"
#include "device.hpp"
#include "private_abi.h"

namespace
{

__attribute__((constructor)) void register_provider()
{
	prismdv_plugin_register(&prism::uverbs::direct_verbs());
	verbs_register_driver(&prism::uverbs::device_ops);
}

} // namespace
