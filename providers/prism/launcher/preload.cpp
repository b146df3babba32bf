// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// libprism-preload.so: shows the userspace devices to verbs programs that know nothing of them.
//
// It takes the names of those functions of libibverbs that never ask a provider. A call for a userspace device goes to
// libprism, any other to libibverbs. ibv_get_device_index() is left alone, since it returns -1 for a device without a
// kernel side, and so are the functions that call those here or a provider (ibv_init_ah_from_wc(),
// ibv_create_ah_from_wc(), ibv_resolve_eth_l2_from_gid()): libibverbs calls itself by its exported names.
//
// Its names are plain C, so that the symbol map can give them libibverbs's versions.
#include "../soft/verbs/soft_device.h"
#include "../verbs/rdma_core_abi.h"
#include "../verbs/real_verbs.hpp"
#include "options.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <sys/stat.h>
#include <vector>

using prism::real_verbs::Function;

namespace
{

// True while libibverbs looks for a kernel device: it dereferences the sysfs entry of each listed device.
thread_local bool kernel_devices_only;

bool is_soft(const struct ibv_context *context)
{
	return prismdv_is_soft_device(context->device);
}

bool is_wanted(const struct ibv_device *device)
{
	const char *const only_soft = std::getenv(prism::launcher::env_only);
	const char *const name = std::getenv(prism::launcher::env_device);

	if (only_soft && *only_soft && !prismdv_is_soft_device(device))
		return false;
	return !name || !*name || std::string_view(name) == device->name;
}

// Moves the devices that the user asked for to the front and releases the others. Returns how many remain, or -1.
int narrow(struct ibv_device **list, int total)
{
	struct ibv_device **const end = list + total;
	struct ibv_device **const first_unwanted = std::stable_partition(list, end, is_wanted);
	const auto count = static_cast<size_t>(end - first_unwanted);

	if (count == 0)
		return total;

	auto **const unwanted = static_cast<struct ibv_device **>(std::calloc(count + 1, sizeof(*list)));
	if (!unwanted)
		return -1;
	std::copy(first_unwanted, end, unwanted);
	*first_unwanted = nullptr;
	prismdv_free_device_list(unwanted);
	return static_cast<int>(first_unwanted - list);
}

// Copies an entry, cut or padded as the kernel does: the caller's structure may be older or newer than ours.
void copy_entry(void *to, size_t to_size, const struct ibv_gid_entry &entry)
{
	std::memset(to, 0, to_size);
	std::memcpy(to, &entry, std::min(to_size, sizeof(entry)));
}

ssize_t copy_gid_table(struct ibv_context *context, void *to, size_t max, size_t entry_size)
try {
	std::vector<struct ibv_gid_entry> entries(max);
	const ssize_t count = prismdv_soft_query_gid_table(context, entries.data(), max);

	for (ssize_t i = 0; i < count; i++)
		copy_entry(static_cast<char *>(to) + static_cast<size_t>(i) * entry_size, entry_size,
			entries[static_cast<size_t>(i)]);
	return count;
} catch (const std::exception &) {
	return -ENOMEM;
}

} // namespace

#pragma GCC visibility push(default)

