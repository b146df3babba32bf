/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory that two processes share: a file without a name that neither can shrink while the other uses it. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "../file_descriptor.hpp"

namespace prism::soft
{

/** Creates a shared file with all its memory allocated: a shortage shows here, not later. Returns nothing and errno
 * on failure. */
[[nodiscard]] FileDescriptor create_shared_file(const char *name, std::size_t size);

/** Returns true if the file has exactly @p size bytes, and is sealed so that it keeps them. The sender is not
 * trusted. */
[[nodiscard]] bool is_shared_file(int fd, std::size_t size);

/** A mapping of a whole file. */
class Mapping
{
public:
	Mapping() = default;
	/** Maps the file; the mapping is empty on failure. */
	Mapping(int fd, std::size_t size);
	Mapping(Mapping &&other) noexcept : start_(std::exchange(other.start_, nullptr)), size_(other.size_) {}
	Mapping(const Mapping &) = delete;
	Mapping &operator=(Mapping other) noexcept
	{
		std::swap(start_, other.start_);
		std::swap(size_, other.size_);
		return *this;
	}
	~Mapping();

	[[nodiscard]] std::uint8_t *get() const { return start_; }
	explicit operator bool() const { return start_; }

private:
	std::uint8_t *start_ = nullptr;
	std::size_t size_ = 0;
};

/** Tells a process from a child that it makes by fork(), at the cost of a load. */
class ForkMark
{
public:
	ForkMark();
	ForkMark(const ForkMark &) = delete;
	ForkMark &operator=(const ForkMark &) = delete;
	~ForkMark();

	/** Returns false if the kernel cannot do it, or there is no memory. */
	explicit operator bool() const { return page_; }
	[[nodiscard]] bool in_child() const { return !*page_; }

private:
	volatile std::uint8_t *page_ = nullptr; /* a child finds it zeroed */
};

} // namespace prism::soft
