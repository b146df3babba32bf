/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A userspace device: its attributes, its ports, the table of devices. */
#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <endian.h>
#include <map>
#include <mutex>
#include <new>
#include <pthread.h>

#include "../protocol/user_memory.hpp"
#include "base/c_boundary.hpp"
#include "device.hpp"
#include "gid.hpp"
#include "objects.hpp"

namespace prism::soft
{

namespace
{

constexpr std::uint32_t pkey_table_size = 1;

void fill_device_attr(const ibv_device *device, ibv_device_attr &attr)
{
	std::snprintf(attr.fw_ver, sizeof(attr.fw_ver), "%d.0", PRISM_PROTOCOL_VERSION);
	attr.node_guid = attr.sys_image_guid = reinterpret_cast<const Device *>(device)->guid;
	attr.vendor_id = 0xffffff; /* as in Soft-RoCE: software of no vendor */
	attr.max_mr_size = ~std::uint64_t{0};
	attr.page_size_cap = 0xfffff000;
	attr.max_qp = limits::max_qp;
	attr.max_qp_wr = limits::max_qp_wr;
	attr.device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_MEM_WINDOW |
				IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS;
	attr.max_ah = limits::max_ah;
	attr.max_mcast_grp = static_cast<int>(max_groups);
	attr.max_mcast_qp_attach = attr.max_qp;
	attr.max_total_mcast_qp_attach = attr.max_mcast_grp * attr.max_qp;
	attr.max_sge = attr.max_sge_rd = limits::max_sge;
	attr.max_cq = limits::max_cq;
	attr.max_cqe = limits::max_cqe;
	attr.max_mr = limits::max_mr;
	attr.max_mw = limits::max_mw;
	attr.max_pd = limits::max_pd;
	attr.max_qp_rd_atom = attr.max_qp_init_rd_atom = max_outstanding;
	attr.max_res_rd_atom = static_cast<int>(max_outstanding) * attr.max_qp;
	attr.atomic_cap = IBV_ATOMIC_HCA;
	attr.max_srq = limits::max_srq;
	attr.max_srq_wr = limits::max_srq_wr;
	attr.max_srq_sge = limits::max_sge;
	attr.max_pkeys = pkey_table_size;
	attr.phys_port_cnt = 1;
}

/** Flag in ibv_device_attr_ex::device_cap_flags_ex (IB_UVERBS_DEVICE_ATOMIC_WRITE); libibverbs has no name for it. */
constexpr std::uint64_t atomic_write_flag = std::uint64_t{1} << 40;

/** Makes a GUID from the interface's name and the host: it stays the same as addresses come and go, is unique enough
 * on one host, and is marked as local. */
__be64 make_guid(const InterfaceInfo &interface)
{
	std::uint64_t hash = 0xcbf29ce484222325;
	for (const char c : interface.name)
		hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
	for (const std::uint8_t byte : interface.hardware)
		hash = (hash ^ byte) * 0x100000001b3;
	/* A tunnel's end has no number but its IP address. */
	if (interface.hardware == decltype(interface.hardware){} && !interface.is_loopback)
		for (const std::uint8_t byte : interface.addresses.front().gid)
			hash = (hash ^ byte) * 0x100000001b3;
	return htobe64((hash & ~(std::uint64_t{3} << 56)) | (std::uint64_t{2} << 56));
}

} // namespace

int query_device(
	ibv_context *context, const ibv_query_device_ex_input *input, ibv_device_attr_ex *attr, std::size_t size)
{
	if (input && input->comp_mask)
		return EINVAL;
	ibv_device_attr_ex full{};
	fill_device_attr(context->device, full.orig_attr);
	full.phys_port_cnt_ex = 1;
	/* As for the kernel's devices: all flags, including those without a bit in the old field. */
	full.device_cap_flags_ex = full.orig_attr.device_cap_flags | atomic_write_flag;
	full.max_dm_size = limits::max_dm_size;
	std::memset(attr, 0, size); /* a program with later headers has room for more */
	std::memcpy(attr, &full, std::min(size, sizeof(full)));
	return 0;
}

int query_port(ibv_context *context, std::uint8_t port, ibv_port_attr *attr)
{
	if (port != 1)
		return EINVAL;
	Context &owner = to_context(context);
	attr->state = IBV_PORT_ACTIVE;
	attr->max_mtu = IBV_MTU_4096;
	attr->active_mtu = active_mtu(owner.interface_mtu());
	attr->gid_tbl_len = static_cast<int>(gid_table_size(context));
	attr->port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
	attr->max_msg_sz = max_message;
	attr->pkey_tbl_len = pkey_table_size;
	attr->active_width = 1;
	attr->active_speed = 32; /* EDR: a value that tools want, without meaning here */
	attr->phys_state = 5;    /* link up */
	attr->link_layer = IBV_LINK_LAYER_ETHERNET;
	attr->flags = IBV_QPF_GRH_REQUIRED;
	return 0;
}

std::uint32_t gid_table_size(ibv_context *context)
{
	constexpr std::size_t smallest = 16;
	return static_cast<std::uint32_t>(std::max(smallest, to_context(context).gids().size() + 1));
}

bool query_gid(ibv_context *context, std::uint32_t port, std::uint32_t index, ibv_gid &gid)
{
	const auto found = to_context(context).gids().find(index);
	if (port != 1 || !found)
		return false;
	gid = to_gid(found->address);
	return true;
}

bool query_gid_entry(ibv_context *context, std::uint32_t port, std::uint32_t index, ibv_gid_entry &entry)
{
	entry = {};
	if (!query_gid(context, port, index, entry.gid))
		return false;
	entry.gid_index = index;
	entry.port_num = port;
	entry.gid_type = IBV_GID_TYPE_ROCE_V2;
	entry.ndev_ifindex = to_context(context).interface().index;
	return true;
}

/* Devices ------------------------------------------------------------------------------------------------------- */

namespace
{

/** Returns the reference count, which libibverbs, written in C, counts atomically too. */
std::atomic_ref<int> references(Device &device)
{
	return std::atomic_ref<int>(device.base.refcount);
}

/**
 * All devices of the process, with a reference to those of the interfaces that were last seen. They lie side by side:
 * librdmacm sorts a list by the lower halves of the differences between pointers. If devices were far apart, it would
 * take a list made by another thread for a list of other devices.
 */
class DeviceTable
{
public:
	/** Returns the table. Never destroyed: programs may list devices until they end. */
	static DeviceTable &instance();
	static std::mutex &lock() { return instance().lock_; }