extern "C" {

struct ibv_device **ibv_get_device_list(int *num)
{
	int total = 0;

	if (kernel_devices_only)
		return prism::real_verbs::get_device_list(num);

	struct ibv_device **const list = prismdv_get_device_list(&total);
	if (num)
		*num = 0;
	if (!list)
		return nullptr;

	total = narrow(list, total);
	if (total < 0) {
		prismdv_free_device_list(list);
		errno = ENOMEM;
		return nullptr;
	}
	if (num)
		*num = total;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	prismdv_free_device_list(list);
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	static constinit Function<__be64(struct ibv_device *)> real("ibv_get_device_guid", "IBVERBS_1.1");

	return prismdv_is_soft_device(device) ? prismdv_soft_guid(device) : real(device);
}

struct ibv_context *ibv_import_device(int cmd_fd)
{
	static constinit Function<struct ibv_context *(int)> real("ibv_import_device", "IBVERBS_1.10");

	// Only a context that the kernel keeps behind a device node can be imported.
	struct stat status = {};
	if (fstat(cmd_fd, &status) == 0 && !S_ISCHR(status.st_mode)) {
		errno = EOPNOTSUPP;
		return nullptr;
	}
	kernel_devices_only = true;
	struct ibv_context *const context = real(cmd_fd);
	kernel_devices_only = false;
	return context;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
	static constinit Function<int(struct ibv_context *, uint8_t, int, union ibv_gid *)> real(
		"ibv_query_gid", "IBVERBS_1.1");

	if (is_soft(context))
		return prismdv_soft_query_gid(context, port_num, index, gid);
	return real(context, port_num, index, gid);
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index, struct ibv_gid_entry *entry,
	uint32_t flags, size_t entry_size)
{
	static constinit Function<int(
		struct ibv_context *, uint32_t, uint32_t, struct ibv_gid_entry *, uint32_t, size_t)>
		real("_ibv_query_gid_ex", "IBVERBS_1.11");
	struct ibv_gid_entry found = {};

	if (!is_soft(context))
		return real(context, port_num, gid_index, entry, flags, entry_size);
	if (flags)
		return EINVAL;

	const int error = prismdv_soft_query_gid_entry(context, port_num, gid_index, &found);
	if (!error)
		copy_entry(entry, entry_size, found);
	return error;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max_entries,
	uint32_t flags, size_t entry_size)
{
	static constinit Function<ssize_t(struct ibv_context *, struct ibv_gid_entry *, size_t, uint32_t, size_t)> real(
		"_ibv_query_gid_table", "IBVERBS_1.11");

	if (!is_soft(context))
		return real(context, entries, max_entries, flags, entry_size);
	if (flags || entry_size == 0)
		return -EINVAL;
	if (entry_size == sizeof(*entries))
		return prismdv_soft_query_gid_table(context, entries, max_entries);
	return copy_gid_table(context, entries, max_entries, entry_size);
}

int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index, enum ibv_gid_type_sysfs *type)
{
	static constinit Function<int(struct ibv_context *, uint8_t, unsigned int, enum ibv_gid_type_sysfs *)> real(
		"ibv_query_gid_type");
	struct ibv_gid_entry entry = {};

	if (!is_soft(context))
		return real(context, port_num, index, type);

	const int error = prismdv_soft_query_gid_entry(context, port_num, index, &entry);
	if (error && error != ENODATA) {
		errno = error;
		return -1;
	}
	// libibverbs calls an entry without a GID version 1.
	const bool is_v2 = !error && entry.gid_type == IBV_GID_TYPE_ROCE_V2;
	*type = is_v2 ? IBV_GID_TYPE_SYSFS_ROCE_V2 : IBV_GID_TYPE_SYSFS_IB_ROCE_V1;
	return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	static constinit Function<int(struct ibv_context *, uint8_t, int, __be16 *)> real(
		"ibv_query_pkey", "IBVERBS_1.1");

	if (is_soft(context))
		return prismdv_soft_query_pkey(context, port_num, index, pkey);
	return real(context, port_num, index, pkey);
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	static constinit Function<int(struct ibv_context *, uint8_t, __be16)> real("ibv_get_pkey_index", "IBVERBS_1.5");
	__be16 found;

	if (!is_soft(context))
		return real(context, port_num, pkey);
	for (int index = 0; prismdv_soft_query_pkey(context, port_num, index, &found) == 0; index++)
		if (found == pkey)
			return index;
	return -1;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	static constinit Function<struct ibv_comp_channel *(struct ibv_context *)> real(
		"ibv_create_comp_channel", "IBVERBS_1.0");

	return is_soft(context) ? prismdv_soft_create_comp_channel(context) : real(context);
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	static constinit Function<int(struct ibv_comp_channel *)> real("ibv_destroy_comp_channel", "IBVERBS_1.0");

	return is_soft(channel->context) ? prismdv_soft_destroy_comp_channel(channel) : real(channel);
}
}

#pragma GCC visibility pop
