/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* <infiniband/prismdv.h> for the userspace device, and what its launcher needs (launcher/soft_device.h). */
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sstream>

#include "launcher/real_verbs.hpp"
#include "launcher/soft_device.h"
#include "prismdv.h"
#include "soft/verbs/device.hpp"
#include "soft/verbs/objects.hpp"

using namespace prism;
using namespace prism::soft;

namespace
{

constexpr std::uint64_t all_features = PRISMDV_FEATURE_INDIRECT | PRISMDV_FEATURE_BOUNDED |
				       PRISMDV_FEATURE_DATA_INDIRECT | PRISMDV_FEATURE_CONDITIONAL |
				       PRISMDV_FEATURE_REDIRECT | PRISMDV_FEATURE_CAS | PRISMDV_FEATURE_ALLOCATE;

bool is_ours(const ibv_context *context)
{
	return is_soft(context->device);
}

/** PRISM_DEVICES names the interfaces that get a device; by default all do. */
bool wanted(const std::string &interface)
{
	const char *list = std::getenv("PRISM_DEVICES");
	if (!list)
		return true;
	std::istringstream names(list);
	for (std::string name; std::getline(names, name, ',');)
		if (name == interface)
			return true;
	return false;
}

std::vector<ibv_device *> soft_devices()
{
	std::vector<ibv_device *> devices;
	for (const InterfaceInfo &interface : list_interfaces())
		if (wanted(interface.name))
			devices.push_back(make_device(interface));
	return devices;
}

} // namespace

/* Devices ------------------------------------------------------------------------------------------------------- */

ibv_device **prismdv_get_device_list(int *num_devices)
{
	int kernel_devices = 0;
	ibv_device **real = real_verbs::get_device_list(&kernel_devices);
	if (!real)
		kernel_devices = 0; /* a host without RDMA, where libibverbs reports ENOSYS */
	const std::vector<ibv_device *> soft = soft_devices();
	const std::size_t count = static_cast<std::size_t>(kernel_devices) + soft.size();
	/* The list takes over the references that libibverbs gave with its own, so that one goes back to malloc. */
	auto **list = static_cast<ibv_device **>(std::realloc(real, (count + 1) * sizeof(ibv_device *)));
	if (!list) {
		for (ibv_device *device : soft)
			verbs_get_device(device)->ops->uninit_device(verbs_get_device(device));
		if (real)
			real_verbs::free_device_list(real);
		errno = ENOMEM;
		return nullptr;
	}
	std::copy(soft.begin(), soft.end(), list + kernel_devices);
	list[count] = nullptr;
	if (num_devices)
		*num_devices = static_cast<int>(count);
	return list;
}

void prismdv_free_device_list(ibv_device **list)
{
	real_verbs::free_device_list(list);
}

bool prismdv_is_supported(ibv_device *device)
{
	return is_soft(device);
}

ibv_context *prismdv_open_device(ibv_device *device, const prismdv_context_attr *attr)
{
	if (attr && (attr->comp_mask || attr->reserved || attr->progress > PRISMDV_PROGRESS_THREAD)) {
		errno = EINVAL;
		return nullptr;
	}
	if (!is_soft(device)) {
		errno = EOPNOTSUPP;
		return nullptr;
	}
	prismdv_context_attr copy = attr ? *attr : prismdv_context_attr{};
	return verbs_open_device(device, &copy);
}

int prismdv_progress(ibv_context *context)
{
	if (!is_ours(context))
		return EOPNOTSUPP;
	to_context(context).poll();
	return 0;
}

int prismdv_query_device(ibv_context *context, prismdv_device_attr *attr)
{
	if (!is_ours(context))
		return EOPNOTSUPP;
	*attr = {};
	attr->features = all_features;
	attr->protocol_version = PRISM_PROTOCOL_VERSION;
	attr->flags = PRISMDV_DEVICE_USERSPACE;
	attr->max_indirect_read = max_indirect_read;
	attr->max_cas_size = PRISM_MAX_CAS;
	attr->max_outstanding = max_outstanding;
	attr->max_free_list_tries = max_free_list_tries;
	return 0;
}

int prismdv_query_gid(ibv_context *context, std::uint8_t port, int index, ibv_gid *gid)
{
	if (!is_ours(context))
		return ibv_query_gid(context, port, index, gid) ? EINVAL : 0;
	if (port != 1)
		return EINVAL;
	return index >= 0 && query_gid(context, port, static_cast<std::uint32_t>(index), *gid) ? 0 : ENODATA;
}

ibv_comp_channel *prismdv_create_comp_channel(ibv_context *context)
{
	if (!is_ours(context))
		return ibv_create_comp_channel(context);
	return to_context(context).create_channel(context);
}

