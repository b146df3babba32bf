/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What differs between the releases of libibverbs that share a private ABI: where ibv_qp_to_qp_ex() looks for the mark
 * of a queue pair with builders (rdma_core_abi.h). Asked of the library that is loaded, not of the headers.
 */
#pragma once

#include <cstddef>
#include <optional>

#include "rdma_core_abi.h"

namespace prism
{

/** Of verbs_qp.comp_mask, in bytes; nothing if @p to_qp_ex is none that this provider can serve. */
std::optional<std::size_t> find_comp_mask(ibv_qp_ex *(*to_qp_ex)(ibv_qp *));

/** Whether mark_extended() can be called. If not, the first call says why on the standard error. Thread-safe. */
bool can_mark_extended();

/** From now on ibv_qp_to_qp_ex() returns the qp_ex of @p qp, not nullptr. */
void mark_extended(verbs_qp &qp);

} // namespace prism
