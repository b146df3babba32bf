/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "boundary.hpp"

#include <algorithm>
#include <array>

#include <prism/store.h>

namespace prism::capi
{

namespace
{

/* A fixed array, as a message must not need memory: there may be none. */
thread_local std::array<char, 512> last_message;

} // namespace

int fail(int error, std::string_view message) noexcept
{
	const std::size_t length = std::min(message.size(), last_message.size() - 1);
	std::memmove(last_message.data(), message.data(), length);
	last_message[length] = '\0';
	return -error;
}

int fail_with_reason(int error, std::string_view what)
{
	return fail(make_error(error, what));
}

} // namespace prism::capi

const char *prism_store_message(void)
{
	return prism::capi::last_message.data();
}
