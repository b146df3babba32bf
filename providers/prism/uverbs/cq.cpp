/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Completion queues, plain and extended. The module writes entries; polling involves this process alone. */
#include <cerrno>
#include <cstring>

#include "command.hpp"
#include "objects.hpp"

namespace prism::uverbs
{

namespace
{

/* An entry begins as an ibv_wc does; the kernel's has a port number behind it. */
static_assert(sizeof(ib_uverbs_wc) >= sizeof(ibv_wc));
static_assert(offsetof(ib_uverbs_wc, status) == offsetof(ibv_wc, status));
static_assert(offsetof(ib_uverbs_wc, opcode) == offsetof(ibv_wc, opcode));
static_assert(offsetof(ib_uverbs_wc, vendor_err) == offsetof(ibv_wc, vendor_err));
static_assert(offsetof(ib_uverbs_wc, byte_len) == offsetof(ibv_wc, byte_len));
static_assert(offsetof(ib_uverbs_wc, ex) == offsetof(ibv_wc, imm_data));
static_assert(offsetof(ib_uverbs_wc, qp_num) == offsetof(ibv_wc, qp_num));
static_assert(offsetof(ib_uverbs_wc, src_qp) == offsetof(ibv_wc, src_qp));
static_assert(offsetof(ib_uverbs_wc, wc_flags) == offsetof(ibv_wc, wc_flags));
static_assert(offsetof(ib_uverbs_wc, slid) == offsetof(ibv_wc, slid));
static_assert(offsetof(ib_uverbs_wc, dlid_path_bits) == offsetof(ibv_wc, dlid_path_bits));

CompletionQueueObject &self(ibv_cq_ex *cq)
{
	return *to_object<CompletionQueueObject>(cq);
}

const ib_uverbs_wc &current(ibv_cq_ex *cq)
{
	return *self(cq).current;
}

const ib_uverbs_wc *entry(const CompletionQueueObject &cq, std::uint32_t index)
{
	return reinterpret_cast<const ib_uverbs_wc *>(cq.queue.entry(index));
}

/** Advances to the next entry. */
int fetch(CompletionQueueObject &cq)
{
	if (cq.next == cq.queue.their_producer())
		return ENOENT;
	cq.current = entry(cq, cq.next);
	cq.next = (cq.next + 1) & cq.queue.mask();
	cq.base.cq_ex.status = static_cast<ibv_wc_status>(cq.current->status);
	cq.base.cq_ex.wr_id = cq.current->wr_id;
	return 0;
}

int start_poll(ibv_cq_ex *base, ibv_poll_cq_attr *attr)
{
	CompletionQueueObject &cq = self(base);
	if (attr->comp_mask)
		return EINVAL;
	cq.lock.lock();
	cq.next = cq.queue.own_consumer();
	const int error = fetch(cq);
	if (error)
		cq.lock.unlock();
	return error;
}

int next_poll(ibv_cq_ex *cq)
{
	return fetch(self(cq));
}

void end_poll(ibv_cq_ex *base)
{
	CompletionQueueObject &cq = self(base);
	cq.queue.set_consumer(cq.next);
	cq.lock.unlock();
}

void set_readers(ibv_cq_ex &cq)
{
	cq.start_poll = start_poll;
	cq.next_poll = next_poll;
	cq.end_poll = end_poll;
	cq.read_opcode = [](ibv_cq_ex *q) { return static_cast<ibv_wc_opcode>(current(q).opcode); };
	cq.read_vendor_err = [](ibv_cq_ex *q) -> std::uint32_t { return current(q).vendor_err; };
	cq.read_byte_len = [](ibv_cq_ex *q) -> std::uint32_t { return current(q).byte_len; };
	cq.read_imm_data = [](ibv_cq_ex *q) -> __be32 { return current(q).ex.imm_data; };
	cq.read_qp_num = [](ibv_cq_ex *q) -> std::uint32_t { return current(q).qp_num; };
	cq.read_src_qp = [](ibv_cq_ex *q) -> std::uint32_t { return current(q).src_qp; };
	cq.read_wc_flags = [](ibv_cq_ex *q) -> unsigned { return current(q).wc_flags; };
	cq.read_slid = [](ibv_cq_ex *q) -> std::uint32_t { return current(q).slid; };
	cq.read_sl = [](ibv_cq_ex *q) -> std::uint8_t { return current(q).sl; };
	cq.read_dlid_path_bits = [](ibv_cq_ex *q) -> std::uint8_t { return current(q).dlid_path_bits; };
}

std::unique_ptr<CompletionQueueObject> make_cq(ibv_context *context, int cqe, ibv_comp_channel *channel, int vector)
{
	auto cq = std::make_unique<CompletionQueueObject>();
	Command<ib_uverbs_create_cq> cmd;
	Response<ib_uverbs_create_cq_resp, prism_abi_create_cq_resp> resp;
	int error = ibv_cmd_create_cq(context, cqe, channel, vector, &cq->base.cq, cmd, cmd.size, resp, resp.size);
	if (!error) {
		error = cq->queue.map(context->cmd_fd, resp.driver.queue, sizeof(ib_uverbs_wc));
		if (!error)
			return cq;
		ibv_cmd_destroy_cq(&cq->base.cq);
	}
	errno = error;
	return nullptr;
}

} // namespace

/* The entries between the indices are ours: move those that stay up, towards the producer. */
void CompletionQueueObject::purge(std::uint32_t qpn)
{
	std::lock_guard guard(lock);
	const std::uint32_t mask = queue.mask();
	const std::uint32_t begin = queue.own_consumer() & mask;
	std::uint32_t kept = queue.their_producer() & mask;
	for (std::uint32_t i = kept; i != begin;) {
		i = (i - 1) & mask;
		if (entry(*this, i)->qp_num == qpn)
			continue;
		kept = (kept - 1) & mask;
		if (kept != i)
			std::memcpy(queue.entry(kept), queue.entry(i), sizeof(ib_uverbs_wc));
	}
	queue.set_consumer(kept);
}

ibv_cq *create_cq(ibv_context *context, int cqe, ibv_comp_channel *channel, int vector)
{
	auto cq = make_cq(context, cqe, channel, vector);
	return cq ? &cq.release()->base.cq : nullptr;
}

ibv_cq_ex *create_cq_ex(ibv_context *context, ibv_cq_init_attr_ex *attr)
{
	constexpr std::uint32_t known_flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	const bool flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS;
	if ((attr->wc_flags & ~std::uint64_t{IBV_WC_STANDARD_FLAGS}) ||
		(attr->comp_mask & ~std::uint32_t{IBV_CQ_INIT_ATTR_MASK_FLAGS}) ||
		(flags && (attr->flags & ~known_flags)))
		return fail<ibv_cq_ex>(EOPNOTSUPP);
	auto cq = make_cq(context, static_cast<int>(attr->cqe), attr->channel, static_cast<int>(attr->comp_vector));
	if (!cq)
		return nullptr;
	set_readers(cq->base.cq_ex);
	return &cq.release()->base.cq_ex;
}

int poll_cq(ibv_cq *base, int count, ibv_wc *wc)
{
	auto &cq = *to_object<CompletionQueueObject>(base);
	std::lock_guard guard(cq.lock);
	const std::uint32_t producer = cq.queue.their_producer(), mask = cq.queue.mask();
	std::uint32_t consumer = cq.queue.own_consumer();
	int n = 0;
	for (; n < count && consumer != producer; n++, consumer = (consumer + 1) & mask)
		std::memcpy(static_cast<void *>(&wc[n]), cq.queue.entry(consumer), sizeof(*wc));
	if (n)
		cq.queue.set_consumer(consumer);
	return n;
}

int resize_cq(ibv_cq *base, int cqe)
{
	auto &cq = *to_object<CompletionQueueObject>(base);
	/* Hold the lock while the module moves the entries: it reads our index. */
	std::lock_guard guard(cq.lock);
	Command<ib_uverbs_resize_cq> cmd;
	Response<ib_uverbs_resize_cq_resp, prism_abi_resize_cq_resp> resp;
	if (const int error = ibv_cmd_resize_cq(base, cqe, cmd, cmd.size, resp, resp.size))
		return error;
	return cq.queue.map(base->context->cmd_fd, resp.driver.queue, sizeof(ib_uverbs_wc));
}

int destroy_cq(ibv_cq *cq)
{
	if (const int error = ibv_cmd_destroy_cq(cq))
		return error;
	std::unique_ptr<CompletionQueueObject> owned(to_object<CompletionQueueObject>(cq));
	return 0;
}

} // namespace prism::uverbs
