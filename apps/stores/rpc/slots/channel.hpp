/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Calls that clients ALLOCATE, and whose responses they READ through bounded pointers, at the server. */
#pragma once

#include "rpc/protocol/frame.hpp"
#include "rpc/server/channel.hpp"
#include "rpc/server/server_time.hpp"
#include "rpc/slots/layout.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace prism::rpc::slots
{

/** Sizes of a worker's memory for calls. */
struct PoolSizes {
	std::uint32_t slots = 0;     /**< slots of all connections */
	std::uint32_t requests = 0;  /**< buffers for requests that were not executed yet */
	std::uint32_t responses = 0; /**< buffers for responses that were not fetched yet */
	std::uint32_t request_size = 0;
	std::uint32_t response_size = 0;

	[[nodiscard]] std::uint64_t slot_bytes() const noexcept { return std::uint64_t{slots} * slot_size; }
	[[nodiscard]] std::uint64_t request_bytes() const noexcept { return std::uint64_t{requests} * request_size; }
	[[nodiscard]] std::uint64_t response_bytes() const noexcept { return std::uint64_t{responses} * response_size; }
	[[nodiscard]] std::uint64_t bytes() const noexcept { return slot_bytes() + request_bytes() + response_bytes(); }

	static PoolSizes of(const ChannelSizes &sizes, std::uint32_t slots, std::uint32_t buffers) noexcept;
};

/** The memory of one worker's calls. Used by its thread, except where noted. */
class CallPool
{
public:
	using Nanoseconds = std::chrono::nanoseconds;

	/** @p lost_after: see ServerOptions. */
	static Result<std::unique_ptr<CallPool>> create(
		CallDevice &device, const PoolSizes &sizes, Nanoseconds lost_after);

	[[nodiscard]] const CallDevice &device() const noexcept { return device_; }
	[[nodiscard]] const PoolSizes &sizes() const noexcept { return sizes_; }
	[[nodiscard]] FreeListInfo list() const noexcept { return list_->info(); }

	/** Takes @p count slots, zeroed and consecutive; returns nothing if there is no room. Any thread. */
	std::optional<std::uint32_t> take_slots(std::uint32_t count);
	void give_slots(std::uint32_t first, std::uint32_t count);
	[[nodiscard]] std::byte *slot(std::uint32_t index) const noexcept
	{
		return memory_.data() + std::size_t{index} * slot_size;
	}
	[[nodiscard]] RemoteRegion region(std::uint32_t first, std::uint32_t count) const noexcept;

	/** Returns the request of @p bound bytes at @p address; null if no buffer begins there, or it is shorter. */
	[[nodiscard]] const std::byte *request(std::uint64_t address, std::uint32_t bound) const noexcept;
	/** Gives the buffer at @p address, to which no slot points any more, to other requests. */
	void release_request(std::uint64_t address) noexcept { consumed_.push_back(address); }

	/** Returns the device's address of @p place. */
	[[nodiscard]] std::uint64_t address_of(const std::byte *place) const noexcept
	{
		return memory_.address_of(place);
	}
	/** Returns a buffer for a response, or null. */
	std::byte *take_response() noexcept;
	void release_response(std::byte *buffer) noexcept
	{
		responses_.push_back(buffer);
		starving_since_.reset();
	}
	[[nodiscard]] std::size_t free_responses() const noexcept { return responses_.size(); }
	/**
	 * Returns true if requests wait for a buffer, and none was released for so long that its holder must have
	 * stopped.
	 */
	[[nodiscard]] bool stuck() const noexcept { return stuck_; }

	/**
	 * Gives consumed buffers to the list; looks for lost ones if a connection has ended; checks whether those for
	 * responses are stuck.
	 */
	void end_turn() noexcept;
	/** Notes that a connection has ended: a buffer that a request was to come into may be lost. Any thread. */
	void connection_ended() noexcept { suspect_ = true; }

private:
	CallPool(const CallDevice &device, ListedMemory memory, const PoolSizes &sizes, Nanoseconds lost_after);
	void recover() noexcept;
	void look_whether_stuck() noexcept;

	const CallDevice &device_;
	Memory memory_; /* declared first: freed only after the list is gone */
	std::unique_ptr<RequestList> list_;
	const PoolSizes sizes_;
	const Nanoseconds lost_after_;
	const std::uint32_t batch_; /* buffers that are given back together */
	std::vector<std::uint64_t> consumed_;
	std::vector<std::byte *> responses_;
	bool starved_ = false; /* true if a request found no buffer in this turn */
	bool stuck_ = false;
	std::optional<CallDevice::Clock::time_point> starving_since_; /* requests wait, and no buffer was released
								       * since */
	CallDevice::Clock::time_point starved_last_;
	unsigned turns_ = 0; /* turns since the first consumed buffer */
	std::atomic<bool> suspect_{false};
	std::optional<CallDevice::Clock::time_point> marked_at_; /* set while a scan is under way */
	std::mutex places_lock_;
	std::vector<std::uint8_t> used_slots_;
};

class SlotsChannel final : public Channel
{
public:
	/** @p scratch: has room for the longest request. */
	SlotsChannel(std::unique_ptr<Port> port, CallPool &pool, std::vector<std::byte> &scratch,
		const ChannelSizes &sizes, std::uint32_t first, std::uint32_t calls);
	~SlotsChannel() override;

	[[nodiscard]] std::uint32_t number() const noexcept override { return port_->number(); }
	Result<void> connect(const Endpoint &peer) override;
	void take(const Completion &completion, Calls &calls) noexcept override;
	bool look(Calls &calls) noexcept override;
	[[nodiscard]] bool busy() const noexcept override { return false; }
	void keep(KeptResponses &kept) const override;
	void close() noexcept override;

private:
	struct Slot {
		std::uint32_t seq = seq_before(first_seq); /* of the last executed call */
		std::byte *response = nullptr;             /* its response, until it was fetched */
	};

	[[nodiscard]] std::byte *place(std::uint32_t call) const noexcept { return pool_.slot(first_ + call); }
	[[nodiscard]] static bool has_news(const Slot &slot, const std::byte *at) noexcept;
	[[nodiscard]] bool keeps_responses() const noexcept;
	bool look_at(std::uint32_t call, Calls &calls) noexcept;
	void retract(std::uint32_t call) noexcept;
	[[nodiscard]] std::optional<std::uint32_t> load_request(
		const std::byte *buffer, std::uint32_t bound, std::uint32_t seq) noexcept;
	void execute(std::uint32_t call, std::uint32_t seq, std::uint32_t size, Calls &calls) noexcept;

	CallPool &pool_;
	std::vector<std::byte> &scratch_;
	const std::size_t request_size_;
	const std::size_t response_size_;
	const std::uint32_t first_;
	std::vector<Slot> slots_;
	ServerTime time_;
	std::unique_ptr<Port> port_; /* reset before the slots are given to another connection */
};

class SlotsTransport final : public Transport
{
public:
	SlotsTransport(
		CallDevice &device, std::unique_ptr<CallPool> pool, const ChannelSizes &sizes, unsigned access_flags);

	Result<std::unique_ptr<Channel>> open(
		const ConnectionRecord &theirs, std::uint32_t calls, ConnectionRecord &mine) override;
	void discard(const Completion & /*completion*/) noexcept override {}
	[[nodiscard]] bool looks() const noexcept override { return true; }
	void end_turn() noexcept override { pool_->end_turn(); }

private:
	CallDevice &device_;
	std::unique_ptr<CallPool> pool_;
	const ChannelSizes sizes_;
	const unsigned access_;
	std::vector<std::byte> scratch_;
};

} // namespace prism::rpc::slots
