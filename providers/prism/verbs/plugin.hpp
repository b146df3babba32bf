/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Functions that libprism exports for its plug-in, which serves the devices of rxe_prism.ko. The plug-in is a separate
 * file because it is bound to one private ABI of libibverbs, and libprism to none. Both come from one build: the
 * functions have a private symbol version, with no promise to others.
 */
#pragma once

#include "direct_verbs.hpp"
#include "operations.hpp"

extern "C" {

/** Registers @p verbs: the functions of <infiniband/prismdv.h> then ask it about the devices that it owns.
 * Thread-safe. */
void prismdv_plugin_register(const prism::DirectVerbs *verbs);

/** Calls OperationTable::set() for a context that libibverbs has made. Returns 0, or an errno if its table is not
 * known. */
int prismdv_plugin_set_operations(verbs_context *context, const prism::Operations *operations);
}
