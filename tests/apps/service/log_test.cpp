/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <gtest/gtest.h>

#include <cstdlib>

#include <sys/stat.h>

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
	EXPECT_EQ(testing::internal::GetCapturedStderr(), "line\n");
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
