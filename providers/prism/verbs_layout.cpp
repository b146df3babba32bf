/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "verbs_layout.hpp"

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

std::optional<std::size_t> comp_mask()
{
	static const std::optional<std::size_t> offset = [] {
		const std::optional<std::size_t> found = find_comp_mask(ibv_qp_to_qp_ex);
		if (!found)
			std::fputs("libprism: ibv_qp_to_qp_ex() of this libibverbs is not known: queue pairs with "
				   "builders (IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) are refused. Use rdma-core 44 to 65, "
				   "or ibv_post_send().\n",
				stderr);
		return found;
	}();
	return offset;
}

} // namespace

std::optional<std::size_t> find_comp_mask(ibv_qp_ex *(*to_qp_ex)(ibv_qp *))
{
	/* Behind the builders, of which releases have more or fewer than the headers of this build; a pointer follows
	 * it. */
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
	return comp_mask().has_value();
}

void mark_extended(verbs_qp &qp)
{
	set_mark(qp, *comp_mask());
}

} // namespace prism
