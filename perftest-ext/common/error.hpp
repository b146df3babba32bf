/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Errors of the measuring tools: a text for the user and the exit code of the program. */
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace prism::perftest
{

enum class ExitCode : int {
	ok = 0,
	failed = 1, /**< the run could not be set up, or did not complete */
	usage = 2,  /**< the command line does not make sense */
};

/** Thrown during set-up, and by the drivers between measurements, never inside a timed section. */
class Error : public std::runtime_error
{
public:
	explicit Error(const std::string &text, ExitCode exit_code = ExitCode::failed)
		: std::runtime_error(text), code_(exit_code)
	{
	}

	[[nodiscard]] ExitCode exit_code() const { return code_; }

private:
	ExitCode code_;
};

/**
 * Returns an Error for a call that set @p error_number.
 * @param advice what the user may do about it; may be empty.
 */
[[nodiscard]] Error system_error(std::string_view what, int error_number, std::string_view advice = {});

} // namespace prism::perftest
