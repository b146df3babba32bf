/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "history.hpp"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "atomic_store.hpp"
#include "checker.hpp"

namespace
{

using namespace prism;
using namespace prism::test;

class History : public testing::Test
{
protected:
	History()
	{
		std::string pattern = (std::filesystem::temp_directory_path() / "prism-history.XXXXXX").string();
		if (::mkdtemp(pattern.data()) != nullptr)
			folder_ = pattern;
	}
	~History() override { std::filesystem::remove_all(folder_); }

	[[nodiscard]] std::filesystem::path file(const char *name) const { return folder_ / name; }

private:
	std::filesystem::path folder_;
};

TEST_F(History, WriterAndReaderAgree)
{
	{
		auto writer = HistoryWriter::create(file("a"), 100);
		ASSERT_TRUE(writer.ok()) << writer.error().message;
		const auto put = writer->begin({.key = 7, .value = 42, .client = 3, .kind = Kind::put});
		const auto get = writer->begin({.key = 8, .client = 3, .kind = Kind::get});
		writer->end(get, Outcome::ok, 99);
		writer->end(put, Outcome::ok);
		writer->begin({.key = 9, .invoked = 5, .kind = Kind::erase});
	}
	EXPECT_EQ(std::filesystem::file_size(file("a")), 48U * 4);
	const auto history = read_history(file("a"));
	ASSERT_TRUE(history.ok()) << history.error().message;
	ASSERT_EQ(history->size(), 3U);
	const Operation &put = (*history)[0], &get = (*history)[1], &erase = (*history)[2];
	EXPECT_EQ(put.key, 7U);
	EXPECT_EQ(put.value, 42U);
	EXPECT_EQ(put.client, 3U);
	EXPECT_EQ(put.outcome, Outcome::ok);
	EXPECT_LE(put.invoked, get.invoked);
	EXPECT_LE(get.responded, put.responded);
	EXPECT_LE(get.invoked, get.responded);
	EXPECT_EQ(get.value, 99U);
	EXPECT_EQ(erase.invoked, 5U);
	EXPECT_EQ(erase.responded, never);
	EXPECT_EQ(erase.outcome, Outcome::unknown);
}

TEST_F(History, AFullWriterRefuses)
{
	auto writer = HistoryWriter::create(file("a"), 1);
	ASSERT_TRUE(writer.ok());
	EXPECT_EQ(writer->begin({.kind = Kind::get}), 0U);
	EXPECT_EQ(writer->begin({.kind = Kind::get}), HistoryWriter::none);
	writer->end(HistoryWriter::none, Outcome::ok);
}

TEST_F(History, AWholeHistoryAtOnce)
{
	const std::vector<Operation> history = simulate_store({.operations = 1000}, 1);
	ASSERT_TRUE(write_history(file("a"), history).ok());
	const auto again = read_history(file("a"));
	ASSERT_TRUE(again.ok()) << again.error().message;
	EXPECT_EQ(*again, history);
}

TEST_F(History, OtherFilesAreRefused)
{
	EXPECT_FALSE(read_history(file("missing")).ok());
	std::ofstream(file("short")) << "PRISM";
	EXPECT_FALSE(read_history(file("short")).ok());
	std::ofstream(file("other")) << std::string(480, 'x');
	EXPECT_FALSE(read_history(file("other")).ok());
	EXPECT_FALSE(HistoryWriter::create(file("no/such/folder"), 10).ok());
}

TEST_F(History, WhatCannotBeWrittenLeavesNothing)
{
	std::filesystem::create_directories(file("folder"));
	EXPECT_FALSE(HistoryWriter::create(file("folder"), 10).ok());
	EXPECT_FALSE(HistoryWriter::create(file("large"), std::size_t{1} << 50).ok());
	for (const char *left : {"folder.unfinished", "large.unfinished"})
		EXPECT_FALSE(std::filesystem::exists(file(left))) << left;
}

/* Records for ever, and writes to @p running when it has begun: one operation is always under way. */
[[noreturn]] void record_until_killed(const std::filesystem::path &path, int running)
{
	constexpr Value some = 1000;
	auto writer = HistoryWriter::create(path, 50'000'000);
	if (!writer)
		_exit(1);
	for (Value value = 1;; value++) {
		const auto handle = writer->begin({.key = 1, .value = value, .kind = Kind::put});
		if (handle == HistoryWriter::none)
			_exit(2);
		writer->end(handle, Outcome::ok);
		if (value == some && ::write(running, "", 1) != 1)
			_exit(3);
	}
}

/* A process that is killed in create() leaves a history or none: no reader ever finds half a header. */
TEST_F(History, IsWholeAtEveryMoment)
{
	ASSERT_TRUE(HistoryWriter::create(file("a"), 10).ok());
	const pid_t child = ::fork();
	ASSERT_GE(child, 0);
	while (child == 0) {
		if (!HistoryWriter::create(file("a"), 10))
			_exit(1);
	}
	for (int i = 0; i < 300; i++) {
		const auto history = read_history(file("a"));
		EXPECT_TRUE(history.ok()) << history.error().message;
	}
	::kill(child, SIGKILL);
	::waitpid(child, nullptr, 0);
}

TEST_F(History, SurvivesTheDeathOfItsProcess)
{
	int running[2];
	ASSERT_EQ(::pipe(running), 0);
	const pid_t child = ::fork();
	ASSERT_GE(child, 0);
	if (child == 0)
		record_until_killed(file("a"), running[1]);
	::close(running[1]);
	char sign = 0;
	EXPECT_EQ(::read(running[0], &sign, 1), 1);
	::close(running[0]);
	::usleep(1000); /* at any moment */
	::kill(child, SIGKILL);
	int status = 0;
	ASSERT_EQ(::waitpid(child, &status, 0), child);
	ASSERT_TRUE(WIFSIGNALED(status));

	const auto history = read_history(file("a"));
	ASSERT_TRUE(history.ok()) << history.error().message;
	ASSERT_GT(history->size(), 10U);
	std::size_t unknown = 0;
	for (std::size_t i = 0; i < history->size(); i++) {
		EXPECT_EQ((*history)[i].value, i + 1);
		unknown += (*history)[i].outcome == Outcome::unknown;
	}
	EXPECT_LE(unknown, 1U);
	EXPECT_EQ(check(*history).verdict, Verdict::linearizable);
}

} // namespace
