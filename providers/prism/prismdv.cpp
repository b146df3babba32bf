/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* <infiniband/prismdv.h>: the part that does not depend on the kind of device. */
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <sstream>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "base/c_boundary.hpp"
#include "prismdv.h"
#include "soft/verbs/device.hpp"
#include "verbs/capability.hpp"
#include "verbs/conversions.hpp"
#include "verbs/direct_verbs.hpp"
#include "verbs/plugin.hpp"
#include "verbs/real_verbs.hpp"

using namespace prism;

namespace
{

/** Verbs of the plug-in for kernel devices, when libibverbs has loaded it. */
std::atomic<const DirectVerbs *> kernel_verbs;

/** Returns nullptr for a device that does not speak PRISM. */
const DirectVerbs *find(const ibv_device *device)
{
	const DirectVerbs &soft = soft::direct_verbs();
	if (soft.owns(device))
		return &soft;
	const DirectVerbs *kernel = kernel_verbs;
	return kernel && kernel->owns(device) ? kernel : nullptr;
}

const DirectVerbs *find(const ibv_context *context)
{
	return find(context->device);
}

template <typename Word, std::size_t n>
bool all_zero(const Word (&words)[n])
{
	return std::all_of(words, words + n, [](Word word) { return word == 0; });
}

/** Returns true if the interface gets a device: PRISM_DEVICES lists those that do; by default all do. */
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
	const std::vector<soft::InterfaceInfo> interfaces = soft::list_interfaces();
	std::vector<ibv_device *> devices;
	devices.reserve(interfaces.size());
	for (const soft::InterfaceInfo &interface : interfaces)
		if (ibv_device *device = wanted(interface.name) ? soft::get_device(interface) : nullptr)
			devices.push_back(device);
	return devices;
}

} // namespace

/* The plug-in for kernel devices --------------------------------------------------------------------------------- */

void prismdv_plugin_register(const DirectVerbs *verbs)
{
	kernel_verbs = verbs;
}

int prismdv_plugin_set_operations(verbs_context *context, const Operations *operations)
{
	return guarded([&] {
		const std::lock_guard guard(soft::setup_lock());
		const OperationTable *library = OperationTable::loaded();
		if (!library)
			return errno;
		library->set(*context, *operations);
		return 0;
	});
}

namespace
{

/** Returns true if the kernel has more devices than the @p listed ones of libibverbs, for want of a provider. */
bool leaves_devices_out(int listed)
{
	std::error_code error; /* no such folder: no devices */
	return std::distance(std::filesystem::directory_iterator("/sys/class/infiniband", error), {}) > listed;
}

/**
 * Reports a missing plug-in. libibverbs loads the plug-in of its own private ABI when it finds a kernel device. If
 * there is none, it only says that a file is missing.
 */
void tell_if_plugin_is_missing(int listed)
{
	static std::once_flag once;
	if (!kernel_verbs && ::access("/sys/module/rxe_prism", F_OK) == 0 && leaves_devices_out(listed))
		std::call_once(once, [] {
			std::fputs(
				"libprism: the module rxe_prism is loaded, but libibverbs has not loaded a plug-in "
				"for its devices: only userspace devices speak PRISM. A plug-in "
				"(libprism-rdmavN.so) is for one private ABI of libibverbs: install or build the one "
				"for yours (docs/kernel-module.md).\n",
				stderr);
		});
}

} // namespace

/* Devices ------------------------------------------------------------------------------------------------------- */

