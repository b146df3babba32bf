/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The executor's view of this device: prism_env over the key table and the free lists. */
#pragma once

#include "engine.hpp"

namespace prism::soft
{

class TargetMemory
{
public:
	TargetMemory(Engine &engine, const QueuePair &qp) : engine_(engine), qp_(qp) {}

	static const prism_env env;
	/** Context for env's functions. */
	void *context() { return this; }

	/** Returns true if memory that a key allows was missing: the application has unmapped it. */
	[[nodiscard]] bool faulted() const { return faulted_; }

	/** Buffer last taken from a free list. */
	[[nodiscard]] const prism_buffer &taken() const { return taken_; }

	/** Address of the range last resolved: of its data, after a READ that returns data. */
	[[nodiscard]] std::uint8_t *resolved() const { return resolved_; }

	/** Returns the address of a range that a peer names, or nullptr. */
	std::uint8_t *resolve(std::uint32_t rkey, std::uint64_t va, std::uint32_t length, std::uint32_t rights);

private:
	static bool get(void *ctx, u32 rkey, u64 va, u32 length, u32 rights, prism_span *span);
	static void put(void *, prism_span *) {}
	static void load(void *ctx, const prism_span *span, u32 offset, void *to, u32 length);
	static void store(void *ctx, const prism_span *span, u32 offset, const void *from, u32 length);
	static void copy(void *ctx, const prism_span *to, const prism_span *from, u32 length);
	static void lock(void *ctx, const prism_span *span, u32 offset, u32 length);
	static void unlock(void *ctx, const prism_span *span, u32 offset, u32 length);
	static prism_pop pop(void *ctx, u32 free_list, u32 length, prism_buffer *buffer);
	static void give_back(void *ctx, prism_buffer *buffer);

	Engine &engine_;
	const QueuePair &qp_;
	bool faulted_ = false;
	std::uint8_t *resolved_ = nullptr;
	prism_buffer taken_{};
};

} // namespace prism::soft
