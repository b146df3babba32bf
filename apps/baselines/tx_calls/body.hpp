/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The body of a message, after its header: fields in network order and bytes, one after another, unaligned. */
#pragma once

#include "base/wire.hpp"

#include <cstddef>
#include <cstring>
#include <span>

namespace prism::tx
{

/** Reader of a body from a peer that is not trusted: it checks every step. */
class BodyReader
{
public:
	explicit BodyReader(std::span<const std::byte> body) : rest_(body) {}

	[[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
	/** Returns false if the body is too short. */
	template <typename T>
	bool take(T &field) noexcept
	{
		if (rest_.size() < sizeof(T))
			return false;
		field = apps::load<T>(rest_.data());
		rest_ = rest_.subspan(sizeof(T));
		return true;
	}
	bool take(std::size_t size, std::span<const std::byte> &bytes) noexcept
	{
		if (rest_.size() < size)
			return false;
		bytes = rest_.first(size);
		rest_ = rest_.subspan(size);
		return true;
	}

private:
	std::span<const std::byte> rest_;
};

/** Writer of a body, into memory that the caller has made large enough. */
class BodyWriter
{
public:
	explicit BodyWriter(std::byte *to) : begin_(to), at_(to) {}

	template <typename T>
	void put(T field) noexcept
	{
		apps::store(at_, field);
		at_ += sizeof(T);
	}
	void put(std::span<const std::byte> bytes) noexcept
	{
		if (!bytes.empty())
			std::memcpy(at_, bytes.data(), bytes.size());
		at_ += bytes.size();
	}
	/** Leaves room for @p size bytes that the caller writes. */
	std::byte *leave(std::size_t size) noexcept
	{
		std::byte *const left = at_;
		at_ += size;
		return left;
	}
	[[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(at_ - begin_); }
	[[nodiscard]] std::byte *start() const noexcept { return begin_; }

private:
	std::byte *begin_;
	std::byte *at_;
};

} // namespace prism::tx
