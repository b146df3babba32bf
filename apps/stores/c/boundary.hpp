/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Failures of functions that C calls: a negative errno value and a message, never an exception. */
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>

#include <prism/result.hpp>

#include "base/c_boundary.hpp"

namespace prism::capi
{

using Milliseconds = std::chrono::milliseconds;

/** Operations under way at once if a store's options do not say. */
constexpr std::uint32_t default_depth = 16;

/** The error of a change with an unknown outcome (<prism/store.h>). */
constexpr int outcome_unknown = EINPROGRESS;

/** Keeps @p message for prism_store_message() and returns -@p error. */
int fail(int error, std::string_view message) noexcept;

inline int fail(const Error &error) noexcept
{
	return fail(error.code, error.message);
}

/** Fails with the message "what: reason of @p error". */
int fail_with_reason(int error, std::string_view what);

/** Returns the result of @p call, or -errno for the exception that it throws. */
template <typename Call>
int guarded(const Call &call) noexcept
{
	const WithoutCancellation whole;
	try {
		return call();
	} catch (const std::system_error &error) { /* no more threads: EAGAIN */
		return fail(error.code().value(), error.what());
	} catch (const std::exception &error) {
		return fail(ENOMEM, error.what());
	}
}

/** Returns the result of @p call, unless an argument is @p wrong. */
template <typename Call>
int checked(const char *wrong, const Call &call) noexcept
{
	return wrong ? fail(EINVAL, wrong) : guarded(call);
}

/** Returns true if a pointer and a size from C are bytes: a null pointer has none. */
inline bool is_bytes(const void *data, std::size_t size) noexcept
{
	return (data || !size) && size <= PTRDIFF_MAX;
}

/** Returns what is wrong with a pointer and a size that are no bytes, or null. */
inline const char *wrong_bytes(const void *data, std::size_t size) noexcept
{
	if (is_bytes(data, size))
		return nullptr;
	return data ? "a size that no memory has" : "the bytes are NULL, their size is not 0";
}

/** Returns true if they can be a key. */
inline bool is_key(const void *key, std::size_t size) noexcept
{
	return size && is_bytes(key, size);
}

inline std::span<const std::byte> bytes(const void *data, std::size_t size) noexcept
{
	return {static_cast<const std::byte *>(data), size};
}

/**
 * Reads the options @p given from C, which begin with their size and may be null, to @p options. A program that was
 * compiled with a later version of the header may ask for what this library does not know. Returns 0 or -EINVAL.
 */
template <typename Options>
int read_options(const Options *given, std::size_t least, Options &options) noexcept
{
	options = {};
	if (!given)
		return 0;
	const std::size_t size = given->size;
	if (size < least)
		return fail(EINVAL, "the options' size is not sizeof the structure");
	const auto *const more = reinterpret_cast<const unsigned char *>(given);
	for (std::size_t i = sizeof(options); i < size; i++) {
		if (more[i])
			return fail(EINVAL, "the options ask for what this version of libprism-stores does not know");
	}
	std::memcpy(&options, given, size < sizeof(options) ? size : sizeof(options));
	return 0;
}

/**
 * Opens a store at @p place with the options @p given, which @p open reads, unless @p wrong names an error of another
 * argument. Returns 0 or -errno, with a null pointer at @p place.
 */
template <typename Store, typename Options, typename Open>
int open_store(Store **place, const char *wrong, const Options *given, std::size_t least, const Open &open) noexcept
{
	if (!place)
		return fail(EINVAL, "the place for the handle is NULL");
	*place = nullptr;
	if (wrong)
		return fail(EINVAL, wrong);
	Options options;
	if (const int failed = read_options(given, least, options))
		return failed;
	return guarded([&] { return open(options); });
}

template <typename Store>
void close_store(Store *store) noexcept
{
	(void)guarded([store] {
		const std::unique_ptr<Store> owned(store);
		return 0;
	});
}

} // namespace prism::capi
