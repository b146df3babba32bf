/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <string>

#include <prism/result.hpp>

#include "base/regular_file.hpp"

namespace prism::apps
{

/** Reads a file as prism::read_regular_file() does. Errors: its own; @p what names the file. */
[[nodiscard]] inline Result<std::string> read_regular_file(
	const std::string &path, std::size_t most, const std::string &what)
{
	std::string text;
	if (const int error = prism::read_regular_file(path, most, text))
		return Error{error, "cannot read " + what + " " + path + ": " + why_unread(error)};
	return text;
}

} // namespace prism::apps
