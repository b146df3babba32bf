/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The receive buffers of all connections whose requests come as messages: one shared receive queue. */
#pragma once

#include "rpc/device/call_device.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace prism::rpc
{

class ReceivePool
{
public:
	virtual ~ReceivePool() = default;
	ReceivePool(const ReceivePool &) = delete;
	ReceivePool &operator=(const ReceivePool &) = delete;

	[[nodiscard]] std::uint32_t count() const noexcept { return count_; }
	[[nodiscard]] std::span<const std::byte> message(std::uint32_t buffer, std::uint32_t length) const noexcept
	{
		return {memory_.data() + buffer * size_, length};
	}
	/** Posts @p buffers again. Returns 0 or errno. Any thread. */
	virtual int post(std::span<const std::uint32_t> buffers) noexcept = 0;

protected:
	/** @p count buffers of @p size bytes. */
	ReceivePool(Memory memory, std::size_t size, std::uint32_t count)
		: memory_(std::move(memory)), size_(size), count_(count)
	{
	}
	[[nodiscard]] LocalSlice slice(std::uint32_t buffer) const noexcept
	{
		return memory_.slice(buffer * size_, static_cast<std::uint32_t>(size_));
	}

private:
	Memory memory_; /* freed only after the queue of derived classes is gone */
	std::size_t size_;
	std::uint32_t count_;
};

} // namespace prism::rpc
