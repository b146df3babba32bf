/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/queue_pair.hpp>

namespace prism::apps
{

/** Moves @p qp to the ERROR state: what is posted is flushed, and nothing that the peer sends is executed. */
inline void move_to_error(const QueuePair &qp) noexcept
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_ERR;
	(void)ibv_modify_qp(qp.raw(), &attr, IBV_QP_STATE);
}

} // namespace prism::apps
