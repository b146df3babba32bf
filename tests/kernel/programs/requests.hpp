/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Work requests for programs that need only a few. */
#pragma once

#include <cstring>

#include "device.hpp"

namespace prism::conformance
{

/** Returns a signalled request without a modifier. @p opcode: of enum ibv_wr_opcode or prismdv_wr_opcode. */
inline prismdv_send_wr work_request(unsigned opcode, ibv_sge *sge, std::uint64_t va = 0, std::uint32_t rkey = 0)
{
	prismdv_send_wr wr{};
	static_assert(sizeof(wr.wr.opcode) == sizeof(opcode));
	std::memcpy(&wr.wr.opcode, &opcode, sizeof(opcode)); /* possibly not a value of its enumeration */
	wr.wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.sg_list = sge;
	wr.wr.num_sge = sge ? 1 : 0;
	wr.wr.wr.rdma = {va, rkey};
	return wr;
}

inline int post(ibv_qp *qp, prismdv_send_wr &wr)
{
	ibv_send_wr *bad;
	return ibv_post_send(qp, &wr.wr, &bad);
}

} // namespace prism::conformance
