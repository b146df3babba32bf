/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Regions and windows: the memory that a key names, and the accesses that it allows (IBTA 10.6). */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../../verbs/work_request.hpp"
#include "base/spin_lock.hpp"

namespace prism::soft
{

/** Calls @p visit with the pieces, in order, of @p length bytes behind @p offset in the memory that @p sges name: an
 * sge, an offset in it and a length. Returns false as soon as it does. */
template <typename Visit>
bool visit_pieces(std::span<const Sge> sges, std::uint32_t offset, std::uint32_t length, const Visit &visit)
{
	for (const Sge &sge : sges) {
		if (!length)
			break;
		const std::uint32_t n = std::min(length, sge.length - std::min(offset, sge.length));
		if (n && !visit(sge, offset, n))
			return false;
		length -= n;
		offset -= std::min(offset, sge.length);
	}
	return true;
}

/** Rights of a region; the values are ibv_access_flags. */
enum Access : std::uint32_t {
	access_local_write = 1 << 0,
	access_remote_write = 1 << 1,
	access_remote_read = 1 << 2,
	access_remote_atomic = 1 << 3,
	access_mw_bind = 1 << 4,
	access_zero_based = 1 << 5,
};

/* One cache line, so that a key finds its region without a multiplication. */
struct alignas(64) Region {
	std::uint8_t *base = nullptr; /* address of byte `va` in this process */
	std::uint64_t va = 0;
	std::uint64_t length = 0;
	std::uint32_t access = 0;
	std::uint32_t pd = 0;
	std::uint32_t key = 0;
	std::uint32_t qpn = 0;    /* window of type 2B: the only QP that it serves, else 0 */
	std::uint32_t parent = 0; /* window: key of the region beneath */
	bool window = false;
	bool valid = false;        /* false for an unbound window */
	std::uint32_t windows = 0; /* region: bound windows */
};

/**
 * Table of all keys of one device context. lkey and rkey are one number: the index of the entry and 8 bits that change
 * with each use of the entry. The caller serialises all calls.
 */
class MemoryTable
{
public:
	MemoryTable();

	/** Returns the key, or 0 when the table is full. */
	std::uint32_t add_region(
		std::uint8_t *base, std::uint64_t va, std::uint64_t length, std::uint32_t access, std::uint32_t pd);
	/** Adds a window that is not bound yet. */
	std::uint32_t add_window(std::uint32_t pd);
	/** Returns false if windows are still bound to the region. */
	bool remove(std::uint32_t key);

	/** Replaces a region's contents (ibv_rereg_mr); peers keep the key, as with the kernel's devices. */
	void replace(std::uint32_t key, const Region &contents);

	/** Binds a window to part of a region, for a QP of @p pd; length 0 unbinds one of type 1. Returns 0 or
	 * errno. */
	int bind_window(const WindowBinding &bind, std::uint32_t pd);
	/** Invalidates a window bound to @p qpn (SEND with invalidate, LOCAL_INV). */
	bool invalidate(std::uint32_t key, std::uint32_t pd, std::uint32_t qpn);
	/** Frees the windows bound to @p qpn, which is gone. */
	void unbind_all(std::uint32_t qpn);

	[[nodiscard]] const Region *find(std::uint32_t key) const
	{
		const std::uint32_t index = key >> 8;
		if (index >= entries_.size())
			return nullptr;
		const Region &region = entries_[index];
		return region.valid && region.key == key ? &region : nullptr;
	}

	/**
	 * Returns the address of [va, va + length) if @p key names it, in @p pd, with all of @p access; else nullptr.
	 * @p qpn: the QP on whose behalf a peer asks (0: a local access).
	 */
	[[nodiscard]] std::uint8_t *resolve(std::uint32_t key, std::uint64_t va, std::uint64_t length,
		std::uint32_t access, std::uint32_t pd, std::uint32_t qpn = 0) const
	{
		const Region *region = find(key);
		if (!region || region->pd != pd || (region->access & access) != access)
			return nullptr;
		if (region->qpn && region->qpn != qpn)
			return nullptr;
		if (va < region->va || length > region->length || va - region->va > region->length - length)
			return nullptr;
		return region->base + (va - region->va);
	}

private:
	std::uint32_t take_index();
	std::uint32_t insert(const Region &region);
	void unbind(Region &window);
	[[nodiscard]] bool may_bind(const Region &window, const WindowBinding &bind, std::uint32_t pd) const;

	std::vector<Region> entries_;
	std::vector<std::uint32_t> free_;
	std::vector<std::uint8_t> generation_;
	std::uint32_t bound_to_qps_ = 0; /* windows; mostly 0, so there is nothing to search */
};

/**
 * Locks for the 32-byte blocks of this process's memory, one for each group of blocks. Shared by all contexts of the
 * process, as atomics are atomic for the whole device. Blocks are counted in this process's addresses: two regions with
 * different offsets to the same memory use the same locks.
 */
class BlockLocks
{
public:
	/** Locks at most 32 bytes; in a region with an odd offset they may straddle two blocks. */
	void lock(const void *address, std::uint32_t length);
	void unlock(const void *address, std::uint32_t length);

	static BlockLocks &instance();

private:
	struct alignas(64) Slot {
		SpinLock lock;
	};

	static constexpr std::size_t count = 64;
	static std::size_t index(const void *address, std::uint32_t offset)
	{
		return (reinterpret_cast<std::uintptr_t>(address) + offset) / 32 % count;
	}

	Slot slots_[count];
};

} // namespace prism::soft
