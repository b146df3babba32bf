/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Guards for functions that C calls: they catch every exception and turn it into the function's own error
 * convention. */
#pragma once

#include <cerrno>
#include <exception>
#include <pthread.h>
#include <system_error>
#include <type_traits>

namespace prism
{

/**
 * Disables cancellation of this thread while it exists: verbs are no cancellation points, though the system calls in
 * them are. The C library would unwind through noexcept functions, and end the process.
 */
class WithoutCancellation
{
public:
	WithoutCancellation() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
	~WithoutCancellation() { pthread_setcancelstate(before_, nullptr); }
	WithoutCancellation(const WithoutCancellation &) = delete;
	WithoutCancellation &operator=(const WithoutCancellation &) = delete;

private:
	int before_ = PTHREAD_CANCEL_ENABLE;
};

/** Maps an errno to the C convention of the return type: null and errno, or an errno, or the negative of one from a
 * function that returns a count.
 */
template <typename Result>
Result failure(int error) noexcept
{
	if constexpr (std::is_pointer_v<Result>) {
		errno = error;
		return nullptr;
	} else if constexpr (!std::is_void_v<Result>) {
		return std::is_same_v<Result, int> ? static_cast<Result>(error) : static_cast<Result>(-error);
	}
}

/** Returns the result of @p call, or failure() of its exception. */
template <typename Call>
auto caught(const Call &call) noexcept -> decltype(call())
{
	using Result = decltype(call());
	try {
		return call();
	} catch (const std::system_error &error) { /* no more threads: EAGAIN */
		return failure<Result>(error.code().value());
	} catch (const std::exception &) {
		return failure<Result>(ENOMEM);
	}
}

/** Does the same without cancellation. */
template <typename Call>
auto guarded(const Call &call) noexcept -> decltype(call())
{
	const WithoutCancellation whole;
	return caught(call);
}

/** Wraps @p verb for a table of C functions. */
template <auto verb>
struct Boundary;

template <typename Result, typename... Args, Result (*verb)(Args...)>
struct Boundary<verb> {
	static Result call(Args... args) noexcept
	{
		return guarded([&] { return verb(args...); });
	}

	/** Does the same for a verb that itself disables cancellation, if it makes a system call: most calls make none.
	 */
	static Result call_often(Args... args) noexcept
	{
		return caught([&] { return verb(args...); });
	}
};

} // namespace prism
