/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The receive buffers of all connections whose requests come as messages: one shared receive queue. */
#pragma once

#include <prism/prism.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace prism::rpc
{

class ReceivePool
{
public:
	/** @p count buffers of @p size bytes, all posted. Errors: those of Buffer::create() and ibv_create_srq(3). */
	static Result<std::unique_ptr<ReceivePool>> create(
		const ProtectionDomain &pd, std::size_t size, std::uint32_t count);

	[[nodiscard]] ibv_srq *queue() const noexcept { return handle_.get(); }
	[[nodiscard]] std::uint32_t count() const noexcept { return count_; }
	[[nodiscard]] std::span<const std::byte> message(std::uint32_t buffer, std::uint32_t length) const noexcept
	{
		return {memory_.data() + buffer * size_, length};
	}
	/** Posts @p buffers again. 0 or errno. Any thread. */
	int post(std::span<const std::uint32_t> buffers) noexcept;

private:
	struct Destroy {
		void operator()(ibv_srq *srq) const noexcept { ibv_destroy_srq(srq); }
	};

	ReceivePool(Buffer memory, ibv_srq *srq, std::size_t size, std::uint32_t count)
		: memory_(std::move(memory)), handle_(srq), size_(size), count_(count)
	{
	}

	Buffer memory_; /* declared first: freed only after the queue is gone */
	std::unique_ptr<ibv_srq, Destroy> handle_;
	std::size_t size_;
	std::uint32_t count_;
};

} // namespace prism::rpc
