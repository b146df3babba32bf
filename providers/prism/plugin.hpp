/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What libprism does for its plug-in, which serves the devices of rxe_prism.ko. The plug-in is a file of its own,
 * because it is bound to one private ABI of libibverbs, and libprism to none. Both are of the same build: exported by
 * libprism under its private symbol version, with no promise to others.
 */
#pragma once

#include "direct_verbs.hpp"
#include "verbs_operations.hpp"

extern "C" {

/** From now on the functions of <infiniband/prismdv.h> ask @p verbs about devices that it owns. Thread-safe. */
void prismdv_plugin_register(const prism::DirectVerbs *verbs);

/** OperationTable::set() for a context that libibverbs has made. 0, or an errno if its table is not known. */
int prismdv_plugin_set_operations(verbs_context *context, const prism::Operations *operations);
}
