/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory that two processes share: a file without a name that neither can shrink under the other. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "../file_descriptor.hpp"

namespace prism::soft
{

/** All of it is there: it is never too late to find out that memory is short. Nothing and errno on failure. */
[[nodiscard]] FileDescriptor create_shared_file(const char *name, std::size_t size);

/** Of exactly @p size bytes, and sealed so that it stays so. Whoever sent it is not trusted. */
[[nodiscard]] bool is_shared_file(int fd, std::size_t size);

/** A whole file, mapped. */
class Mapping
{
public:
	Mapping() = default;
	/** Empty if it cannot be mapped. */
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

/** Tells a process from a child that it makes by fork(), at the price of a load. */
class ForkMark
{
public:
	ForkMark();
	ForkMark(const ForkMark &) = delete;
	ForkMark &operator=(const ForkMark &) = delete;
	~ForkMark();

	/** False if the kernel cannot do it, or there is no memory. */
	explicit operator bool() const { return page_; }
	[[nodiscard]] bool in_child() const { return !*page_; }

private:
	volatile std::uint8_t *page_ = nullptr; /* which a child finds empty */
};

} // namespace prism::soft
