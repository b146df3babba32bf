/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "target_memory.hpp"

#include <array>
#include <cstring>
#include <new>

#include "user_memory.hpp"

namespace prism::soft
{

namespace
{

TargetMemory &self(void *ctx)
{
	return *static_cast<TargetMemory *>(ctx);
}

std::uint8_t *address(const prism_span *span, u32 offset)
{
	return static_cast<std::uint8_t *>(span->region) + offset;
}

std::uint32_t access_for(std::uint32_t rights)
{
	static_assert(PRISM_RIGHT_READ == 1 && PRISM_RIGHT_WRITE == 2 && PRISM_RIGHT_ATOMIC == 4);
	static constexpr std::uint8_t read = access_remote_read, write = access_remote_write,
				      atomic = access_remote_atomic;
	static constexpr std::array<std::uint8_t, 8> by_rights{
		0, read, write, read | write, atomic, read | atomic, write | atomic, read | write | atomic};
	return by_rights[rights];
}

} // namespace

const prism_env TargetMemory::env = {get, put, load, store, copy, lock, unlock, pop, give_back};

std::uint8_t *TargetMemory::resolve(std::uint32_t rkey, std::uint64_t va, std::uint32_t length, std::uint32_t rights)
{
	resolved_ = engine_.memory.resolve(rkey, va, length, access_for(rights), qp_.pd, qp_.qpn);
	return resolved_;
}

bool TargetMemory::get(void *ctx, u32 rkey, u64 va, u32 length, u32 rights, prism_span *span)
{
	*span = {nullptr, va, length};
	if (!length)
		return true;
	span->region = self(ctx).resolve(rkey, va, length, rights);
	return span->region;
}

/** Loads from memory. Missing memory reads as zeros, which are null pointers; after that nothing is written any more
 * that may depend on it. */
void TargetMemory::load(void *ctx, const prism_span *span, u32 offset, void *to, u32 length)
{
	if (!length || (!self(ctx).faulted_ && self(ctx).engine_.load(to, address(span, offset), length)))
		return;
	std::memset(to, 0, length);
	self(ctx).faulted_ = true;
}

void TargetMemory::store(void *ctx, const prism_span *span, u32 offset, const void *from, u32 length)
{
	if (length && !self(ctx).faulted_ && !self(ctx).engine_.store(address(span, offset), from, length))
		self(ctx).faulted_ = true;
}

void TargetMemory::copy(void *ctx, const prism_span *to, const prism_span *from, u32 length)
{
	if (!self(ctx).faulted_ &&
		!self(ctx).engine_.intact(copy_within_user(address(to, 0), address(from, 0), length)))
		self(ctx).faulted_ = true;
}

void TargetMemory::lock(void *, const prism_span *span, u32 offset, u32 length)
{
	BlockLocks::instance().lock(address(span, offset), length);
}

void TargetMemory::unlock(void *, const prism_span *span, u32 offset, u32 length)
{
	BlockLocks::instance().unlock(address(span, offset), length);
}

prism_pop TargetMemory::pop(void *ctx, u32 free_list, u32 length, prism_buffer *buffer)
try {
	const prism_pop popped = self(ctx).engine_.pop_buffer(self(ctx).qp_, free_list, length, *buffer);
	if (popped == PRISM_POP_OK)
		self(ctx).taken_ = *buffer;
	return popped;
} catch (const std::bad_alloc &) {
	return PRISM_POP_EMPTY; /* C calls this */
}

void TargetMemory::give_back(void *ctx, prism_buffer *buffer)
{
	self(ctx).engine_.give_back(*buffer);
}

} // namespace prism::soft
