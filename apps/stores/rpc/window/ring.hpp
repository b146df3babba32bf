/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "rpc/device/call_device.hpp"
#include "rpc/protocol/shared_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace prism::rpc::window
{

/** Two bounded pointers and a ring that is mapped twice, one behind the other, in one region. */
class Ring
{
public:
	/**
	 * @p size: of the ring, a multiple of page_size(). Errors: ENOMEM and others of mmap(2), those of
	 * ibv_reg_mr(3).
	 */
	static Result<Ring> create(CallDevice &device, std::uint64_t size);
	static std::size_t page_size() noexcept;

	[[nodiscard]] std::uint64_t size() const noexcept { return size_; }
	/** Returns byte @p position of the stream, with the bytes that the ring has after it. */
	[[nodiscard]] std::byte *at(std::uint64_t position) const noexcept
	{
		return memory_.data() + page_size() + position % size_;
	}
	/** Likewise, as the device's address. */
	[[nodiscard]] std::uint64_t address(std::uint64_t position) const noexcept
	{
		return memory_.address_of(at(position));
	}
	/** Returns the bounded pointer of @p epoch. */
	[[nodiscard]] prismdv_bounded_ptr *pointer(std::uint32_t epoch) const noexcept
	{
		return pointer_at(memory_.data() + epoch % 2 * sizeof(prismdv_bounded_ptr));
	}
	/** Returns the address of the pointers, and the size of the ring. */
	[[nodiscard]] RemoteRegion told() const noexcept
	{
		return {memory_.remote().address, size_, memory_.remote().rkey};
	}

private:
	Ring(Memory memory, std::uint64_t size) : memory_(std::move(memory)), size_(size) {}

	Memory memory_;
	std::uint64_t size_;
};

} // namespace prism::rpc::window
