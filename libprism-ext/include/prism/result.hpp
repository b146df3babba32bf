/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Results of set-up functions: a value, or an error with the failed operation, the reason and the next step.
 *
 * Functions of the data path do not use this: they return 0 or an errno value, and never allocate or throw.
 */
#pragma once

#include <prism/export.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace prism
{

/** Reason for the failure of a set-up function. */
struct Error {
	int code = 0;        /**< errno value, for programs */
	std::string message; /**< cause and next step, for people */
};

/** Makes an error with the message "what: reason of @p code; next_step". @p next_step may be empty. */
PRISM_EXPORT Error make_error(int code, std::string_view what, std::string_view next_step = {});

namespace detail
{
/** Prints the error and aborts: taking the value of a failed Result is a bug of the caller. */
[[noreturn]] PRISM_EXPORT void value_of_error(const Error &error) noexcept;
} // namespace detail

/** A T or an Error. Test it before taking the value: value() of an error aborts the program. */
template <typename T>
class [[nodiscard]] Result
{
public:
	Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
	Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

	[[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
	explicit operator bool() const noexcept { return ok(); }

	[[nodiscard]] T &value() &noexcept
	{
		check();
		return *std::get_if<0>(&state_);
	}
	[[nodiscard]] const T &value() const &noexcept
	{
		check();
		return *std::get_if<0>(&state_);
	}
	[[nodiscard]] T &&value() &&noexcept
	{
		check();
		return std::move(*std::get_if<0>(&state_));
	}

	T &operator*() &noexcept { return value(); }
	const T &operator*() const &noexcept { return value(); }
	T &&operator*() &&noexcept { return std::move(*this).value(); }
	T *operator->() noexcept { return &value(); }
	const T *operator->() const noexcept { return &value(); }

	/** Returns the error; only for a failed Result. */
	[[nodiscard]] const Error &error() const noexcept { return *std::get_if<1>(&state_); }

private:
	void check() const noexcept
	{
		if (!ok())
			detail::value_of_error(error());
	}

	std::variant<T, Error> state_;
};

/** Success, or an Error. */
template <>
class [[nodiscard]] Result<void>
{
public:
	Result() = default;
	Result(Error error) : failure_(std::move(error)), failed_(true) {}

	[[nodiscard]] bool ok() const noexcept { return !failed_; }
	explicit operator bool() const noexcept { return ok(); }
	[[nodiscard]] const Error &error() const noexcept { return failure_; }

	void value() const noexcept
	{
		if (failed_)
			detail::value_of_error(failure_);
	}

private:
	Error failure_;
	bool failed_ = false;
};

} // namespace prism
