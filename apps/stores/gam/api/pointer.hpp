/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "gam/api/session.hpp"

namespace prism::gam
{

/**
 * The global address of a T, or of an array of them. A value: it may itself lie in global memory. Its methods act
 * through a Session and return the session's errors.
 */
template <typename T>
class Pointer
{
	static_assert(std::is_trivially_copyable_v<T>, "nodes copy its bytes");

public:
	constexpr Pointer() noexcept = default;
	constexpr explicit Pointer(Address address) noexcept : address_(address) {}

	/** Allocates @p count objects, zeroed. Errors: those of Session::malloc(). */
	static int allocate(Session &session, std::size_t count, Pointer &pointer, const Placement &where = {})
	{
		Address address;
		const int error = count > SIZE_MAX / sizeof(T) ? ENOMEM
							       : session.malloc(count * sizeof(T), address, where,
									 std::max<std::size_t>(alignof(T), 16));
		pointer = Pointer(address);
		return error;
	}

	[[nodiscard]] constexpr Address address() const noexcept { return address_; }
	[[nodiscard]] constexpr bool is_null() const noexcept { return address_.is_null(); }
	[[nodiscard]] constexpr Pointer operator+(std::uint64_t count) const noexcept
	{
		return Pointer(address_ + count * sizeof(T));
	}

	int read(Session &session, T &value) const { return session.read(address_, bytes_of(value)); }
	int write(Session &session, const T &value) const { return session.write(address_, bytes_of(value)); }
	int rlock(Session &session) const { return session.rlock(address_, sizeof(T)); }
	int wlock(Session &session) const { return session.wlock(address_, sizeof(T)); }
	int unlock(Session &session) const { return session.unlock(address_, sizeof(T)); }
	/**
	 * Reads asynchronously, for co_await. The value must be inside one block, as is any of up to 512 bytes that was
	 * allocated alone.
	 */
	[[nodiscard]] Session::AsyncRead async_read(Session &session, T &value) const
	{
		return session.async_read(address_, bytes_of(value));
	}

	friend constexpr auto operator<=>(Pointer, Pointer) noexcept = default;

private:
	static std::span<std::byte> bytes_of(T &value) noexcept { return std::as_writable_bytes(std::span(&value, 1)); }
	static std::span<const std::byte> bytes_of(const T &value) noexcept
	{
		return std::as_bytes(std::span(&value, 1));
	}

	Address address_;
};

} // namespace prism::gam
