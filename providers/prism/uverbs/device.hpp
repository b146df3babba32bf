/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Devices of rxe_prism.ko. */
#pragma once

#include "../verbs/direct_verbs.hpp"
#include "../verbs/rdma_core_abi.h"

namespace prism::uverbs
{

/** Registered with libibverbs by provider.cpp. */
extern const verbs_device_ops device_ops;

bool is_uverbs(const ibv_device *device);
const DirectVerbs &direct_verbs();

} // namespace prism::uverbs
