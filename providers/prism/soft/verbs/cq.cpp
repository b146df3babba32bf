/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Completion queues, plain and extended. */
#include <cerrno>
#include <mutex>

#include "objects.hpp"

namespace prism::soft
{

namespace
{

constexpr int max_cqe = limits::max_cqe;
constexpr std::uint64_t supported_wc_flags = IBV_WC_STANDARD_FLAGS;
constexpr std::uint32_t supported_flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;

CompletionQueueObject &self(ibv_cq_ex *cq)
{
	return *to_object<CompletionQueueObject>(cq);
}

int fetch(CompletionQueueObject &cq)
{
	if (cq.queue.poll(1, &cq.current) == 0) {
		cq.drive();
		if (cq.queue.poll(1, &cq.current) == 0)
			return ENOENT;
	}
	cq.base.cq_ex.status = cq.current.status;
	cq.base.cq_ex.wr_id = cq.current.wr_id;
	return 0;
}

/** Begins to poll. Until end_poll() other threads wait, unless the program promised that there are none. */
int start_poll(ibv_cq_ex *cq, ibv_poll_cq_attr *attr)
{
	if (attr->comp_mask)
		return EINVAL;
	CompletionQueueObject &object = self(cq);
	/* Poll before taking the spin lock: this may take a system call or two. */
	if (object.queue.empty())
		object.drive();
	if (object.queue.empty())
		return ENOENT;
	std::unique_lock poller(object.poller, std::defer_lock);
	if (!object.single_threaded)
		poller.lock();
	const int error = fetch(object);
	if (!error)
		static_cast<void>(poller.release());
	return error;
}

int next_poll(ibv_cq_ex *cq)
{
	return fetch(self(cq));
}

void end_poll(ibv_cq_ex *cq)
{
	CompletionQueueObject &object = self(cq);
	if (!object.single_threaded)
		object.poller.unlock();
}

void set_readers(ibv_cq_ex &cq)
{
	cq.start_poll = start_poll;
	cq.next_poll = next_poll;
	cq.end_poll = end_poll;
	cq.read_opcode = [](ibv_cq_ex *q) { return self(q).current.opcode; };
	cq.read_vendor_err = [](ibv_cq_ex *q) { return self(q).current.vendor_err; };
	cq.read_byte_len = [](ibv_cq_ex *q) { return self(q).current.byte_len; };
	cq.read_imm_data = [](ibv_cq_ex *q) { return self(q).current.imm_data; };
	cq.read_qp_num = [](ibv_cq_ex *q) { return self(q).current.qp_num; };
	cq.read_src_qp = [](ibv_cq_ex *q) { return self(q).current.src_qp; };
	cq.read_wc_flags = [](ibv_cq_ex *q) { return static_cast<unsigned>(self(q).current.wc_flags); };
	cq.read_slid = [](ibv_cq_ex *q) -> std::uint32_t { return self(q).current.slid; };
	cq.read_sl = [](ibv_cq_ex *q) { return self(q).current.sl; };
	cq.read_dlid_path_bits = [](ibv_cq_ex *q) { return self(q).current.dlid_path_bits; };
}

std::unique_ptr<CompletionQueueObject> make_cq(ibv_context *context, int cqe, ibv_comp_channel *channel)
{
	if (cqe < 1 || cqe > max_cqe || (channel && channel->context != context)) {
		errno = EINVAL;
		return nullptr;
	}
	Place place = to_context(context).quotas.cqs.take();
	if (!place) {
		errno = ENOMEM;
		return nullptr;
	}
	auto cq = std::make_unique<CompletionQueueObject>(to_context(context), static_cast<std::uint32_t>(cqe));
	cq->place = std::move(place);
	cq->queue.owner = cq.get();
	cq->base.cq.context = context;
	cq->base.cq.handle = cq->handle;
	cq->base.cq.channel = channel;
	cq->base.cq.cqe = cqe;
	return cq;
}

} // namespace

void CompletionQueueObject::notify()
{
	auto *channel = to_object<CompletionChannel>(base.cq.channel);
	if (!channel)
		return;
	const std::uint64_t record = reinterpret_cast<std::uintptr_t>(&base.cq);
	events++;
	if (!channel->socket->post(&record, sizeof(record)))
		events--;
}

ibv_cq *create_cq(ibv_context *context, int cqe, ibv_comp_channel *channel, int vector)
{
	if (vector != 0)
		return fail<ibv_cq>(EINVAL);
	auto cq = make_cq(context, cqe, channel);
	return cq ? &cq.release()->base.cq : nullptr;
}

ibv_cq_ex *create_cq_ex(ibv_context *context, ibv_cq_init_attr_ex *attr)
{
	const std::uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
	if ((attr->wc_flags & ~supported_wc_flags) || (flags & ~supported_flags) ||
		(attr->comp_mask & ~std::uint32_t{IBV_CQ_INIT_ATTR_MASK_FLAGS}))
		return fail<ibv_cq_ex>(EOPNOTSUPP);
	if (attr->comp_vector != 0)
		return fail<ibv_cq_ex>(EINVAL);
	auto cq = make_cq(context, static_cast<int>(attr->cqe), attr->channel);
	if (!cq)
		return nullptr;
	cq->single_threaded = flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	set_readers(cq->base.cq_ex);
	return &cq.release()->base.cq_ex;
}

int poll_cq(ibv_cq *cq, int count, ibv_wc *wc)
{
	auto &object = *to_object<CompletionQueueObject>(cq);
	const int n = object.queue.poll(count, wc);
	if (n || count <= 0)
		return n;
	object.drive();
	return object.queue.poll(count, wc);
}

int req_notify_cq(ibv_cq *cq, int solicited_only)
{
	if (!known_in(cq->context, cq))
		return EINVAL;
	auto &object = *to_object<CompletionQueueObject>(cq);
	object.queue.arm(solicited_only);
	object.context.hand_over(object.lanes);
	return 0;
}

void cq_event(ibv_cq *cq)
{
	to_object<CompletionChannel>(cq->channel)->socket->refill();
}

int resize_cq(ibv_cq *cq, int cqe)
{
	if (!known_in(cq->context, cq) || cqe < 1 || cqe > max_cqe)
		return EINVAL;
	if (!to_object<CompletionQueueObject>(cq)->queue.resize(static_cast<std::uint32_t>(cqe)))
		return EINVAL;
	cq->cqe = cqe;
	return 0;
}

int destroy_cq(ibv_cq *cq)
{
	if (!known_in(cq->context, cq))
		return EINVAL;
	auto &object = *to_object<CompletionQueueObject>(cq);
	if (object.users)
		return EBUSY;
	const auto element = reinterpret_cast<std::uintptr_t>(cq);
	auto *channel = to_object<CompletionChannel>(cq->channel);
	if (channel)
		object.events -= channel->socket->forget(channel->base.fd, element);
	object.async_events -= object.context.forget_async(cq->context->async_fd, element);
	/* Events that were read must be acknowledged (ibv_destroy_cq(3)). */
	pthread_mutex_lock(&cq->mutex);
	while (cq->comp_events_completed != object.events || cq->async_events_completed != object.async_events)
		pthread_cond_wait(&cq->cond, &cq->mutex);
	pthread_mutex_unlock(&cq->mutex);
	std::unique_ptr<CompletionQueueObject> owned(&object);
	return 0;
}

} // namespace prism::soft
