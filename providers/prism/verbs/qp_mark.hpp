/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Differences between the releases of libibverbs that share a private ABI: the offset at which ibv_qp_to_qp_ex() looks
 * for the mark of a queue pair with builders (rdma_core_abi.h). Found by asking the loaded library, not the headers.
 */
#pragma once

#include <cstddef>
#include <optional>

#include "rdma_core_abi.h"

namespace prism
{

/** Returns the offset of verbs_qp.comp_mask in bytes; nothing if this provider cannot serve this @p to_qp_ex. */
std::optional<std::size_t> find_comp_mask(ibv_qp_ex *(*to_qp_ex)(ibv_qp *));

/** Returns true if mark_extended() can be called. If not, the first call reports the reason on the standard error.
 * Thread-safe. */
bool can_mark_extended();

/** Marks @p qp: ibv_qp_to_qp_ex() then returns its qp_ex, not nullptr. */
void mark_extended(verbs_qp &qp);

} // namespace prism
