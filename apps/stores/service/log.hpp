/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

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

/**
 * Passes the event to @p sink; null: to standard_error_log() of this program. No line waits for a reader of the
 * standard error that stands still: lines without room are left out, and a later one says how many.
 */
void log_to(const LogSink &sink, LogLevel level, const std::string &line);

/**
 * Returns a sink that writes "PROGRAM: LINE" to the standard error, as log_to() does. It drops lines less urgent than
 * @p least. For the journal, lines begin with their priority instead, as sd-daemon(3) describes it. Control characters,
 * which may be a peer's, are escaped.
 */
LogSink standard_error_log(const std::string &program, LogLevel least);

/**
 * Log for lines that strangers can cause, such as one for each refused connection: at most @p burst of them at once,
 * and one a second from then on. The next line says how many were left out; so does the destructor. Any thread.
 */
class LimitedLog
{
public:
	using Clock = std::chrono::steady_clock;
	static constexpr unsigned burst = 20;

	explicit LimitedLog(LogSink sink) : sink_(std::move(sink)) {}
	~LimitedLog();
	LimitedLog(const LimitedLog &) = delete;
	LimitedLog &operator=(const LimitedLog &) = delete;

	void operator()(LogLevel level, const std::string &line, Clock::time_point now = Clock::now());

private:
	bool let_through(Clock::time_point now);
	void tell_left_out(std::uint64_t left_out) const;

	const LogSink sink_;
	std::mutex lock_;
	unsigned room_ = burst; /* lines that may come at once */
	Clock::time_point refilled_{};
	std::uint64_t left_out_ = 0;
};

/** Returns true if the standard error is a stream of the systemd journal ($JOURNAL_STREAM names it). */
bool logs_to_journal() noexcept;

/** Returns the line with the priority in front that journald reads: "<4>LINE\n". */
std::string journal_line(LogLevel level, const std::string &line);

} // namespace prism::apps
