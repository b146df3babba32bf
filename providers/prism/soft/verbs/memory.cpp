/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Protection domains, memory regions and windows, device memory. */
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "../protocol/user_memory.hpp"
#include "objects.hpp"

namespace prism::soft
{

namespace
{

/**
 * Touches every page, as the kernel's pinning would: memory that is missing, or that the program may not use so, is
 * detected now, not by a peer.
 */
int populate(void *addr, std::size_t length, bool writable)
{
	if (!length)
		return 0;
	const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
	const auto begin = reinterpret_cast<std::uintptr_t>(addr) & ~(page - 1);
	const auto end = (reinterpret_cast<std::uintptr_t>(addr) + length + page - 1) & ~(page - 1);
	if (end <= begin) /* round the end of all addresses */
		return EFAULT;
	void *at = reinterpret_cast<void *>(begin);
	if (!madvise(at, end - begin, writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ))
		return 0;
	if (errno != EINVAL)
		return errno == ENOMEM ? EFAULT : errno;
	/* The program has too few rights, the memory is of a kind that is not populated, or the kernel is older than
	 * 5.14. */
	if (writable && !madvise(at, end - begin, MADV_POPULATE_READ))
		return EFAULT;
	for (std::uintptr_t each = begin; each < end; each += page) {
		std::uint8_t byte;
		if (!load_from_user(&byte, reinterpret_cast<const void *>(each), sizeof(byte)))
			return EFAULT;
	}
	return 0;
}

/** Checks that there can be a region of this memory, which peers know as @p va. Returns 0 or an errno. */
int check_memory(void *addr, std::size_t length, std::uint64_t va, int access)
{
	const auto begin = reinterpret_cast<std::uintptr_t>(addr);
	if (begin + length < begin || va + length < va)
		return EINVAL;
	survive_unmapped_memory();
	return populate(addr, length, access & IBV_ACCESS_LOCAL_WRITE);
}

int check_access(unsigned access)
{
	constexpr unsigned supported = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED |
				       IBV_ACCESS_OPTIONAL_RANGE;
	if (access & ~supported)
		return EOPNOTSUPP;
	if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) && !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	return 0;
}

/** Returns the processor's address of device memory: words of 4 bytes, as on devices that have it; nullptr for
 * anything else. */
std::uint8_t *dm_range(ibv_dm *dm, std::uint64_t offset, std::size_t length)
{
	const auto &object = *to_object<DeviceMemory>(dm);
	if ((offset | length) % 4 || offset > object.length || length > object.length - offset)
		return nullptr;
	return object.memory.get() + offset;
}

constexpr std::uint32_t kept_access = access_local_write | access_remote_write | access_remote_read |
				      access_remote_atomic | access_mw_bind | access_zero_based;

ibv_mr *add_region(
	ibv_pd *pd, std::uint8_t *base, std::uint64_t iova, std::size_t length, unsigned access, ibv_mr_type type)
{
	if (!known_in(pd->context, pd))
		return fail<ibv_mr>(EINVAL);
	auto *domain = to_object<ProtectionDomain>(pd);
	auto mr = std::make_unique<MemoryRegion>();
	Context &context = to_context(pd->context);
	mr->place = context.quotas.mrs.take();
	std::uint32_t key = 0;
	if (mr->place) {
		const AllLanes held(context);
		key = context.memory.add_region(base, iova, length, access & kept_access, domain->number);
	}
	if (!key)
		return fail<ibv_mr>(ENOMEM);
	mr->key = key;
	mr->pd = domain;
	mr->base.mr_type = type;
	mr->base.access = static_cast<int>(access);
	mr->base.ibv_mr.context = pd->context;
	mr->base.ibv_mr.pd = pd;
	mr->base.ibv_mr.addr = base;
	mr->base.ibv_mr.length = length;
	mr->base.ibv_mr.lkey = mr->base.ibv_mr.rkey = key;
	mr->base.ibv_mr.handle = key >> 8;
	domain->users++;
	return &mr.release()->base.ibv_mr;
}

int change_region(verbs_mr *vmr, int flags, ibv_pd *pd, void *addr, std::size_t length, int access)
{
	auto *mr = to_object<MemoryRegion>(vmr);
	Context &context = to_context(vmr->ibv_mr.context);
	const bool moves = flags & IBV_REREG_MR_CHANGE_PD;
	if (!known_in(vmr->ibv_mr.context, &vmr->ibv_mr) || (moves && !known_in(vmr->ibv_mr.context, pd)))
		return EINVAL;
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		if (const int error = check_access(static_cast<unsigned>(access)))
			return error;
	const int rights = flags & IBV_REREG_MR_CHANGE_ACCESS ? access : vmr->access;
	const std::uint64_t va = rights & IBV_ACCESS_ZERO_BASED ? 0 : reinterpret_cast<std::uintptr_t>(addr);
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		if (const int error = check_memory(addr, length, va, rights))
			return error;
	} else if (rights & ~vmr->access & IBV_ACCESS_LOCAL_WRITE) {
		if (const int error = populate(vmr->ibv_mr.addr, vmr->ibv_mr.length, true))
			return error;
	}

