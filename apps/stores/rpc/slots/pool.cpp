/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/slots/channel.hpp"

#include "base/saturating.hpp"
#include "rpc/protocol/shared_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace prism::rpc::slots
{

namespace
{

/* Buffers are given back in batches, as each batch costs the device a grace period, but without much delay. */
constexpr std::uint32_t largest_batch = 16;
constexpr unsigned most_turns = 32;
/* Longest time between two turns of a running worker, naps included */
constexpr auto longest_turn = std::chrono::milliseconds(100);

} // namespace

PoolSizes PoolSizes::of(const ChannelSizes &sizes, std::uint32_t slots, std::uint32_t buffers) noexcept
{
	PoolSizes made;
	made.slots = slots;
	made.requests = buffers;
	made.responses = buffers;
	made.request_size = static_cast<std::uint32_t>(apps::rounded_up(frame_size + sizes.request, 64));
	made.response_size = static_cast<std::uint32_t>(apps::rounded_up(frame_size + sizes.response, 64));
	return made;
}

Result<std::unique_ptr<CallPool>> CallPool::create(CallDevice &device, const PoolSizes &sizes, Nanoseconds lost_after)
{
	Result<ListedMemory> memory = device.allocate_listed(sizes.bytes(),
		{sizes.slot_bytes(), sizes.request_size, sizes.requests}, access::remote_read | access::remote_write);
	if (!memory)
		return memory.error();
	return std::unique_ptr<CallPool>(
		new CallPool(device, *std::move(memory), sizes, lost_after)); /* the constructor is private */
}

CallPool::CallPool(const CallDevice &device, ListedMemory memory, const PoolSizes &sizes, Nanoseconds lost_after)
	: device_(device), memory_(std::move(memory.memory)), list_(std::move(memory.list)), sizes_(sizes),
	  lost_after_(lost_after), batch_(std::clamp(sizes.requests / 8, std::uint32_t{1}, largest_batch)),
	  used_slots_(sizes.slots)
{
	consumed_.reserve(sizes.requests);
	responses_.reserve(sizes.responses);
	std::byte *first = memory_.data() + sizes.slot_bytes() + sizes.request_bytes();
	for (std::uint32_t i = sizes.responses; i-- > 0;)
		responses_.push_back(first + std::size_t{i} * sizes.response_size);
}

std::optional<std::uint32_t> CallPool::take_slots(std::uint32_t count)
{
	const std::lock_guard guard(places_lock_);
	std::uint32_t run = 0;
	for (std::uint32_t i = 0; i < used_slots_.size(); i++) {
		run = used_slots_[i] ? 0 : run + 1;
		if (run < count)
			continue;
		const std::uint32_t first = i + 1 - count;
		std::fill_n(used_slots_.begin() + first, count, std::uint8_t{1});
		for (std::uint32_t j = 0; j < count; j++)
			std::memset(slot(first + j), 0, slot_size);
		return first;
	}
	return std::nullopt;
}

void CallPool::give_slots(std::uint32_t first, std::uint32_t count)
{
	const std::lock_guard guard(places_lock_);
	std::fill_n(used_slots_.begin() + first, count, std::uint8_t{0});
}

RemoteRegion CallPool::region(std::uint32_t first, std::uint32_t count) const noexcept
{
	RemoteRegion all = memory_.remote();
	all.address += std::uint64_t{first} * slot_size;
	all.length = std::uint64_t{count} * slot_size;
	return all;
}

const std::byte *CallPool::request(std::uint64_t address, std::uint32_t bound) const noexcept
{
	const std::uint64_t begin = memory_.remote().address + sizes_.slot_bytes();
	const std::uint64_t offset = address - begin;
	if (address < begin || offset >= sizes_.request_bytes() || offset % sizes_.request_size ||
		bound > sizes_.request_size)
		return nullptr;
	return memory_.data() + sizes_.slot_bytes() + offset;
}

std::byte *CallPool::take_response() noexcept
{
	if (responses_.empty()) {
		starved_ = true;
		return nullptr;
	}
	std::byte *buffer = responses_.back();
	responses_.pop_back();
	return buffer;
}

/*
 * Gives back lost buffers. A client may have overwritten a pointer to its buffer, or have died before there was one. A
 * buffer that no slot has shown for long is lost: requests that came meanwhile were released, and waiting ones are in
 * slots.
 */
void CallPool::recover() noexcept
{
	const auto now = device_.now();
	if (!marked_at_) {
		if (list_->mark()) {
			marked_at_ = now;
			suspect_ = false;
		}
		return;
	}
	if (now - *marked_at_ < lost_after_)
		return;
	marked_at_.reset();
	for (std::uint32_t i = 0; i < sizes_.slots; i++)
		list_->spare(load_acquire(slot(i) + request_offset));
	list_->collect();
}

/*
 * Checks whether requests wait too long for response buffers. A worker that itself stood still, in a stopped process,
 * begins anew: its clients could do nothing.
 */
void CallPool::look_whether_stuck() noexcept
{
	stuck_ = false;
	if (!std::exchange(starved_, false)) {
		starving_since_.reset();
		return;
	}
	const auto now = device_.now();
	if (now - std::exchange(starved_last_, now) > longest_turn || !starving_since_)
		starving_since_ = now;
	/* Half of it, as waiting clients have 10 s of patience, too. */
	stuck_ = now - *starving_since_ > lost_after_ / 2;
}

void CallPool::end_turn() noexcept
{
	look_whether_stuck();
	if (consumed_.empty()) {
		if (suspect_ || marked_at_)
			recover();
		return;
	}
	if (consumed_.size() < batch_ && ++turns_ < most_turns)
		return; /* wait for more */
	turns_ = 0;
	list_->give_back(consumed_);
	consumed_.clear();
}

} // namespace prism::rpc::slots
