/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "error.hpp"

#include <system_error>

#include <fmt/format.h>

namespace prism::perftest
{

Error system_error(std::string_view what, int error_number, std::string_view advice)
{
	const std::string reason = std::generic_category().message(error_number);
	if (advice.empty())
		return Error(fmt::format("{}: {}", what, reason));
	return Error(fmt::format("{}: {}; {}", what, reason, advice));
}

} // namespace prism::perftest
