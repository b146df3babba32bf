/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "service/extent_arena.hpp"

#include <algorithm>
#include <bit>

namespace prism::apps
{

ExtentArena::ExtentArena(std::size_t length, Clock::duration rest)
	: granules_(std::min<std::uint64_t>(length / granule, none)),
	  rest_time_(static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(
		  std::min<Clock::duration>(rest, std::chrono::minutes(30)))
							.count())),
	  freed_(granules_)
{
}

std::size_t ExtentArena::class_of(std::size_t bytes) noexcept
{
	const std::size_t wanted = std::max<std::size_t>(1, (bytes + granule - 1) / granule);
	if (wanted <= 2)
		return wanted - 1;
	/* One size class lies between 2^k and 2^(k+1). */
	const auto log = static_cast<std::size_t>(std::bit_width(wanted - 1)) - 1;
	const std::size_t middle = std::size_t{3} << (log - 1);
	return 2 * log + (wanted > middle ? 1 : 0);
}

std::uint64_t ExtentArena::granules_of(std::size_t size_class) noexcept
{
	if (size_class < 2)
		return size_class + 1;
	const std::size_t log = size_class / 2;
	return size_class % 2 ? std::uint64_t{2} << log : std::uint64_t{3} << (log - 1);
}

std::uint32_t ExtentArena::now() const noexcept
{
	if (rest_time_ == 0)
		return 0;
	return static_cast<std::uint32_t>(
		std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch()).count());
}

bool ExtentArena::rested(const Queue &queue) const noexcept
{
	return queue.head != none && (rest_time_ == 0 || now() - freed_[queue.head].since >= rest_time_);
}

std::uint64_t ExtentArena::pop(Queue &queue) noexcept
{
	const std::uint32_t index = queue.head;
	queue.head = freed_[index].next;
	if (queue.head == none)
		queue.tail = none;
	used_++;
	return std::uint64_t{index} * granule;
}

std::optional<std::uint64_t> ExtentArena::allocate(std::size_t bytes) noexcept
{
	const std::size_t size_class = class_of(bytes);
	const std::uint64_t wanted = granules_of(size_class);
	const std::lock_guard guard(lock_);
	Queue &queue = queues_[size_class];
	if (rested(queue))
		return pop(queue);
	if (wanted <= granules_ - fresh_) {
		const std::uint64_t offset = fresh_ * granule;
		fresh_ += wanted;
		used_++;
		return offset;
	}
	if (queue.head == none)
		return std::nullopt;
	early_++;
	return pop(queue);
}

void ExtentArena::free(std::uint64_t offset, std::size_t bytes) noexcept
{
	const auto index = static_cast<std::uint32_t>(offset / granule);
	Queue &queue = queues_[class_of(bytes)];
	const std::lock_guard guard(lock_);
	freed_[index] = {none, now()};
	if (queue.tail == none)
		queue.head = index;
	else
		freed_[queue.tail].next = index;
	queue.tail = index;
	used_--;
}

std::uint64_t ExtentArena::in_use() const noexcept
{
	const std::lock_guard guard(lock_);
	return used_;
}

std::uint64_t ExtentArena::hurried() const noexcept
{
	const std::lock_guard guard(lock_);
	return early_;
}

} // namespace prism::apps
