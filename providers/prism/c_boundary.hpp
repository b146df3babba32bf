/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Functions that C calls: no exception leaves them, and what fails says so in its own way. */
#pragma once

#include <cerrno>
#include <exception>
#include <pthread.h>
#include <system_error>
#include <type_traits>

namespace prism
{

/**
 * While there is one, pthread_cancel() does not end this thread: verbs are no cancellation points, though the system
 * calls in them are. The C library would unwind through functions that let no exception pass, and end the process.
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

/** What a function that returns @p Result says when it fails: null and errno, or an errno, or with a count its
 * negative.
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

/** The result of @p call, or its failure. */
template <typename Call>
auto guarded(const Call &call) noexcept -> decltype(call())
{
	using Result = decltype(call());
	const WithoutCancellation whole;
	try {
		return call();
	} catch (const std::system_error &error) { /* no more threads: EAGAIN */
		return failure<Result>(error.code().value());
	} catch (const std::exception &) {
		return failure<Result>(ENOMEM);
	}
}

/** @p verb for a table of C functions. */
template <auto verb>
struct Boundary;

template <typename Result, typename... Args, Result (*verb)(Args...)>
struct Boundary<verb> {
	static Result call(Args... args) noexcept
	{
		return guarded([&] { return verb(args...); });
	}
};

} // namespace prism
