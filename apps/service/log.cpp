/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "log.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

namespace prism::apps
{

namespace
{

/* The priorities LOG_ERR, LOG_WARNING, LOG_INFO and LOG_DEBUG of syslog(3) */
int priority(LogLevel level)
{
	switch (level) {
	case LogLevel::error:
		return 3;
	case LogLevel::warning:
		return 4;
	case LogLevel::info:
		return 6;
	case LogLevel::debug:
		break;
	}
	return 7;
}

/* A single write(), so that lines of several threads do not mix. */
void write_to_standard_error(const std::string &text) noexcept
{
	(void)!::write(STDERR_FILENO, text.data(), text.size());
}

} // namespace

void log_to(const LogSink &sink, LogLevel level, const std::string &line)
{
	if (sink)
		sink(level, line);
	else
		write_to_standard_error(line + '\n');
}

LogSink standard_error_log(const std::string &program, LogLevel least)
{
	return [program, least, journal = logs_to_journal()](LogLevel level, const std::string &line) {
		if (level > least)
			return;
		write_to_standard_error(journal ? journal_line(level, line) : program + ": " + line + '\n');
	};
}

bool logs_to_journal() noexcept
{
	const char *const stream = std::getenv("JOURNAL_STREAM");
	struct stat file {
	};
	if (!stream || ::fstat(STDERR_FILENO, &file))
		return false;
	return fmt::format("{}:{}", file.st_dev, file.st_ino) == stream;
}

std::string journal_line(LogLevel level, const std::string &line)
{
	return fmt::format("<{}>{}\n", priority(level), line);
}

} // namespace prism::apps
