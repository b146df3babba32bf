/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* <infiniband/prismdv.h> for the kernel's device. */
#include <algorithm>
#include <atomic>
#include <mutex>

#include "../verbs/direct_verbs.hpp"
#include "device.hpp"
#include "objects.hpp"

namespace prism::uverbs
{

namespace
{

/** Loads a value that the module may write at any time. */
template <typename T>
T shared(const T &value)
{
	return std::atomic_ref(const_cast<T &>(value)).load(std::memory_order_acquire);
}

const prism_abi_free_list &reports_of(const SrqObject &srq)
{
	return *reinterpret_cast<const prism_abi_free_list *>(srq.reports.data());
}

prismdv_rejected_entry to_entry(const prism_abi_report &report)
{
	return {report.wr_id, report.addr, report.length, report.lkey, report.error, 0};
}

/** Orders reading the module's data before reading its progress. The thread sanitizer does not know the module. */
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif
void before_what_follows()
{
	std::atomic_thread_fence(std::memory_order_acquire);
}
#pragma GCC diagnostic pop

bool can_resume(const prism_abi_alloc_ucontext_resp &device)
{
	return device.features & PRISM_ABI_FEATURE_RESUME;
}

class KernelVerbs final : public DirectVerbs
{
public:
	bool owns(const ibv_device *device) const override { return is_uverbs(device); }

	/** The kernel drives the device, so there is no choice to make about progress. */
	ibv_context *open(ibv_device *device, const prismdv_context_attr &) const override
	{
		return ibv_open_device(device);
	}

	/** The kernel makes progress by itself. */
	int progress(ibv_context *) const override { return 0; }

	void query_device(ibv_context *context, prismdv_device_attr &attr) const override
	{
		const prism_abi_alloc_ucontext_resp &device = device_of(context);
		if (can_resume(device))
			attr.features |= PRISMDV_FEATURE_RESUME;
		attr.protocol_version = device.protocol_version;
		attr.max_indirect_read = device.max_indirect_read;
		attr.max_cas_size = PRISM_MAX_CAS;
		attr.max_outstanding = device.max_outstanding;
		attr.max_free_list_tries = device.max_free_list_tries;
	}

	int query_gid(ibv_context *context, std::uint8_t port, int index, ibv_gid *gid) const override
	{
		ibv_gid_entry entry;
		if (index < 0)
			return EINVAL;
		const int error = ibv_query_gid_ex(context, port, static_cast<std::uint32_t>(index), &entry, 0);
		if (!error)
			*gid = entry.gid;
		return error;
	}

	ibv_comp_channel *create_comp_channel(ibv_context *context) const override
	{
		return ibv_create_comp_channel(context);
	}

	std::vector<prismdv_counter> counters(ibv_context *context) const override
	{
		return to_handle<ContextHandle>(context).counters->read();
	}

	ibv_qp *create_qp(ibv_context *context, ibv_qp_init_attr_ex *attr) const override
	{
		return create_queue_pair(context, attr, true);
	}

	bool speaks_prism(ibv_qp *qp) const override { return to_object<QpObject>(qp)->prism; }

	void set_peer_features(ibv_qp *qp, std::uint64_t features) const override
	{
		auto &object = *to_object<QpObject>(qp);
		std::lock_guard guard(object.send_lock);
		object.peer_features = features;
		object.sends.resumes = (features & PRISMDV_FEATURE_RESUME) && can_resume(device_of(qp->context));
		object.sends.bundles = features & peer_bundles;
	}

	prismdv_qp_ex *builders(ibv_qp_ex *qp) const override
	{
		auto &object = *to_object<QpObject>(qp);
		return object.prism && object.has_send_ops ? &object.dv.base : nullptr;
	}

	ibv_srq *create_srq(ibv_context *context, ibv_srq_init_attr_ex *attr, bool free_list) const override
	{
		return create_shared_queue(context, attr, free_list);
	}

	bool is_free_list(ibv_srq *srq) const override { return to_object<SrqObject>(srq)->free_list; }

	/** Reads each value as it was a moment ago; the module does not stop for the reader. */
	void query_free_list(ibv_srq *base, prismdv_free_list_attr &attr) const override
	{
		auto &srq = *to_object<SrqObject>(base);
		const prism_abi_free_list &list = reports_of(srq);
		std::lock_guard guard(srq.ring.lock);
		const SharedQueue &queue = srq.ring.queue;
		attr.posted = srq.ring.posted;
		attr.popped = shared(list.popped);
		attr.rejected = shared(list.rejected);
		attr.reclaimed = shared(list.reclaimed);
		attr.available =
			((queue.own_producer() - queue.their_consumer()) & queue.mask()) + shared(list.returned);
		attr.allocatable = shared(list.allocatable);
	}

	std::size_t poll_rejected(ibv_srq *base, prismdv_rejected_entry *entries, std::size_t max) const override
	{
		auto &srq = *to_object<SrqObject>(base);
		const prism_abi_free_list &list = reports_of(srq);
		std::lock_guard guard(srq.ring.lock);
		const std::uint32_t size = list.report_mask + 1;
		std::size_t n = 0;
		while (n < max) {
			const std::uint32_t at = srq.next_report, end = shared(list.report_producer);
			if (at == end)
				break;
			if (end - at > size) {
				srq.next_report = end - size;
				continue;
			}
			entries[n] = to_entry(list.reports[at & list.report_mask]);
			before_what_follows();
			/* The module overtook us while we read: start again behind the lost entries. */
			if (shared(list.report_producer) - at > size)
				continue;
			srq.next_report++;
			n++;
		}
		return n;
	}
};

} // namespace

const DirectVerbs &direct_verbs()
{
	static const KernelVerbs verbs;
	return verbs;
}

} // namespace prism::uverbs