/* Counters ------------------------------------------------------------------------------------------------------ */

namespace
{

#define PRISM_CARRIER_COUNTERS(X)                                                                                      \
	X(rx_packets)                                                                                                  \
	X(rx_trains)                                                                                                   \
	X(rx_bytes)                                                                                                    \
	X(rx_too_short)                                                                                                \
	X(rx_too_long)                                                                                                 \
	X(rx_bad_icrc)                                                                                                 \
	X(rx_icrc_id_unknown)                                                                                          \
	X(rx_misdirected_forwarded)                                                                                    \
	X(rx_misdirected_dropped)                                                                                      \
	X(rx_forwarded_to_us)                                                                                          \
	X(rx_socket_drops)                                                                                             \
	X(tx_packets)                                                                                                  \
	X(tx_trains)                                                                                                   \
	X(tx_bytes)                                                                                                    \
	X(tx_errors)                                                                                                   \
	X(tx_too_big)                                                                                                  \
	X(tx_no_route)                                                                                                 \
	X(tx_segment_fallbacks)

std::vector<prismdv_counter> read_counters(Context &context)
{
	std::vector<prismdv_counter> all;
	const auto add = [&all](const char *name, std::uint64_t value) {
		prismdv_counter counter{};
		std::strncpy(counter.name, name, sizeof(counter.name) - 1);
		counter.value = value;
		all.push_back(counter);
	};
	const UdpCounters carrier = context.carrier_counters();
#define X(name) add(#name, carrier.name);
	PRISM_CARRIER_COUNTERS(X)
#undef X
	std::lock_guard guard(context.lock);
	const ProtocolCounters &protocol = context.engine().counters;
#define X(name) add(#name, protocol.name);
	PRISM_PROTOCOL_COUNTERS(X)
#undef X
	return all;
}

} // namespace

ssize_t prismdv_query_counters(ibv_context *context, prismdv_counter *counters, std::size_t max)
{
	if (!is_ours(context))
		return -EOPNOTSUPP;
	const std::vector<prismdv_counter> all = read_counters(to_context(context));
	std::copy_n(all.begin(), std::min(max, all.size()), counters);
	return static_cast<ssize_t>(all.size());
}

/* Capability ---------------------------------------------------------------------------------------------------- */

namespace
{

constexpr std::uint8_t capability_magic[4] = {'P', 'R', 'S', 'M'};

} // namespace

int prismdv_query_capability(ibv_context *context, prismdv_capability *capability)
{
	if (!is_ours(context))
		return EOPNOTSUPP;
	*capability = {};
	std::copy(std::begin(capability_magic), std::end(capability_magic), capability->bytes);
	capability->bytes[4] = capability->bytes[5] = PRISM_PROTOCOL_VERSION;
	put_unaligned_be64(all_features, capability->bytes + 8);
	return 0;
}

int prismdv_set_peer_capability(ibv_qp *qp, const prismdv_capability *capability)
{
	if (!is_ours(qp->context))
		return EOPNOTSUPP;
	auto &object = *to_object<QpObject>(qp);
	if (!object.qp->prism)
		return EOPNOTSUPP;
	const std::uint8_t low = capability->bytes[4], high = capability->bytes[5];
	if (!std::equal(std::begin(capability_magic), std::end(capability_magic), capability->bytes) || low > high)
		return EINVAL;
	if (low > PRISM_PROTOCOL_VERSION || high < PRISM_PROTOCOL_VERSION)
		return EPROTONOSUPPORT;
	std::lock_guard guard(object.context.lock);
	object.qp->peer_features = (get_unaligned_be64(capability->bytes + 8) & all_features) | peer_declared;
	return 0;
}

/* Queue pairs and free lists ------------------------------------------------------------------------------------ */

ibv_qp *prismdv_create_qp(ibv_context *context, ibv_qp_init_attr_ex *attr, const prismdv_qp_init_attr *prism_attr)
{
	const auto reserved = [](std::uint64_t value) { return value != 0; };
	if (!is_ours(context)) {
		errno = EOPNOTSUPP;
		return nullptr;
	}
	if (prism_attr && (prism_attr->comp_mask || std::any_of(std::begin(prism_attr->reserved),
							    std::end(prism_attr->reserved), reserved))) {
		errno = EINVAL;
		return nullptr;
	}
	return create_queue_pair(context, attr, true);
}

