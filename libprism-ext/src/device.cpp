/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <prism/device.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <span>
#include <sys/mman.h>
#include <unistd.h>

namespace prism
{

namespace
{

struct DeviceListFree {
	void operator()(ibv_device **list) const noexcept { prismdv_free_device_list(list); }
};
using DeviceList = std::unique_ptr<ibv_device *, DeviceListFree>;

/** Returns the names, empty if there is none. */
std::string names_of(std::span<ibv_device *const> devices)
{
	std::string names;
	for (ibv_device *device : devices) {
		if (prismdv_is_supported(device))
			names += std::string(names.empty() ? "" : ", ") + device->name;
	}
	return names;
}

ibv_device *find_device(std::span<ibv_device *const> devices, std::string_view name)
{
	for (ibv_device *device : devices) {
		if (name == device->name)
			return device;
	}
	return nullptr;
}

Error no_device(std::span<ibv_device *const> devices, std::string_view name)
{
	const std::string names = names_of(devices);
	const std::string what =
		name.empty() ? "no device speaks PRISM" : "no device is called \"" + std::string(name) + '"';
	if (!names.empty())
		return make_error(ENODEV, what,
			"devices that speak PRISM: " + names +
				"; a userspace device appears for each interface that is up and has an address");
	if (const char *const interfaces = std::getenv("PRISM_DEVICES"))
		return make_error(ENODEV, what,
			"no such network interface is up and has an address: PRISM_DEVICES is '" +
				std::string(interfaces) + "'");
	return make_error(
		ENODEV, what, "no network interface is up and has an address: 'ip link set lo up' makes prism_lo");
}

/* Asks libprism, as libibverbs reads the type from sysfs, where a userspace device has none: all of its GIDs are
 * RoCE v2. */
bool is_rocev2(const Context &context, std::uint8_t port, int index)
{
	ibv_gid_entry entry{};
	return context.is_userspace() ||
	       (ibv_query_gid_ex(context.raw(), port, static_cast<std::uint32_t>(index), &entry, 0) == 0 &&
		       entry.gid_type == IBV_GID_TYPE_ROCE_V2);
}

bool is_ipv4(const ibv_gid &gid)
{
	static constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	return std::equal(mapped.begin(), mapped.end(), std::begin(gid.raw));
}

} // namespace

Result<Context> Context::open(std::string_view name, Progress progress)
{
	int count = 0;
	DeviceList list(prismdv_get_device_list(&count));
	if (!list)
		return make_error(errno, "cannot list devices");
	const std::span<ibv_device *const> devices(list.get(), static_cast<std::size_t>(count));

	if (!name.empty()) {
		ibv_device *device = find_device(devices, name);
		return device ? open_device(device, progress) : Result<Context>(no_device(devices, name));
	}
	Result<Context> found = no_device(devices, name);
	for (ibv_device *device : devices) {
		if (!prismdv_is_supported(device))
			continue;
		Result<Context> opened = open_device(device, progress);
		if (opened && opened->is_userspace())
			return opened;
		if (!found)
			found = std::move(opened);
	}
	return found;
}

Result<Context> Context::open_device(ibv_device *device, Progress progress)
{
	const std::string name = device->name;
	if (!prismdv_is_supported(device))
		return make_error(EOPNOTSUPP, "device " + name + " does not speak PRISM", "name another one, or none");

	const prismdv_context_attr attr{
		.comp_mask = 0, .progress = static_cast<std::uint32_t>(progress), .path = PRISMDV_PATH_DEFAULT};
	ibv_context *raw = prismdv_open_device(device, &attr);
	if (!raw)
		return make_error(errno, "cannot open device " + name, "VERBS_LOG_LEVEL=4 makes the provider say more");
	Context context(std::shared_ptr<ibv_context>(raw, [](ibv_context *c) { ibv_close_device(c); }));

	if (const int error = prismdv_query_device(raw, &context.device_attributes_))
		return make_error(error, "cannot query device " + name);
	if (const int error = prismdv_query_capability(raw, &context.device_capability_))
		return make_error(error, "cannot query the capabilities of device " + name);
	return context;
}

Result<ibv_gid> Context::gid(std::uint8_t port, int index) const
{
	ibv_gid found{};
	if (const int error = prismdv_query_gid(raw(), port, index, &found))
		return make_error(error, "device " + name() + " has no GID at index " + std::to_string(index),
			"ibv_devinfo -v lists them");
	return found;
}

Result<int> Context::default_gid_index(std::uint8_t port) const
{
	constexpr int table_limit = 256;
	int first = -1;
	for (int index = 0; index < table_limit; index++) {
		ibv_gid entry{};
		if (prismdv_query_gid(raw(), port, index, &entry) || !is_rocev2(*this, port, index))
			continue;
		if (is_ipv4(entry))
			return index;
		if (first < 0)
			first = index;
	}
	if (first >= 0)
		return first;
	return make_error(ENODATA, "device " + name() + " has no RoCE v2 GID", "give its interface an IP address");
}

Result<ProtectionDomain> ProtectionDomain::create(const Context &context)
{
	ibv_pd *raw = ibv_alloc_pd(context.raw());
	if (!raw)
		return make_error(errno, "cannot allocate a protection domain on " + context.name());
	return ProtectionDomain(context, std::shared_ptr<ibv_pd>(raw, [context](ibv_pd *pd) { ibv_dealloc_pd(pd); }));
}

Result<MemoryRegion> MemoryRegion::create(
	const ProtectionDomain &pd, void *memory, std::size_t length, unsigned access_flags)
{
	/* Call the function, not the macro around it, which tells constant flags from others and calls different
	 * symbols.
	 */
	ibv_mr *mr = (ibv_reg_mr)(pd.raw(), memory, length, static_cast<int>(access_flags));
	if (!mr)
		return make_error(errno, "cannot register " + std::to_string(length) + " bytes of memory",
			"check the rights asked for, and ulimit -l for kernel devices");
	return MemoryRegion(pd, mr, reinterpret_cast<std::uint64_t>(memory));
}

void Buffer::Unmap::operator()(std::byte *pages) const noexcept
{
	munmap(pages, length);
}

Result<Buffer> Buffer::create(const ProtectionDomain &pd, std::size_t length, unsigned access_flags)
{
	if (length == 0)
		return make_error(EINVAL, "cannot allocate a buffer of no bytes");
	void *pages = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return make_error(errno, "cannot allocate " + std::to_string(length) + " bytes");
	Memory memory_(static_cast<std::byte *>(pages), Unmap{length});
	Result<MemoryRegion> region = MemoryRegion::create(pd, pages, length, access_flags);
	if (!region)
		return region.error();
	return Buffer(std::move(memory_), *std::move(region));
}

Result<DeviceMemory> DeviceMemory::create(const ProtectionDomain &pd, std::size_t length, unsigned access_flags)
{
	ibv_alloc_dm_attr attr{};
	attr.length = length;
	attr.log_align_req = 5; /* operands of a CAS are aligned to at most 32 bytes */
	Allocation dm(ibv_alloc_dm(pd.context().raw(), &attr));
	if (!dm)
		return make_error(errno, "cannot allocate " + std::to_string(length) + " bytes of device memory",
			"ask for less, or use a Buffer at the server as scratch");
	ibv_mr *mr = ibv_reg_dm_mr(pd.raw(), dm.get(), 0, length, access_flags | IBV_ACCESS_ZERO_BASED);
	if (!mr)
		return make_error(errno, "cannot register device memory");
	return DeviceMemory(std::move(dm), MemoryRegion(pd, mr, 0), length);
}

int DeviceMemory::store(std::uint64_t offset, const void *from, std::size_t length) const noexcept
{
	return ibv_memcpy_to_dm(allocation_.get(), offset, from, length);
}

int DeviceMemory::load(void *to, std::uint64_t offset, std::size_t length) const noexcept
{
	return ibv_memcpy_from_dm(to, allocation_.get(), offset, length);
}

} // namespace prism
