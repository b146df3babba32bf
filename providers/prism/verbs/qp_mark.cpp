/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "qp_mark.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace prism
{

namespace
{

void set_mark(verbs_qp &qp, std::size_t offset)
{
	const std::uint32_t mark = VERBS_QP_EX;
	std::memcpy(reinterpret_cast<std::byte *>(&qp) + offset, &mark, sizeof(mark));
}

constexpr std::size_t not_asked = 0, not_known = 1; /* no offsets */

/** Takes no lock: if the parent forked now, a child would find the lock held for ever. All threads find the same
 * offset. */
std::size_t comp_mask()
{
	static constinit std::atomic<std::size_t> offset = not_asked;
	if (offset == not_asked) {
		const std::size_t found = find_comp_mask(ibv_qp_to_qp_ex).value_or(not_known);
		if (offset.exchange(found) == not_asked && found == not_known)
			std::fputs("libprism: ibv_qp_to_qp_ex() of this libibverbs is not known: queue pairs with "
				   "builders (IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) are refused. Use rdma-core 44 to 65, "
				   "or ibv_post_send().\n",
				stderr);
	}
	return offset;
}

} // namespace

std::optional<std::size_t> find_comp_mask(ibv_qp_ex *(*to_qp_ex)(ibv_qp *))
{
	/* The mask stands behind the builders, whose number depends on the release, and is followed by a pointer. */
	constexpr std::size_t word = sizeof(void *);
	for (std::size_t offset = offsetof(ibv_qp_ex, wr_start); offset + 2 * word <= sizeof(verbs_qp);
		offset += word) {
		verbs_qp probe{};
		if (to_qp_ex(&probe.qp))
			return std::nullopt;
		set_mark(probe, offset);
		if (to_qp_ex(&probe.qp) == &probe.qp_ex)
			return offset;
	}
	return std::nullopt;
}

bool can_mark_extended()
{
	return comp_mask() != not_known;
}

void mark_extended(verbs_qp &qp)
{
	set_mark(qp, comp_mask());
}

} // namespace prism
