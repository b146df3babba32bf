/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Receive queues, shared ones, and those created as free lists. */
#include <cerrno>
#include <limits>

#include "command.hpp"
#include "objects.hpp"
#include "responses.hpp"

namespace prism::uverbs
{

int ReceiveRing::map(int cmd_fd, const prism_abi_mmap &where)
{
	return queue.map(cmd_fd, where, sizeof(prism_abi_recv) + std::size_t{max_sge} * sizeof(prism_abi_sge));
}

int ReceiveRing::post(const ibv_recv_wr &wr, bool exact)
{
	if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > max_sge ||
		(exact && static_cast<std::uint32_t>(wr.num_sge) != max_sge))
		return EINVAL;
	const std::uint32_t producer = queue.own_producer();
	if (!queue.room(producer))
		return ENOMEM;
	auto *entry = reinterpret_cast<prism_abi_recv *>(queue.entry(producer));
	const auto count = static_cast<std::uint32_t>(wr.num_sge);
	std::uint64_t length = 0;
	for (std::uint32_t i = 0; i < count; i++) {
		const ibv_sge &sge = wr.sg_list[i];
		entry->sge[i] = {sge.addr, sge.length, sge.lkey};
		length += sge.length;
	}
	if (length > std::numeric_limits<std::uint32_t>::max())
		return EINVAL;
	entry->wr_id = wr.wr_id;
	entry->reserved_1 = entry->reserved_2 = entry->reserved_3 = 0;
	entry->length = entry->resid = static_cast<std::uint32_t>(length);
	entry->cur_sge = entry->sge_offset = 0;
	entry->num_sge = count;
	queue.set_producer(producer + 1);
	posted++;
	return 0;
}

namespace
{

/** Maps the queue, and the module's reports for the owner of a free list. Returns 0 or an errno. */
int map_queues(SrqObject &srq, int cmd_fd, const prism_abi_create_srq_resp &resp)
{
	if (!understood(resp))
		return EPROTO;
	if (const int error = srq.ring.map(cmd_fd, resp.queue))
		return error;
	if (!srq.free_list)
		return 0;
	if (const int error = srq.reports.map(cmd_fd, resp.free_list, false))
		return error;
	const auto *list = reinterpret_cast<const prism_abi_free_list *>(srq.reports.data());
	const bool fits =
		srq.reports.size() >= sizeof(*list) &&
		(std::uint64_t{list->report_mask} + 1) * sizeof(prism_abi_report) <= srq.reports.size() - sizeof(*list);
	return fits ? 0 : EPROTO;
}

int check_init_attr(const ibv_srq_init_attr_ex &attr, bool free_list)
{
	constexpr std::uint32_t known = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	if ((attr.comp_mask & ~known) || !(attr.comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr.pd)
		return EINVAL;
	if ((attr.comp_mask & IBV_SRQ_INIT_ATTR_TYPE) && attr.srq_type != IBV_SRQT_BASIC)
		return EOPNOTSUPP;
	return !attr.attr.max_wr || (free_list && attr.attr.max_sge != 1) ? EINVAL : 0;
}

} // namespace

ibv_srq *create_shared_queue(ibv_context *context, ibv_srq_init_attr_ex *attr, bool free_list)
{
	if (const int error = check_init_attr(*attr, free_list))
		return fail<ibv_srq>(error);
	auto srq = std::make_unique<SrqObject>();
	ibv_srq &base = srq->base.srq;
	base.srq_context = attr->srq_context;
	base.pd = attr->pd;
	ibv_srq_init_attr wanted{attr->srq_context, attr->attr};
	Command<ib_uverbs_create_srq, prism_abi_create_srq> cmd;
	Response<ib_uverbs_create_srq_resp, prism_abi_create_srq_resp> resp;
	cmd.driver.flags = free_list ? PRISM_ABI_SRQ_FREE_LIST : 0;
	if (const int error = ibv_cmd_create_srq(attr->pd, &base, &wanted, cmd, cmd.size, resp, resp.size))
		return fail<ibv_srq>(error);
	srq->base.srq_type = IBV_SRQT_BASIC;
	srq->base.srq_num = resp.driver.srq_num;
	srq->free_list = free_list;
	srq->ring.max_sge = free_list ? 1 : wanted.attr.max_sge;
	if (const int error = map_queues(*srq, context->cmd_fd, resp.driver)) {
		ibv_cmd_destroy_srq(&base);
		return fail<ibv_srq>(error);
	}
	attr->attr = wanted.attr;
	return &srq.release()->base.srq;
}

ibv_srq *create_srq(ibv_pd *pd, ibv_srq_init_attr *attr)
{
	return create_plain_srq(pd, attr, create_srq_ex);
}

ibv_srq *create_srq_ex(ibv_context *context, ibv_srq_init_attr_ex *attr)
{
	return create_shared_queue(context, attr, false);
}

int modify_srq(ibv_srq *base, ibv_srq_attr *attr, int mask)
{
	auto &srq = *to_object<SrqObject>(base);
	/* Hold the lock while the module moves the entries to a queue of another size. */
	std::unique_lock lock(srq.ring.lock, std::defer_lock);
	if (mask & IBV_SRQ_MAX_WR)
		lock.lock();
	prism_abi_mmap where{};
	Command<ib_uverbs_modify_srq, prism_abi_modify_srq> cmd;
	cmd.driver.mmap_info_addr = reinterpret_cast<std::uintptr_t>(&where);
	if (const int error = ibv_cmd_modify_srq(base, attr, mask, cmd, cmd.size))
		return error;
	return mask & IBV_SRQ_MAX_WR ? srq.ring.map(base->context->cmd_fd, where) : 0;
}

int query_srq(ibv_srq *srq, ibv_srq_attr *attr)
{
	Command<ib_uverbs_query_srq> cmd;
	return ibv_cmd_query_srq(srq, attr, cmd, cmd.size);
}

int destroy_srq(ibv_srq *srq)
{
	if (const int error = ibv_cmd_destroy_srq(srq))
		return error;
	std::unique_ptr<SrqObject> owned(to_object<SrqObject>(srq));
	return 0;
}

int get_srq_num(ibv_srq *srq, std::uint32_t *number)
{
	*number = to_object<SrqObject>(srq)->base.srq_num;
	return 0;
}

int post_srq_recv(ibv_srq *base, ibv_recv_wr *wr, ibv_recv_wr **bad)
{
	auto &srq = *to_object<SrqObject>(base);
	std::lock_guard guard(srq.ring.lock);
	for (; wr; wr = wr->next) {
		if (const int error = srq.ring.post(*wr, srq.free_list)) {
			*bad = wr;
			return error;
		}
	}
	return 0;
}

} // namespace prism::uverbs
