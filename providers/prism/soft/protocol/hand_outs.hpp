/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The buffers that the free lists of a process have handed out lately: a READ that was resolved before must not read
 * them any more. Thread-safe.
 */
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace prism::soft
{

class HandOuts
{
public:
	void add(const std::uint8_t *at, std::uint32_t length)
	{
		const std::scoped_lock guard(lock_);
		latest_[count_ % latest_.size()] = {at, length};
		count_++;
	}

	/** Returns the number of buffers handed out so far. */
	[[nodiscard]] std::uint64_t count() const { return count_; }

	/** Returns true if more than the first @p since were handed out. A reader that has seen a new owner's data
	 * sees this too. */
	[[nodiscard]] bool changed(std::uint64_t since)
	{
		/* Use a write, which changes nothing: earlier reads cannot be moved behind it. */
		return count_.fetch_add(0, std::memory_order_acq_rel) != since;
	}

	/**
	 * Returns true if a part of the range was handed out after the first @p since, or if that is too long ago to
	 * know. Else sets @p since to the number up to now.
	 */
	[[nodiscard]] bool overlaps(std::uint64_t &since, const std::uint8_t *at, std::uint32_t length)
	{
		const std::scoped_lock guard(lock_);
		if (count_ - since > latest_.size())
			return true;
		for (std::uint64_t i = since; i != count_; i++) {
			const Buffer &buffer = latest_[i % latest_.size()];
			if (at < buffer.at + buffer.length && buffer.at < at + length)
				return true;
		}
		since = count_;
		return false;
	}

private:
	struct Buffer {
		const std::uint8_t *at;
		std::uint32_t length;
	};
	static constexpr std::size_t remembered = 4096;

	std::mutex lock_;
	std::array<Buffer, remembered> latest_{};
	std::atomic<std::uint64_t> count_{0};
};

} // namespace prism::soft
