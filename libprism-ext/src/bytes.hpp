/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reading and writing of big-endian fields in byte strings. */
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "base/wire.hpp"

namespace prism
{

/** Appends fields to memory that the caller has made large enough. */
class ByteWriter
{
public:
	explicit ByteWriter(std::byte *to) noexcept : next_(to) {}

	template <typename T>
	void put(T value) noexcept
	{
		store(next_, value);
		next_ += sizeof(T);
	}
	void put_bytes(const void *from, std::size_t count) noexcept
	{
		if (count)
			std::memcpy(next_, from, count);
		next_ += count;
	}
	void skip(std::size_t count) noexcept
	{
		std::memset(next_, 0, count);
		next_ += count;
	}

private:
	std::byte *next_;
};

/** Takes fields off bytes of unknown origin. Past the end it returns zeros and remembers the overrun. */
class ByteReader
{
public:
	explicit ByteReader(std::span<const std::byte> from) noexcept : rest_(from) {}

	template <typename T>
	T get() noexcept
	{
		if (!has(sizeof(T)))
			return T{};
		const T value = load<T>(rest_.data());
		rest_ = rest_.subspan(sizeof(T));
		return value;
	}
	void get_bytes(void *to, std::size_t count) noexcept
	{
		if (count == 0 || !has(count))
			return;
		std::memcpy(to, rest_.data(), count);
		rest_ = rest_.subspan(count);
	}
	void skip(std::size_t count) noexcept
	{
		if (has(count))
			rest_ = rest_.subspan(count);
	}

	[[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }
	[[nodiscard]] bool overrun() const noexcept { return short_read_; }

private:
	bool has(std::size_t count) noexcept
	{
		if (count <= rest_.size())
			return true;
		short_read_ = true;
		rest_ = {};
		return false;
	}

	std::span<const std::byte> rest_;
	bool short_read_ = false;
};

} // namespace prism
