/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "rpc/shared_memory.hpp"

#include <prism/prism.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace prism::rpc::window
{

/** Two bounded pointers and a ring that is mapped twice, one behind the other, in one region. */
class Ring
{
public:
	Ring(Ring &&) = default;
	Ring &operator=(Ring &&) = delete; /* members would go in the wrong order */

	/** @p size: of the ring, a multiple of page_size(). Errors: ENOMEM and others of mmap(2), those of
	 * ibv_reg_mr(3). */
	static Result<Ring> create(const ProtectionDomain &pd, std::uint64_t size);
	static std::size_t page_size() noexcept;

	[[nodiscard]] std::uint64_t size() const noexcept { return size_; }
	/** Byte @p position of the stream, and as many as the ring has behind it. */
	[[nodiscard]] std::byte *at(std::uint64_t position) const noexcept
	{
		return mapping_.get() + page_size() + position % size_;
	}
	/** The bounded pointer of @p epoch. */
	[[nodiscard]] prismdv_bounded_ptr *pointer(std::uint32_t epoch) const noexcept
	{
		return pointer_at(mapping_.get() + epoch % 2 * sizeof(prismdv_bounded_ptr));
	}
	/** Where the pointers are, and the size of the ring. */
	[[nodiscard]] RemoteRegion told() const noexcept
	{
		return {registration_.address(), size_, registration_.rkey()};
	}

private:
	struct Unmap {
		std::size_t length = 0;
		void operator()(std::byte *pages) const noexcept;
	};
	using Mapping = std::unique_ptr<std::byte, Unmap>;

	Ring(Mapping mapping, MemoryRegion region, std::uint64_t size)
		: mapping_(std::move(mapping)), registration_(std::move(region)), size_(size)
	{
	}

	Mapping mapping_; /* declared first: unmapped only after the registration is gone */
	MemoryRegion registration_;
	std::uint64_t size_;
};

} // namespace prism::rpc::window
