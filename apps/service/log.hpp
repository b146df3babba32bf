/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace prism::apps
{

enum class LogLevel : std::uint8_t {
	error,
	warning,
	info,
	debug
};

/** Receives the events of a server, perhaps from several threads at once. */
using LogSink = std::function<void(LogLevel, const std::string &)>;

/** Passes the event to @p sink; null: writes it to standard error. */
void log_to(const LogSink &sink, LogLevel level, const std::string &line);

/**
 * A sink that writes "PROGRAM: LINE" to the standard error, in one write. It drops what is less urgent than @p least.
 * Lines for the journal begin with their priority instead, as sd-daemon(3) describes it.
 */
LogSink standard_error_log(const std::string &program, LogLevel least);

/** Whether the standard error is a stream of the systemd journal ($JOURNAL_STREAM names it). */
bool logs_to_journal() noexcept;

/** The line with the priority in front that journald reads: "<4>LINE\n". */
std::string journal_line(LogLevel level, const std::string &line);

} // namespace prism::apps
