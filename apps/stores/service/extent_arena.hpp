/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory for the contents of stores: extents of fixed size classes, cut from one piece of memory. An extent stays in
 * its class, so that no work is ever needed to join pieces.
 */
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace prism::apps
{

/** Hands out offsets into memory that it never touches. Thread-safe; allocates nothing after construction. */
class ExtentArena
{
public:
	using Clock = std::chrono::steady_clock;

	/**
	 * Manages @p length bytes of memory. A freed extent rests for @p rest, at most half an hour, before it is
	 * handed out again, unless there is no other.
	 */
	explicit ExtentArena(std::size_t length, Clock::duration rest = Clock::duration::zero());

	/** Returns the offset of at least @p bytes, a multiple of 64, or nothing. 0 bytes count as 1. */
	std::optional<std::uint64_t> allocate(std::size_t bytes) noexcept;

	/** Takes back an extent of allocate(), with the same number of bytes. */
	void free(std::uint64_t offset, std::size_t bytes) noexcept;

	/** Returns the number of extents handed out. */
	[[nodiscard]] std::uint64_t in_use() const noexcept;
	/** Returns the number of extents handed out again before their rest was over, as there was no other. */
	[[nodiscard]] std::uint64_t hurried() const noexcept;

private:
	static constexpr std::size_t granule = 64;
	static constexpr std::uint32_t none = ~std::uint32_t{0};
	static constexpr std::size_t classes = 64;

	/* Freed extents, oldest first. */
	struct Queue {
		std::uint32_t head = none;
		std::uint32_t tail = none;
	};

	/* Sizes in granules: 1, 2, 3, 4, 6, 8, 12, 16, 24 ... */
	static std::size_t class_of(std::size_t bytes) noexcept;
	static std::uint64_t granules_of(std::size_t size_class) noexcept;
	std::uint32_t now() const noexcept;
	bool rested(const Queue &queue) const noexcept;
	std::uint64_t pop(Queue &queue) noexcept;

	struct Freed {
		std::uint32_t next = none;
		std::uint32_t since = 0; /* microseconds, modulo 2^32 */
	};

	std::uint64_t granules_;
	std::uint32_t rest_time_; /* microseconds */
	mutable std::mutex lock_;
	std::uint64_t fresh_ = 0; /* granules cut so far */
	std::array<Queue, classes> queues_;
	std::vector<Freed> freed_; /* one for each granule; only that of an extent's first granule is used */
	std::uint64_t used_ = 0;
	std::uint64_t early_ = 0;
};

} // namespace prism::apps