	const AllLanes held(context);
	MemoryTable &memory = context.memory;
	Region region = *memory.find(mr->key);
	if (region.windows)
		return EBUSY;
	region.access = static_cast<std::uint32_t>(rights) & kept_access;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		region.base = static_cast<std::uint8_t *>(addr);
		region.va = va;
		region.length = length;
	}
	if (moves) {
		mr->pd->users--;
		mr->pd = to_object<ProtectionDomain>(pd);
		mr->pd->users++;
		region.pd = mr->pd->number;
	}
	vmr->access = rights;
	memory.replace(mr->key, region);
	return 0;
}

} // namespace

ibv_pd *alloc_pd(ibv_context *context)
{
	auto pd = std::make_unique<ProtectionDomain>();
	Context &owner = to_context(context);
	pd->place = owner.quotas.pds.take();
	if (!pd->place)
		return fail<ibv_pd>(ENOMEM);
	pd->number = owner.take_handle();
	pd->base.context = context;
	pd->base.handle = pd->number;
	return &pd.release()->base;
}

int dealloc_pd(ibv_pd *pd)
{
	if (!known_in(pd->context, pd))
		return EINVAL;
	auto *object = to_object<ProtectionDomain>(pd);
	if (object->users)
		return EBUSY;
	std::unique_ptr<ProtectionDomain> owned(object);
	return 0;
}

ibv_mr *reg_mr(ibv_pd *pd, void *addr, std::size_t length, std::uint64_t iova, int access)
{
	const auto flags = static_cast<unsigned>(access);
	if (const int error = check_access(flags))
		return fail<ibv_mr>(error);
	const std::uint64_t va = flags & IBV_ACCESS_ZERO_BASED ? 0 : iova;
	if (const int error = check_memory(addr, length, va, access))
		return fail<ibv_mr>(error);
	return add_region(pd, static_cast<std::uint8_t *>(addr), va, length, flags, IBV_MR_TYPE_MR);
}

int rereg_mr(verbs_mr *vmr, int flags, ibv_pd *pd, void *addr, std::size_t length, int access)
{
	const int error = change_region(vmr, flags, pd, addr, length, access);
	if (error)
		errno = error; /* ibv_rereg_mr() only returns that something is wrong */
	return error;
}

int dereg_mr(verbs_mr *vmr)
{
	if (!known_in(vmr->ibv_mr.context, &vmr->ibv_mr))
		return EINVAL;
	auto *object = to_object<MemoryRegion>(vmr);
	Context &context = to_context(vmr->ibv_mr.context);
	{
		/* Every access resolves its key under the lock of its lane: while we hold all, none is under way. */
		const AllLanes held(context);
		if (!context.memory.remove(object->key))
			return EBUSY;
	}
	std::unique_ptr<MemoryRegion> mr(object);
	mr->pd->users--;
	if (mr->dm)
		mr->dm->regions--;
	return 0;
}