prismdv_qp_ex *prismdv_qp_ex_from_ibv_qp_ex(ibv_qp_ex *qp)
{
	if (is_ours(qp->qp_base.context)) {
		auto &object = *to_object<QpObject>(qp);
		if (object.qp->prism && object.has_send_ops)
			return &object.dv.base;
	}
	errno = EOPNOTSUPP;
	return nullptr;
}

ibv_srq *prismdv_create_srq(ibv_context *context, ibv_srq_init_attr_ex *attr, const prismdv_srq_init_attr *prism_attr)
{
	const std::uint32_t flags = prism_attr ? prism_attr->flags : 0;
	if (!is_ours(context)) {
		errno = EOPNOTSUPP;
		return nullptr;
	}
	if (prism_attr && (prism_attr->comp_mask || (flags & ~std::uint32_t{PRISMDV_SRQ_FREE_LIST}))) {
		errno = EINVAL;
		return nullptr;
	}
	return create_shared_queue(context, attr, flags & PRISMDV_SRQ_FREE_LIST);
}

int prismdv_query_free_list(ibv_srq *srq, prismdv_free_list_attr *attr)
{
	if (!is_ours(srq->context))
		return EOPNOTSUPP;
	auto &object = *to_object<SrqObject>(srq);
	if (!object.queue.free_list)
		return EINVAL;
	std::lock_guard guard(object.context.lock);
	*attr = {};
	attr->posted = object.queue.posted;
	attr->popped = object.queue.popped;
	attr->rejected = object.queue.rejected;
	attr->reclaimed = object.queue.reclaimed;
	attr->available = object.queue.queue.size() + static_cast<std::uint32_t>(object.queue.returned.size());
	attr->allocatable = object.context.engine().allocatable(object.queue);
	return 0;
}

ssize_t prismdv_poll_rejected(ibv_srq *srq, prismdv_rejected_entry *entries, std::size_t max)
{
	if (!is_ours(srq->context))
		return -EOPNOTSUPP;
	auto &object = *to_object<SrqObject>(srq);
	if (!object.queue.free_list)
		return -EINVAL;
	std::lock_guard guard(object.context.lock);
	auto &reports = object.queue.reports;
	std::size_t n = 0;
	for (; n < max && !reports.empty(); n++, reports.pop_front()) {
		const auto &report = reports.front();
		entries[n] = {report.wr_id, report.entry.addr, report.entry.length, report.entry.lkey,
			static_cast<std::uint32_t>(report.error), 0};
	}
	return static_cast<ssize_t>(n);
}

const char *prismdv_status_str(std::uint32_t status)
{
	static constexpr const char *names[] = {"OK", "CAS_MISS", "NULL_POINTER", "NO_BUFFER", "SKIPPED"};
	return status < std::size(names) ? names[status] : "unknown";
}

/* The launcher -------------------------------------------------------------------------------------------------- */

bool prismdv_is_soft_device(const ibv_device *device)
{
	return is_soft(device);
}

__be64 prismdv_soft_guid(const ibv_device *device)
{
	return reinterpret_cast<const Device *>(device)->guid;
}

int prismdv_soft_query_gid(ibv_context *context, std::uint8_t port, int index, ibv_gid *gid)
{
	if (index >= 0 && query_gid(context, port, static_cast<std::uint32_t>(index), *gid))
		return 0;
	errno = EINVAL;
	return -1;
}

int prismdv_soft_query_gid_entry(ibv_context *context, std::uint32_t port, std::uint32_t index, ibv_gid_entry *entry)
{
	if (port != 1)
		return EINVAL;
	return query_gid_entry(context, port, index, *entry) ? 0 : EINVAL;
}

ssize_t prismdv_soft_query_gid_table(ibv_context *context, ibv_gid_entry *entries, std::size_t max)
{
	std::size_t n = 0;
	for (ibv_gid_entry entry; query_gid_entry(context, 1, static_cast<std::uint32_t>(n), entry); n++) {
		if (n == max)
			return -EINVAL;
		entries[n] = entry;
	}
	return static_cast<ssize_t>(n);
}

int prismdv_soft_query_pkey(ibv_context *, std::uint8_t port, int index, __be16 *pkey)
{
	if (port != 1 || index != 0) {
		errno = EINVAL;
		return -1;
	}
	*pkey = htobe16(PRISM_DEFAULT_PKEY);
	return 0;
}

ibv_comp_channel *prismdv_soft_create_comp_channel(ibv_context *context)
{
	return to_context(context).create_channel(context);
}

int prismdv_soft_destroy_comp_channel(ibv_comp_channel *channel)
{
	if (channel->refcnt)
		return EBUSY;
	to_context(channel->context).destroy_channel(to_object<CompletionChannel>(channel));
	::close(channel->fd);
	std::free(channel);
	return 0;
}
