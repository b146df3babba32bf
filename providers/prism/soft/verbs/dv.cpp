/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* <infiniband/prismdv.h> for the userspace device. */
#include <cerrno>
#include <mutex>

#include "../../verbs/direct_verbs.hpp"
#include "device.hpp"
#include "objects.hpp"

namespace prism::soft
{

namespace
{

class SoftVerbs final : public DirectVerbs
{
public:
	bool owns(const ibv_device *device) const override { return is_soft(device); }

	ibv_context *open(ibv_device *device, const prismdv_context_attr &attr) const override
	{
		return open_context(device, attr);
	}

	int progress(ibv_context *context) const override
	{
		to_context(context).for_each_lane([](Lane &lane) { lane.poll(); });
		return 0;
	}

	void query_device(ibv_context *context, prismdv_device_attr &attr) const override
	{
		attr.protocol_version = to_context(context).first().engine().protocol_version;
		attr.flags = PRISMDV_DEVICE_USERSPACE;
		attr.features |= PRISMDV_FEATURE_RESUME;
		attr.max_indirect_read = max_indirect_read;
		attr.max_cas_size = PRISM_MAX_CAS;
		attr.max_outstanding = max_outstanding;
		attr.max_free_list_tries = max_free_list_tries;
	}

	int query_gid(ibv_context *context, std::uint8_t port, int index, ibv_gid *gid) const override
	{
		if (port != 1)
			return EINVAL;
		const auto entry = static_cast<std::uint32_t>(index);
		return index >= 0 && soft::query_gid(context, port, entry, *gid) ? 0 : ENODATA;
	}

	ibv_comp_channel *create_comp_channel(ibv_context *context) const override
	{
		return to_context(context).create_channel(context);
	}

	std::vector<prismdv_counter> counters(ibv_context *base) const override
	{
		std::vector<prismdv_counter> all;
		to_context(base).for_each_lane([&all](Lane &lane) {
			auto next = all.begin(); /* of those of earlier lanes */
			const auto add = [&](const char *name, std::uint64_t value) {
				if (next == all.end())
					next = all.insert(next, make_counter(name, 0));
				next++->value += value;
			};
			const UdpCounters carrier = lane.udp().counters();
#define X(name) add(#name, carrier.name);
			PRISM_PORT_COUNTERS(X)
			X(rx_socket_drops)
#undef X
			const LocalCounters &local = lane.local_counters();
#define X(name) add(#name, local.name);
			PRISM_LOCAL_COUNTERS(X)
#undef X
			std::lock_guard guard(lane.lock);
			const ProtocolCounters &protocol = lane.engine().counters;
#define X(name) add(#name, protocol.name);
			PRISM_PROTOCOL_COUNTERS(X)
#undef X
		});
		return all;
	}

	ibv_qp *create_qp(ibv_context *context, ibv_qp_init_attr_ex *attr) const override
	{
		return create_queue_pair(context, attr, true);
	}

	bool speaks_prism(ibv_qp *qp) const override
	{
		return to_object<QpObject>(qp)->qp->prism;
	}

	void set_peer_features(ibv_qp *qp, std::uint64_t features) const override
	{
		auto &object = *to_object<QpObject>(qp);
		std::lock_guard guard(object.lane.lock);
		object.qp->peer_features = features;
	}

	prismdv_qp_ex *builders(ibv_qp_ex *qp) const override
	{
		auto &object = *to_object<QpObject>(qp);
		return object.qp->prism && object.has_send_ops ? &object.dv.base : nullptr;
	}

	ibv_srq *create_srq(ibv_context *context, ibv_srq_init_attr_ex *attr, bool free_list) const override
	{
		return create_shared_queue(context, attr, free_list);
	}

	bool is_free_list(ibv_srq *srq) const override
	{
		return to_object<SrqObject>(srq)->queue.free_list;
	}

	void query_free_list(ibv_srq *srq, prismdv_free_list_attr &attr) const override
	{
		auto &object = *to_object<SrqObject>(srq);
		SharedReceiveQueue &list = object.queue;
		Lane &lane = object.context.first();
		{
			const std::lock_guard guard(lane.lock);
			attr.allocatable = lane.engine().allocatable(list);
		}
		const std::lock_guard guard(list.lock);
		attr.posted = list.posted;
		attr.popped = list.popped;
		attr.rejected = list.rejected;
		attr.reclaimed = list.reclaimed;
		attr.available = list.queue.size() + static_cast<std::uint32_t>(list.returned.size());
	}

	std::size_t poll_rejected(ibv_srq *srq, prismdv_rejected_entry *entries, std::size_t max) const override
	{
		auto &object = *to_object<SrqObject>(srq);
		const std::lock_guard guard(object.queue.lock);
		auto &reports = object.queue.reports;
		std::size_t n = 0;
		for (; n < max && !reports.empty(); n++, reports.pop_front()) {
			const auto &report = reports.front();
			entries[n] = {report.wr_id, report.entry.addr, report.entry.length, report.entry.lkey,
				static_cast<std::uint32_t>(report.error), 0};
		}
		return n;
	}
};

} // namespace

const DirectVerbs &direct_verbs()
{
	static const SoftVerbs verbs;
	return verbs;
}

} // namespace prism::soft