ibv_mw *alloc_mw(ibv_pd *pd, ibv_mw_type type)
{
	if (!known_in(pd->context, pd) || (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2))
		return fail<ibv_mw>(EINVAL);
	Context &context = to_context(pd->context);
	auto mw = std::make_unique<MemoryWindow>();
	mw->pd = to_object<ProtectionDomain>(pd);
	mw->place = context.quotas.mws.take();
	context.join_lanes(); /* requests bind windows, and free them */
	if (mw->place) {
		const AllLanes held(context);
		mw->base.rkey = context.memory.add_window(mw->pd->number);
	}
	if (!mw->base.rkey)
		return fail<ibv_mw>(ENOMEM);
	mw->index = mw->base.handle = mw->base.rkey >> 8;
	mw->base.context = pd->context;
	mw->base.pd = pd;
	mw->base.type = type;
	mw->pd->users++;
	return &mw.release()->base;
}

int dealloc_mw(ibv_mw *mw)
{
	if (!known_in(mw->context, mw))
		return EINVAL;
	std::unique_ptr<MemoryWindow> owned(to_object<MemoryWindow>(mw));
	Context &context = to_context(mw->context);
	const AllLanes held(context);
	context.memory.remove(owned->index << 8);
	owned->pd->users--;
	return 0;
}

ibv_dm *alloc_dm(ibv_context *context, ibv_alloc_dm_attr *attr)
{
	if (attr->comp_mask || !attr->length || attr->log_align_req > 12)
		return fail<ibv_dm>(EINVAL);
	if (attr->length > limits::max_dm_size)
		return fail<ibv_dm>(ENOMEM);
	constexpr std::size_t page = 4096;
	auto dm = std::make_unique<DeviceMemory>();
	dm->length = attr->length;
	dm->memory.reset(
		static_cast<std::uint8_t *>(std::aligned_alloc(page, (attr->length + page - 1) / page * page)));
	if (!dm->memory)
		return fail<ibv_dm>(ENOMEM);
	std::fill_n(dm->memory.get(), attr->length, std::uint8_t{0});
	dm->handle = dm->base.handle = to_context(context).take_handle();
	dm->base.dm.context = context;
	dm->base.dm.memcpy_to_dm = [](ibv_dm *to, std::uint64_t offset, const void *from, std::size_t length) {
		std::uint8_t *at = dm_range(to, offset, length);
		if (!at)
			return EINVAL;
		std::memcpy(at, from, length);
		return 0;
	};
	dm->base.dm.memcpy_from_dm = [](void *to, ibv_dm *from, std::uint64_t offset, std::size_t length) {
		const std::uint8_t *at = dm_range(from, offset, length);
		if (!at)
			return EINVAL;
		std::memcpy(to, at, length);
		return 0;
	};
	return &dm.release()->base.dm;
}

int free_dm(ibv_dm *dm)
{
	if (!known_in(dm->context, dm))
		return EINVAL;
	auto *object = to_object<DeviceMemory>(dm);
	if (object->regions)
		return EBUSY;
	std::unique_ptr<DeviceMemory> owned(object);
	return 0;
}

ibv_mr *reg_dm_mr(ibv_pd *pd, ibv_dm *dm, std::uint64_t offset, std::size_t length, unsigned access)
{
	auto *memory = to_object<DeviceMemory>(dm);
	if (const int error = check_access(access))
		return fail<ibv_mr>(error);
	if (!known_in(pd->context, dm) || !(access & IBV_ACCESS_ZERO_BASED))
		return fail<ibv_mr>(EINVAL);
	if (offset > memory->length || length > memory->length - offset)
		return fail<ibv_mr>(EINVAL);
	ibv_mr *mr = add_region(pd, memory->memory.get() + offset, 0, length, access, IBV_MR_TYPE_NULL_MR);
	if (mr) {
		to_object<MemoryRegion>(mr)->dm = memory;
		memory->regions++;
	}
	return mr;
}

} // namespace prism::soft
