/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "base/recent_clock.hpp"
#include "rpc/device/call_device.hpp"
#include "rpc/server/receive_pool.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace prism::rpc
{

class VerbsReceivePool final : public ReceivePool
{
public:
	/**
	 * Makes @p count buffers of @p size bytes, all posted. Errors: those of Buffer::create() and ibv_create_srq(3).
	 */
	static Result<std::unique_ptr<VerbsReceivePool>> create(
		const ProtectionDomain &pd, std::size_t size, std::uint32_t count);

	[[nodiscard]] ibv_srq *queue() const noexcept { return handle_.get(); }
	int post(std::span<const std::uint32_t> buffers) noexcept override;

private:
	struct Destroy {
		void operator()(ibv_srq *srq) const noexcept { ibv_destroy_srq(srq); }
	};

	VerbsReceivePool(Memory memory, ibv_srq *srq, std::size_t size, std::uint32_t count)
		: ReceivePool(std::move(memory), size, count), handle_(srq)
	{
	}

	std::unique_ptr<ibv_srq, Destroy> handle_;
};

class VerbsCallDevice final : public CallDevice
{
public:
	/** @p pool: for ports with shared receives; may be null. */
	VerbsCallDevice(ProtectionDomain pd, CompletionQueue cq, const VerbsReceivePool *pool)
		: pd_(std::move(pd)), cq_(std::move(cq)), pool_(pool)
	{
	}

	/* CallDevice */
	Result<Memory> allocate(std::size_t length, unsigned access_flags) override;
	Result<Memory> adopt(std::shared_ptr<std::byte> pages, std::size_t length, unsigned access_flags) override;
	Result<ListedMemory> allocate_listed(
		std::size_t length, const ListShape &shape, unsigned access_flags) override;
	Result<std::unique_ptr<Port>> open(const PortOptions &options) override;
	int poll(std::span<Completion> completions) noexcept override { return cq_.poll(completions); }
	/** Arms the queue, which hands a userspace device over to its engine thread; otherwise it waits for poll(). */
	void leave_alone() noexcept override { (void)ibv_req_notify_cq(cq_.raw(), 0); }
	[[nodiscard]] Clock::time_point now() const noexcept override { return RecentClock::now(); }

private:
	ProtectionDomain pd_;
	CompletionQueue cq_;
	const VerbsReceivePool *pool_;
};

} // namespace prism::rpc
