/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory that the module shares with us, and the queues in it (prism_abi.h). */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "prism_abi.h"

namespace prism::uverbs
{

class Mapping
{
public:
	Mapping() = default;
	Mapping(Mapping &&other) noexcept;
	Mapping &operator=(Mapping &&other) noexcept;
	~Mapping();

	/** Maps the memory that a create call's answer describes. Returns 0 or an errno. */
	int map(int cmd_fd, const prism_abi_mmap &where, bool writable);

	[[nodiscard]] std::byte *data() const { return data_; }
	[[nodiscard]] std::size_t size() const { return size_; }

private:
	std::byte *data_ = nullptr;
	std::size_t size_ = 0;
};

/** A queue in such memory. The caller serialises all calls of one side. Without a mapping it is empty and full at
 * once. */
class SharedQueue
{
public:
	/** Maps the queue; entries must have at least @p min_entry bytes. Returns 0 or an errno: EPROTO if the
	 * module's answer does not fit. */
	int map(int cmd_fd, const prism_abi_mmap &where, std::size_t min_entry);

	[[nodiscard]] std::uint32_t mask() const { return mask_; }
	[[nodiscard]] std::size_t entry_size() const { return std::size_t{1} << log2_entry_size_; }
	[[nodiscard]] std::byte *entry(std::uint32_t index) const
	{
		return entries_ + (std::size_t{index & mask_} << log2_entry_size_);
	}

	/* Each side reads its own index as it left it, and the other's index with all that was written before it. */
	[[nodiscard]] std::uint32_t own_producer() const { return load(producer_, std::memory_order_relaxed); }
	[[nodiscard]] std::uint32_t own_consumer() const { return load(consumer_, std::memory_order_relaxed); }
	[[nodiscard]] std::uint32_t their_producer() const { return load(producer_, std::memory_order_acquire); }
	[[nodiscard]] std::uint32_t their_consumer() const { return load(consumer_, std::memory_order_acquire); }
	void set_producer(std::uint32_t index) const { store(producer_, index & mask_); }
	void set_consumer(std::uint32_t index) const { store(consumer_, index & mask_); }

	/** Returns, for the producer, the number of entries that still fit after those filled up to before @p
	 * producer. */
	[[nodiscard]] std::uint32_t room(std::uint32_t producer) const
	{
		return (their_consumer() - 1 - producer) & mask_;
	}

private:
	static std::uint32_t load(__u32 *index, std::memory_order order) { return std::atomic_ref(*index).load(order); }
	static void store(__u32 *index, std::uint32_t value)
	{
		std::atomic_ref(*index).store(value, std::memory_order_release);
	}

	Mapping mapping_;
	std::byte *entries_ = nullptr;
	std::uint32_t mask_ = 0;
	std::uint32_t log2_entry_size_ = 0;
	__u32 *producer_ = &none_;
	__u32 *consumer_ = &none_;
	static inline __u32 none_ = 0;
};

} // namespace prism::uverbs