namespace
{

ibv_device **get_device_list(int *num_devices)
{
	const std::lock_guard guard(soft::setup_lock());
	const std::vector<ibv_device *> soft = soft_devices();
	int kernel_devices = 0;
	ibv_device **real = real_verbs::get_device_list(&kernel_devices);
	if (!real)
		kernel_devices = 0; /* a host without RDMA, where libibverbs reports ENOSYS */
	tell_if_plugin_is_missing(kernel_devices);
	const std::size_t count = static_cast<std::size_t>(kernel_devices) + soft.size();
	/* The list takes over the references that came with libibverbs's list, so free that one. */
	auto **list = static_cast<ibv_device **>(std::realloc(real, (count + 1) * sizeof(ibv_device *)));
	if (!list) {
		for (ibv_device *device : soft)
			soft::put_device(device);
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

} // namespace

ibv_device **prismdv_get_device_list(int *num_devices)
{
	return guarded([&] { return get_device_list(num_devices); });
}

void prismdv_free_device_list(ibv_device **list)
{
	ibv_device **real = list; /* the part that goes back to libibverbs */
	for (ibv_device **each = list; *each; each++)
		if (soft::is_soft(*each))
			soft::put_device(*each);
		else
			*real++ = *each;
	*real = nullptr;
	real_verbs::free_device_list(list);
}

bool prismdv_is_supported(ibv_device *device)
{
	return find(device);
}

ibv_context *prismdv_open_device(ibv_device *device, const prismdv_context_attr *attr)
{
	if (attr && (attr->comp_mask || attr->path > PRISMDV_PATH_LOCAL || attr->progress > PRISMDV_PROGRESS_THREAD))
		return fail<ibv_context>(EINVAL);
	const DirectVerbs *verbs = find(device);
	if (!verbs)
		return fail<ibv_context>(EOPNOTSUPP);
	return guarded([&] { return verbs->open(device, attr ? *attr : prismdv_context_attr{}); });
}

int prismdv_progress(ibv_context *context)
{
	const DirectVerbs *verbs = find(context);
	return verbs ? guarded([&] { return verbs->progress(context); }) : EOPNOTSUPP;
}

int prismdv_query_device(ibv_context *context, prismdv_device_attr *attr)
{
	const DirectVerbs *verbs = find(context);
	if (!verbs)
		return EOPNOTSUPP;
	*attr = {};
	attr->features = version_features;
	verbs->query_device(context, *attr);
	return 0;
}

int prismdv_query_gid(ibv_context *context, std::uint8_t port, int index, ibv_gid *gid)
{
	const DirectVerbs *verbs = find(context);
	if (!verbs)
		return ibv_query_gid(context, port, index, gid) ? EINVAL : 0;
	return verbs->query_gid(context, port, index, gid);
}

ibv_comp_channel *prismdv_create_comp_channel(ibv_context *context)
{
	const DirectVerbs *verbs = find(context);
	return verbs ? guarded([&] { return verbs->create_comp_channel(context); }) : ibv_create_comp_channel(context);
}

ssize_t prismdv_query_counters(ibv_context *context, prismdv_counter *counters, std::size_t max)
{
	const DirectVerbs *verbs = find(context);
	if (!verbs)
		return -EOPNOTSUPP;
	return guarded([&] {
		const std::vector<prismdv_counter> all = verbs->counters(context);
		std::copy_n(all.begin(), std::min(max, all.size()), counters);
		return static_cast<ssize_t>(all.size());
	});
}

/* Capability ---------------------------------------------------------------------------------------------------- */

int prismdv_query_capability(ibv_context *context, prismdv_capability *capability)
{
	prismdv_device_attr attr;
	if (const int error = prismdv_query_device(context, &attr))
		return error;
	encode_capability(*capability, attr.protocol_version, attr.features);
	return 0;
}

int prismdv_set_peer_capability(ibv_qp *qp, const prismdv_capability *capability)
{
	const DirectVerbs *verbs = find(qp->context);
	if (!verbs || !verbs->speaks_prism(qp))
		return EOPNOTSUPP;
	prismdv_device_attr attr;
	if (const int error = prismdv_query_device(qp->context, &attr))
		return error;
	std::uint64_t features;
	if (const int error = decode_capability(*capability, attr.protocol_version, features))
		return error;
	verbs->set_peer_features(qp, features);
	return 0;
}

/* Queue pairs and free lists ------------------------------------------------------------------------------------ */

ibv_qp *prismdv_create_qp(ibv_context *context, ibv_qp_init_attr_ex *attr, const prismdv_qp_init_attr *prism_attr)
{
	const DirectVerbs *verbs = find(context);
	if (!verbs)
		return fail<ibv_qp>(EOPNOTSUPP);
	if (prism_attr && (prism_attr->comp_mask || !all_zero(prism_attr->reserved)))
		return fail<ibv_qp>(EINVAL);
	return guarded([&] { return verbs->create_qp(context, attr); });
}

prismdv_qp_ex *prismdv_qp_ex_from_ibv_qp_ex(ibv_qp_ex *qp)
{
	const DirectVerbs *verbs = find(qp->qp_base.context);
	prismdv_qp_ex *builders = verbs ? verbs->builders(qp) : nullptr;
	return builders ? builders : fail<prismdv_qp_ex>(EOPNOTSUPP);
}

ibv_srq *prismdv_create_srq(ibv_context *context, ibv_srq_init_attr_ex *attr, const prismdv_srq_init_attr *prism_attr)
{
	const std::uint32_t flags = prism_attr ? prism_attr->flags : 0;
	const DirectVerbs *verbs = find(context);
	if (!verbs)
		return fail<ibv_srq>(EOPNOTSUPP);
	if (prism_attr && (prism_attr->comp_mask || (flags & ~std::uint32_t{PRISMDV_SRQ_FREE_LIST}) ||
				  !all_zero(prism_attr->reserved)))
		return fail<ibv_srq>(EINVAL);
	return guarded([&] { return verbs->create_srq(context, attr, flags & PRISMDV_SRQ_FREE_LIST); });
}

int prismdv_query_free_list(ibv_srq *srq, prismdv_free_list_attr *attr)
{
	const DirectVerbs *verbs = find(srq->context);
	if (!verbs)
		return EOPNOTSUPP;
	if (!verbs->is_free_list(srq))
		return EINVAL;
	*attr = {};
	verbs->query_free_list(srq, *attr);
	return 0;
}

ssize_t prismdv_poll_rejected(ibv_srq *srq, prismdv_rejected_entry *entries, std::size_t max)
{
	const DirectVerbs *verbs = find(srq->context);
	if (!verbs)
		return -EOPNOTSUPP;
	if (!verbs->is_free_list(srq))
		return -EINVAL;
	return static_cast<ssize_t>(verbs->poll_rejected(srq, entries, max));
}

const char *prismdv_status_str(std::uint32_t status)
{
	static constexpr const char *names[] = {"OK", "CAS_MISS", "NULL_POINTER", "NO_BUFFER", "SKIPPED"};
	return status < std::size(names) ? names[status] : "unknown";
}
