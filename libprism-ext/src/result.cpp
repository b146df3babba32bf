/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <prism/result.hpp>

#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace prism
{

Error make_error(int code, std::string_view what, std::string_view next_step)
{
	std::string message(what);
	message += ": ";
	message += std::generic_category().message(code);
	if (!next_step.empty()) {
		message += "; ";
		message += next_step;
	}
	return {code, std::move(message)};
}

namespace detail
{
void value_of_error(const Error &error) noexcept
{
	std::fprintf(stderr, "prism: value() of a failed Result: %s\n", error.message.c_str());
	std::abort();
}
} // namespace detail

} // namespace prism
