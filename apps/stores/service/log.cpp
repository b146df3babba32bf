/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "log.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno> /* program_invocation_short_name */
#include <climits>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/terminal.hpp"

namespace prism::apps
{

namespace
{

/* Returns LOG_ERR, LOG_WARNING, LOG_INFO or LOG_DEBUG of syslog(3). */
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

/**
 * Writes @p text, or the beginning that a pipe or terminal takes at once, with a single write(), so that lines of
 * several processes do not mix. Returns false if that would wait for a reader; a reader that is gone, or a full disk,
 * loses the text.
 */
bool write_at_once(const std::string &text)
{
	pollfd room{STDERR_FILENO, POLLOUT, 0};
	if (::poll(&room, 1, 0) == 0)
		return false;
	const std::string line = text.size() <= PIPE_BUF ? text : text.substr(0, PIPE_BUF - 1) + '\n';
	const Descriptor terminal = terminal_that_does_not_wait(STDERR_FILENO);
	const int to = terminal.get() >= 0 ? terminal.get() : STDERR_FILENO;
	return ::write(to, line.data(), line.size()) >= 0 || errno != EAGAIN;
}

/** Makes a line for the standard error. */
using Format = std::function<std::string(LogLevel, const std::string &)>;

/** Never waits for a reader that stands still: a line without room is left out, and the next one with room says so. */
void write_to_standard_error(LogLevel level, const std::string &line, const Format &format)
{
	static std::mutex lock;
	static std::uint64_t left_out = 0;
	const std::lock_guard guard(lock);
	if (left_out && write_at_once(format(LogLevel::warning,
				fmt::format("{} lines were left out: the log was not read", left_out))))
		left_out = 0;
	if (left_out || !write_at_once(format(level, line)))
		left_out++;
}

} // namespace

void log_to(const LogSink &sink, LogLevel level, const std::string &line)
{
	if (sink)
		sink(level, line);
	else
		standard_error_log(program_invocation_short_name, LogLevel::debug)(level, line);
}

LogSink standard_error_log(const std::string &program, LogLevel least)
{
	const Format plain = [program](LogLevel /*any*/, const std::string &line) {
		return program + ": " + printable(line) + '\n';
	};
	return [least, format = logs_to_journal() ? Format(journal_line) : plain](
		       LogLevel level, const std::string &line) {
		if (level <= least)
			write_to_standard_error(level, line, format);
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
	return fmt::format("<{}>{}\n", priority(level), printable(line));
}

LimitedLog::~LimitedLog()
{
	tell_left_out(left_out_);
}

void LimitedLog::operator()(LogLevel level, const std::string &line, Clock::time_point now)
{
	std::uint64_t left_out = 0;
	{
		const std::lock_guard guard(lock_);
		if (!let_through(now)) {
			left_out_++;
			return;
		}
		left_out = std::exchange(left_out_, 0);
	}
	tell_left_out(left_out);
	log_to(sink_, level, line);
}

bool LimitedLog::let_through(Clock::time_point now)
{
	const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - refilled_);
	if (seconds.count() > 0) {
		room_ = static_cast<unsigned>(std::min<std::int64_t>(burst, room_ + seconds.count()));
		refilled_ += seconds;
	}
	if (!room_)
		return false;
	room_--;
	return true;
}

void LimitedLog::tell_left_out(std::uint64_t left_out) const
{
	if (left_out)
		log_to(sink_, LogLevel::warning,
			fmt::format("{} lines about clients were left out: too many", left_out));
}

} // namespace prism::apps
