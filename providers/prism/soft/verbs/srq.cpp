/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared receive queues, and those created as free lists. */
#include <cerrno>
#include <mutex>

#include "objects.hpp"

namespace prism::soft
{

ibv_srq *create_shared_queue(ibv_context *context, ibv_srq_init_attr_ex *attr, bool free_list)
{
	constexpr std::uint32_t known = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	if ((attr->comp_mask & ~known) || !(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !known_in(context, attr->pd))
		return fail<ibv_srq>(EINVAL);
	if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) && attr->srq_type != IBV_SRQT_BASIC)
		return fail<ibv_srq>(EOPNOTSUPP);
	const std::uint32_t max_sge = free_list ? 1 : std::max(1u, attr->attr.max_sge);
	if (!attr->attr.max_wr || attr->attr.max_wr > limits::max_srq_wr || attr->attr.max_sge > limits::max_sge ||
		(free_list && attr->attr.max_sge != 1))
		return fail<ibv_srq>(EINVAL);
	Context &owner = to_context(context);
	auto &pd = *to_object<ProtectionDomain>(attr->pd);
	Place place = owner.quotas.srqs.take();
	if (!place)
		return fail<ibv_srq>(ENOMEM);
	std::unique_ptr<SrqObject> srq;
	{
		const AllLanes held(owner);
		srq = std::make_unique<SrqObject>(
			owner, pd, owner.first().engine().take_srqn(), attr->attr.max_wr, max_sge, free_list);
		srq->place = std::move(place);
		srq->queue.owner = srq.get();
		owner.first().engine().add_srq(srq->queue);
	}
	pd.users++;
	attr->attr.max_sge = max_sge;
	srq->base.srq_type = IBV_SRQT_BASIC;
	srq->base.srq_num = srq->queue.number;
	ibv_srq &base = srq->base.srq;
	base.context = context;
	base.srq_context = attr->srq_context;
	base.pd = attr->pd;
	base.handle = srq->queue.number;
	base.events_completed = 0;
	pthread_mutex_init(&base.mutex, nullptr);
	pthread_cond_init(&base.cond, nullptr);
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

int modify_srq(ibv_srq *srq, ibv_srq_attr *attr, int mask)
{
	if (!known_in(srq->context, srq))
		return EINVAL;
	auto &object = *to_object<SrqObject>(srq);
	if (mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT))
		return EINVAL;
	if (mask & IBV_SRQ_MAX_WR)
		return EOPNOTSUPP;
	if (!(mask & IBV_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > object.queue.queue.max_wr())
		return EINVAL;
	object.context.first().engine().set_limit(object.queue, attr->srq_limit);
	return 0;
}

int query_srq(ibv_srq *srq, ibv_srq_attr *attr)
{
	if (!known_in(srq->context, srq))
		return EINVAL;
	auto &object = *to_object<SrqObject>(srq);
	const std::lock_guard guard(object.queue.lock);
	attr->max_wr = object.queue.queue.max_wr();
	attr->max_sge = object.queue.queue.max_sge();
	attr->srq_limit = object.queue.limit;
	return 0;
}

int destroy_srq(ibv_srq *srq)
{
	if (!known_in(srq->context, srq))
		return EINVAL;
	auto &object = *to_object<SrqObject>(srq);
	if (object.users)
		return EBUSY;
	{
		const AllLanes held(object.context);
		object.context.first().engine().remove_srq(object.queue);
	}
	await_acknowledgement(object, *srq);
	object.pd.users--;
	std::unique_ptr<SrqObject> owned(&object);
	return 0;
}

int get_srq_num(ibv_srq *srq, std::uint32_t *number)
{
	*number = to_object<SrqObject>(srq)->queue.number;
	return 0;
}

int post_srq_recv(ibv_srq *srq, ibv_recv_wr *wr, ibv_recv_wr **bad)
{
	static_assert(sizeof(ibv_sge) == sizeof(Sge) && offsetof(ibv_sge, lkey) == offsetof(Sge, lkey));
	auto &object = *to_object<SrqObject>(srq);
	const std::lock_guard guard(object.queue.lock);
	for (; wr; wr = wr->next) {
		const auto count = static_cast<std::uint32_t>(wr->num_sge);
		const auto *sges = reinterpret_cast<const Sge *>(wr->sg_list);
		int error = 0;
		if (wr->num_sge < 0 || count > object.queue.queue.max_sge() || (object.queue.free_list && count != 1))
			error = EINVAL;
		else if (object.queue.free_list)
			error = object.context.first().engine().post_free_list(object.queue, wr->wr_id, sges[0]);
		else if (!object.queue.queue.post(wr->wr_id, {sges, count}))
			error = ENOMEM;
		if (error) {
			*bad = wr;
			return error;
		}
	}
	return 0;
}

} // namespace prism::soft
