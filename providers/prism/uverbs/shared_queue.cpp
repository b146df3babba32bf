/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "shared_queue.hpp"

#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <utility>

#include "responses.hpp"

namespace prism::uverbs
{

Mapping::Mapping(Mapping &&other) noexcept
	: data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0))
{
}

Mapping &Mapping::operator=(Mapping &&other) noexcept
{
	std::swap(data_, other.data_);
	std::swap(size_, other.size_);
	return *this;
}

Mapping::~Mapping()
{
	if (data_)
		munmap(data_, size_);
}

int Mapping::map(int cmd_fd, const prism_abi_mmap &where, bool writable)
{
	if (!where.size || !understood(where))
		return EPROTO;
	void *memory = mmap(nullptr, where.size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, cmd_fd,
		static_cast<off_t>(where.offset));
	if (memory == MAP_FAILED)
		return errno;
	Mapping mapping;
	mapping.data_ = static_cast<std::byte *>(memory);
	mapping.size_ = where.size;
	std::swap(data_, mapping.data_);
	std::swap(size_, mapping.size_);
	return 0;
}

int SharedQueue::map(int cmd_fd, const prism_abi_mmap &where, std::size_t min_entry)
{
	constexpr std::uint32_t max_log2_entry = 20;
	constexpr std::size_t header = offsetof(prism_abi_queue, data);
	Mapping mapping;
	if (const int error = mapping.map(cmd_fd, where, true))
		return error;
	if (mapping.size() < header)
		return EPROTO;
	auto *queue = reinterpret_cast<prism_abi_queue *>(mapping.data());
	const std::uint32_t log2_entry = queue->log2_entry_size, mask = queue->index_mask;
	if (log2_entry > max_log2_entry || !std::has_single_bit(std::uint64_t{mask} + 1) ||
		(std::size_t{1} << log2_entry) < min_entry ||
		(std::uint64_t{mask} + 1) << log2_entry > mapping.size() - header)
		return EPROTO;
	mapping_ = std::move(mapping);
	entries_ = mapping_.data() + header;
	mask_ = mask;
	log2_entry_size_ = log2_entry;
	producer_ = &queue->producer_index;
	consumer_ = &queue->consumer_index;
	return 0;
}

} // namespace prism::uverbs
