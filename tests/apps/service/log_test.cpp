/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <pty.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.hpp"
#include "service/control.hpp"
#include "service/log.hpp"

namespace
{

using namespace prism::apps;

TEST(Logs, OfALevelHaveWhatIsAsUrgent)
{
	const LogSink log = standard_error_log("prog", LogLevel::warning);
	testing::internal::CaptureStderr();
	log(LogLevel::error, "bad");
	log(LogLevel::warning, "strange");
	log(LogLevel::info, "usual");
	EXPECT_EQ(testing::internal::GetCapturedStderr(), "prog: bad\nprog: strange\n");
}

TEST(Logs, GoToTheStandardErrorUnlessSaidOtherwise)
{
	testing::internal::CaptureStderr();
	log_to({}, LogLevel::info, "line");
	EXPECT_EQ(testing::internal::GetCapturedStderr(), std::string(program_invocation_short_name) + ": line\n");
}

TEST(Logs, HaveNoControlCharactersOfAPeer)
{
	testing::internal::CaptureStderr();
	standard_error_log("prog", LogLevel::info)(LogLevel::info, "a\x1b]0;b\nc\x7f\xc2\x9b"
								   "d \xc3\xa9");
	EXPECT_EQ(testing::internal::GetCapturedStderr(), "prog: a\\x1b]0;b\\x0ac\\x7f\\xc2\\x9b"
							  "d \xc3\xa9\n");
	EXPECT_EQ(journal_line(LogLevel::error, "x\n<0>y"), "<3>x\\x0a<0>y\n");
}

TEST(ControlChannel, TheTextOfAServerHasNoControlCharacters)
{
	std::array<int, 2> ends{};
	ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
	const prism::Descriptor server(ends[0]), client(ends[1]);
	const std::string said = "{\n \"name\": \"\x1b]0;x\x07\"\n}";
	ASSERT_EQ(::send(server.get(), said.data(), said.size(), 0), static_cast<ssize_t>(said.size()));
	std::string text;
	EXPECT_EQ(ControlChannel(client.get()).receive_text(said.size(), text, 1000), 0);
	EXPECT_EQ(text, "{\n \"name\": \"\\x1b]0;x\\x07\"\n}");
}

TEST(Logs, OfWhatStrangersCauseAreLimited)
{
	using namespace std::chrono_literals;
	std::vector<std::string> lines;
	const LimitedLog::Clock::time_point start = LimitedLog::Clock::now();
	{
		LimitedLog log([&](LogLevel, const std::string &line) { lines.push_back(line); });
		for (unsigned i = 0; i < 1000; i++)
			log(LogLevel::warning, "refused", start);
		EXPECT_EQ(lines, std::vector<std::string>(LimitedLog::burst, "refused"));
		lines.clear();
		log(LogLevel::warning, "later", start + 2s);
		EXPECT_EQ(
			lines, (std::vector<std::string>{"980 lines about clients were left out: too many", "later"}));
		lines.clear();
		for (auto now = start + 2s; now < start + 12s; now += 1ms)
			log(LogLevel::warning, "refused", now);
		EXPECT_EQ(std::count(lines.begin(), lines.end(), "refused"), 11); /* room of 2 s, and one each second */
		lines.clear();
		log(LogLevel::warning, "quiet since", start + 1h);
		EXPECT_EQ(lines.back(), "quiet since");
		lines.clear();
		for (unsigned i = 0; i < LimitedLog::burst; i++)
			log(LogLevel::warning, "refused", start + 1h);
		EXPECT_EQ(lines.size(), LimitedLog::burst - 1);
		lines.clear();
	}
	EXPECT_EQ(lines, std::vector<std::string>{"1 lines about clients were left out: too many"});
}

/** A pipe as the standard error, while it lives. */
class PipedStandardError
{
public:
	PipedStandardError() : before_(::dup(STDERR_FILENO))
	{
		EXPECT_EQ(::pipe2(ends_.data(), O_NONBLOCK), 0);
		::dup2(ends_[1], STDERR_FILENO);
	}
	PipedStandardError(const PipedStandardError &) = delete;
	PipedStandardError &operator=(const PipedStandardError &) = delete;
	~PipedStandardError()
	{
		::dup2(before_.get(), STDERR_FILENO);
		::close(ends_[0]);
		::close(ends_[1]);
	}

	/* Fills it, and makes writing wait, as for programs. */
	void fill() const
	{
		const std::string much(4096, 'x');
		while (::write(ends_[1], much.data(), much.size()) > 0)
			continue;
		::fcntl(ends_[1], F_SETFL, 0);
	}
	[[nodiscard]] std::string read() const
	{
		std::string text(1 << 20, '\0');
		text.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(ends_[0], text.data(), text.size()), 0)));
		return text;
	}

private:
	const prism::Descriptor before_;
	std::array<int, 2> ends_{};
};

TEST(Logs, DoNotWaitForAReaderThatStandsStill)
{
	const PipedStandardError error;
	const LogSink log = standard_error_log("prog", LogLevel::info);
	error.fill();
	for (unsigned i = 0; i < 3; i++)
		log(LogLevel::warning, "lost");
	log_to({}, LogLevel::warning, "lost");
	(void)error.read();
	log(LogLevel::info, "again");
	log(LogLevel::info, "and again");
	EXPECT_EQ(error.read(), "prog: 4 lines were left out: the log was not read\nprog: again\nprog: and again\n");
}

/* Unlike a pipe, it tells poll() that there is room when a line has none. */
TEST(Logs, DoNotWaitForATerminalThatStandsStill)
{
	int reader = -1, terminal = -1;
	ASSERT_EQ(::openpty(&reader, &terminal, nullptr, nullptr, nullptr), 0);
	const prism::Descriptor ours(reader), theirs(terminal), before(::dup(STDERR_FILENO));
	::dup2(terminal, STDERR_FILENO);
	const LogSink log = standard_error_log("prog", LogLevel::info);
	for (unsigned i = 0; i < 1000; i++)
		log(LogLevel::warning, std::string(1000, 'x'));
	::dup2(before.get(), STDERR_FILENO);
	EXPECT_EQ(::fcntl(terminal, F_GETFL) & O_NONBLOCK, 0) << "others write to it as before";
}

TEST(Logs, ForTheJournalHavePriorities)
{
	EXPECT_EQ(journal_line(LogLevel::error, "x"), "<3>x\n");
	EXPECT_EQ(journal_line(LogLevel::warning, "x"), "<4>x\n");
	EXPECT_EQ(journal_line(LogLevel::info, "x"), "<6>x\n");
	EXPECT_EQ(journal_line(LogLevel::debug, "x"), "<7>x\n");
}

TEST(Logs, KnowTheJournalByItsStream)
{
	::unsetenv("JOURNAL_STREAM");
	EXPECT_FALSE(logs_to_journal());
	::setenv("JOURNAL_STREAM", "1:1", 1);
	EXPECT_FALSE(logs_to_journal()) << "the standard error has gone elsewhere since";
	struct stat file {
	};
	ASSERT_EQ(::fstat(2, &file), 0);
	const std::string stream = std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino);
	::setenv("JOURNAL_STREAM", stream.c_str(), 1);
	EXPECT_TRUE(logs_to_journal());
	::unsetenv("JOURNAL_STREAM");
}

} // namespace