	/** Returns the device with one more reference; null if there are too many devices. */
	Device *get(const InterfaceInfo &interface);
	/** Removes a device without references. */
	void forget(Device &device);

private:
	Device *add(const InterfaceInfo &interface);
	void forget_locked(Device &device) { used_.reset(static_cast<std::size_t>(&device - devices_.data())); }

	static constexpr std::size_t max_devices = 4096;

	std::mutex lock_;
	std::map<std::string, Device *> seen_;
	std::bitset<max_devices> used_;
	std::array<Device, max_devices> devices_; /* zeros, as all static data */
};

const verbs_device_ops device_ops = [] {
	verbs_device_ops ops{};
	ops.name = "prism-soft";
	ops.alloc_context = Boundary<alloc_context>::call;
	ops.uninit_device = [](verbs_device *device) {
		DeviceTable::instance().forget(*reinterpret_cast<Device *>(device));
	};
	return ops;
}();

void fill_device(Device &device, const InterfaceInfo &interface)
{
	device = {};
	ibv_device &base = device.base.device;
	base.node_type = IBV_NODE_CA;
	base.transport_type = IBV_TRANSPORT_IB;
	std::snprintf(base.name, sizeof(base.name), "%s", device_name(interface.name).c_str());
	std::snprintf(base.dev_name, sizeof(base.dev_name), "%s", base.name);
	std::snprintf(device.interface, sizeof(device.interface), "%s", interface.name.c_str());
	device.guid = make_guid(interface);
	device.base.ops = &device_ops;
}

DeviceTable &DeviceTable::instance()
{
	alignas(DeviceTable) static std::byte storage[sizeof(DeviceTable)];
	static auto *const table = new (storage) DeviceTable;
	return *table;
}

Device *DeviceTable::get(const InterfaceInfo &interface)
{
	const std::lock_guard guard(lock_);
	Device *&device = seen_[interface.name];
	if (device && device->guid != make_guid(interface)) {
		if (--references(*device) == 0)
			forget_locked(*device);
		device = nullptr;
	}
	if (!device)
		device = add(interface);
	if (device)
		++references(*device);
	return device;
}

Device *DeviceTable::add(const InterfaceInfo &interface)
{
	for (std::size_t place = 0; place < max_devices; place++) {
		if (used_[place])
			continue;
		used_.set(place);
		fill_device(devices_[place], interface);
		references(devices_[place]) = 1;
		return &devices_[place];
	}
	return nullptr;
}

void DeviceTable::forget(Device &device)
{
	const std::lock_guard guard(lock_);
	forget_locked(device);
}

} // namespace

std::mutex &setup_lock()
{
	static constinit std::mutex lock;
	return lock;
}

namespace
{

/** Holds a lock over forks: a child finds it free. */
template <std::mutex &(*lock)()>
void keep_over_fork()
{
	const auto unlock = [] { lock().unlock(); };
	pthread_atfork([] { lock().lock(); }, unlock, unlock);
}

/**
 * Registers the locks when the library is loaded: forks neither take nor release locks registered while they run. A
 * fork takes the lock registered last first, as does code that sets up a device and takes the others.
 */
__attribute__((constructor)) void keep_locks_over_fork()
{
	keep_over_fork<handlers_lock>();
	Context::keep_over_fork();
	keep_over_fork<DeviceTable::lock>();
	keep_over_fork<setup_lock>();
}

} // namespace

bool is_soft(const ibv_device *device)
{
	return reinterpret_cast<const verbs_device *>(device)->ops == &device_ops;
}

ibv_device *get_device(const InterfaceInfo &interface)
{
	Device *const device = DeviceTable::instance().get(interface);
	return device ? &device->base.device : nullptr;
}

void hold_device(ibv_device *device)
{
	++references(*reinterpret_cast<Device *>(device));
}

void put_device(ibv_device *base)
{
	auto &device = *reinterpret_cast<Device *>(base);
	if (--references(device) == 0)
		DeviceTable::instance().forget(device);
}

} // namespace prism::soft
