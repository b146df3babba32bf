/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "history.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>

#include <sys/wait.h>
#include <unistd.h>

#include "random.hpp"
#include "small_history.hpp"

namespace
{

using namespace prism;
using namespace prism::serializability;

class HistoryFile : public testing::Test
{
protected:
	HistoryFile()
	{
		std::string name = (std::filesystem::temp_directory_path() / "prism-transactions.XXXXXX").string();
		if (::mkdtemp(name.data()) == nullptr)
			throw std::runtime_error("no temporary folder");
		folder_ = name;
	}
	~HistoryFile() override { std::filesystem::remove_all(folder_); }

	[[nodiscard]] std::filesystem::path path(const std::string &name = "one") const { return folder_ / name; }

	static Result<History> read(const std::filesystem::path &path) { return read_histories(std::array{path}); }

	/* A new file each time: some file systems wait for the disk when one is emptied and written again. */
	void write_bytes(const std::string &bytes) const
	{
		std::filesystem::remove(path());
		std::ofstream(path(), std::ios::binary) << bytes;
	}
	[[nodiscard]] std::string bytes() const
	{
		std::ifstream file(path(), std::ios::binary);
		return {std::istreambuf_iterator(file), {}};
	}

	/* Returns the error of reading the bytes. */
	[[nodiscard]] std::string refusal_of(const std::string &bytes) const
	{
		write_bytes(bytes);
		const auto history = read(path());
		if (history)
			return "nothing";
		EXPECT_EQ(history.error().code, EINVAL);
		EXPECT_NE(history.error().message.find(path().string()), std::string::npos);
		return history.error().message;
	}

private:
	std::filesystem::path folder_;
};

Draft some_draft(std::uint64_t number, HistoryKind kind)
{
	Draft draft;
	draft.client = static_cast<std::uint32_t>(number % 3);
	draft.sequence = number;
	draft.invoked = number * 100;
	draft.outcome = static_cast<Outcome>(number % 3);
	draft.responded = draft.outcome == Outcome::unknown ? 0 : number * 100 + 50;
	if (number % 5 != 0)
		draft.stamp = {number << 40, ~number};
	if (kind == HistoryKind::lists) {
		const std::array<Value, 3> list{~number, 1, number + 1};
		draft.read_list(~number, {}).append(number, number + 1).read_list(number, list);
	} else {
		draft.read(~number, absent).read(3, ~number).write(number, number + 1).erase(number);
	}
	return draft;
}

Draft draft_of(const History &history, const Transaction &transaction)
{
	Draft draft;
	draft.client = transaction.client;
	draft.sequence = transaction.sequence;
	draft.stamp = transaction.stamp;
	draft.invoked = transaction.invoked;
	draft.responded = transaction.responded;
	draft.outcome = transaction.outcome;
	for (const Operation &operation : history.operations_of(transaction)) {
		if (operation.action == Action::read && history.kind() == HistoryKind::lists)
			draft.read_list(operation.key, history.list_of(operation));
		else
			draft.operations.push_back(operation);
	}
	return draft;
}

TEST_F(HistoryFile, SeveralFilesComeBackAsTheyWere)
{
	for (const HistoryKind kind : {HistoryKind::registers, HistoryKind::lists}) {
		constexpr std::uint64_t count = 300'000; /* several windows */
		{
			std::vector<HistoryWriter> writers;
			for (const char *name : {"a", "b", "c"})
				writers.push_back(HistoryWriter::create(path(name), kind).value());
			for (std::uint64_t i = 1; i <= count; i++)
				ASSERT_EQ(writers[i % 3].record(some_draft(i, kind)), 0);
		}
		const auto history = read_histories(std::array{path("c"), path("a"), path("b")});
		ASSERT_TRUE(history) << history.error().message;
		ASSERT_EQ(history->transactions().size(), count);
		for (std::uint64_t i = 1; i <= count; i++)
			ASSERT_EQ(draft_of(*history, history->transactions()[i - 1]), some_draft(i, kind)) << i;
		for (std::size_t i = 1; i < count; i++) {
			const Transaction &a = history->transactions()[history->sessions()[i - 1]];
			const Transaction &b = history->transactions()[history->sessions()[i]];
			ASSERT_LT(std::tuple(a.client, a.sequence), std::tuple(b.client, b.sequence));
		}
	}
}

TEST_F(HistoryFile, ExtremeNumbers)
{
	Draft draft;
	draft.client = ~std::uint32_t{0};
	draft.sequence = draft.invoked = draft.responded = draft.stamp.clock = draft.stamp.writer = ~std::uint64_t{0};
	draft.outcome = Outcome::committed;
	draft.read(~std::uint64_t{0}, ~std::uint64_t{0}).write(0, 1);
	auto writer = HistoryWriter::create(path(), HistoryKind::registers);
	ASSERT_EQ(writer->record(draft), 0);
	ASSERT_EQ(writer->close(), 0);
	const auto history = read(path());
	ASSERT_TRUE(history) << history.error().message;
	EXPECT_EQ(draft_of(*history, history->transactions()[0]), draft);
}

TEST_F(HistoryFile, WhoIsKilledLeavesWhatItRecorded)
{
	constexpr std::uint64_t count = 1000;
	const pid_t child = ::fork();
	ASSERT_GE(child, 0);
	if (child == 0) {
		auto writer = HistoryWriter::create(path(), HistoryKind::registers);
		for (std::uint64_t i = 1; i <= count; i++) {
			Draft draft;
			draft.sequence = i;
			draft.invoked = i * 10;
			draft.write(1, i);
			int error = writer->intend(draft);
			draft.responded = i * 10 + 1;
			draft.outcome = Outcome::committed;
			if (i < count)
				error |= writer->record(draft);
			if (error != 0)
				::_exit(1);
		}
		::kill(::getpid(), SIGKILL);
	}
	int status = 0;
	ASSERT_EQ(::waitpid(child, &status, 0), child);
	ASSERT_TRUE(WIFSIGNALED(status));
	const auto history = read(path());
	ASSERT_TRUE(history) << history.error().message;
	ASSERT_EQ(history->transactions().size(), count);
	for (const Transaction &transaction : history->transactions())
		EXPECT_EQ(transaction.outcome, transaction.sequence == count ? Outcome::unknown : Outcome::committed);
}

TEST_F(HistoryFile, TheWriterRefusesWhatIsNoTransaction)
{
	auto writer = HistoryWriter::create(path(), HistoryKind::registers);
	const auto refused = [&](Draft draft) {
		draft.invoked = draft.invoked == 0 ? 1 : draft.invoked;
		return writer->record(draft);
	};
	EXPECT_EQ(refused(Draft{}.write(1, absent)), EINVAL);
	EXPECT_EQ(refused(Draft{}.append(1, 2)), EINVAL);
	EXPECT_EQ(refused(Draft{}.read_list(1, std::array<Value, 1>{5})), EINVAL);
	Draft without_response;
	without_response.outcome = Outcome::committed;
	EXPECT_EQ(refused(without_response), EINVAL);
	Draft backwards = without_response;
	backwards.invoked = 7;
	backwards.responded = 6;
	EXPECT_EQ(refused(backwards), EINVAL);
	Draft large;
	for (std::uint64_t i = 0; i < 300'000; i++)
		large.write(i, ~i);
	EXPECT_EQ(refused(large), E2BIG);
	/* The refusals do not affect later records. */
	EXPECT_EQ(refused(Draft{}.write(1, 2)), 0);
	EXPECT_EQ(writer->close(), 0);
	EXPECT_EQ(refused(Draft{}.write(1, 2)), EBADF);
	EXPECT_EQ(read(path())->transactions().size(), 1U);

	auto lists = HistoryWriter::create(path(), HistoryKind::lists);
	EXPECT_EQ(lists->record(Draft{}.write(1, 2)), EINVAL);
	EXPECT_EQ(lists->record(Draft{}.erase(1)), EINVAL);
	Draft outside;
	outside.operations.push_back({.key = 1, .value = 1, .length = 1, .action = Action::read});
	EXPECT_EQ(lists->record(outside), EINVAL);
}

TEST_F(HistoryFile, AFileThatCannotBeIsAnError)
{
	EXPECT_EQ(HistoryWriter::create(path("missing") / "file", HistoryKind::lists).error().code, ENOENT);
	EXPECT_FALSE(HistoryWriter::create("/dev/full", HistoryKind::lists));
	EXPECT_EQ(read(path("missing")).error().code, ENOENT);
	EXPECT_FALSE(read_histories({}));
}

TEST_F(HistoryFile, ForeignFiles)
{
	EXPECT_NE(refusal_of("").find("not written by"), std::string::npos);
	EXPECT_NE(refusal_of("something else, and long enough").find("not written by"), std::string::npos);
	std::string header("PRISMTXN\1\0\0\0\1\0\0\0", 16);
	EXPECT_EQ(refusal_of(header), "nothing");
	EXPECT_NE(refusal_of(header + "\xff\xff\xff\x7f").find("a record of 2147483647 bytes"), std::string::npos);
	EXPECT_NE(refusal_of(header + std::string("\x20\0\0\0abc", 7)).find("cut off in a record"), std::string::npos);
	EXPECT_NE(refusal_of(header + "\x20").find("cut off in the size"), std::string::npos);
	EXPECT_NE(refusal_of(header + std::string("\1\0\0\0\x40", 5)).find("unknown outcome"), std::string::npos);
	/* Unknown, client 0, number 0, invoked at 0; then the maximum number of operations that 64 bits allow. */
	const std::string many("\xe\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 18);
	EXPECT_NE(refusal_of(header + many).find("more operations than"), std::string::npos);
	const std::string endless("\xc\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16);
	EXPECT_NE(refusal_of(header + endless).find("at byte 16"), std::string::npos);
	EXPECT_NE(refusal_of(header + std::string(20'000'000, '\0')).find("size 0"), std::string::npos);
	header[8] = 2;
	EXPECT_NE(refusal_of(header).find("version 2"), std::string::npos);
	header[8] = 1;
	header[12] = 3;
	EXPECT_NE(refusal_of(header).find("unknown kind"), std::string::npos);
	header[12] = 2;
	const std::string list("\x8\0\0\0\0\0\0\0\1\1\7\x7f", 12);
	EXPECT_NE(refusal_of(header + list).find("longer than its record"), std::string::npos);
}

TEST_F(HistoryFile, AnyDamageIsAnErrorOrAHistory)
{
	for (const HistoryKind kind : {HistoryKind::registers, HistoryKind::lists}) {
		{
			auto writer = HistoryWriter::create(path(), kind);
			for (std::uint64_t i = 1; i <= 30; i++)
				ASSERT_EQ(writer->record(some_draft(i, kind)), 0);
		}
		const std::string whole = bytes();
		std::size_t complete = 0;
		for (std::size_t length = 0; length < whole.size(); length++)
			complete += refusal_of(whole.substr(0, length)) == "nothing";
		EXPECT_EQ(complete, 30U); /* cut between two records */
		test::Random random(7);
		for (int i = 0; i < 3000; i++) {
			std::string damaged = whole;
			for (std::uint64_t j = random.between(1, 3); j > 0; j--)
				damaged[random.below(damaged.size())] = static_cast<char>(random.bits());
			write_bytes(damaged);
			if (const auto history = read(path())) {
				/* The checkers must accept it. */
				if (const auto index = Index::make(*history)) {
					Findings findings;
					replay(*index, findings);
					check_cycles(*index, {.real_time = true}, findings);
				}
			} else {
				EXPECT_EQ(history.error().code, EINVAL);
			}
		}
	}
}

TEST_F(HistoryFile, KindsDoNotMix)
{
	HistoryWriter::create(path("a"), HistoryKind::registers)->close();
	HistoryWriter::create(path("b"), HistoryKind::lists)->close();
	const auto history = read_histories(std::array{path("a"), path("b")});
	ASSERT_FALSE(history);
	EXPECT_NE(history.error().message.find("another kind"), std::string::npos);
}

TEST(HistoryBuilder, ClientsDoOneThingAfterAnother)
{
	Small small(HistoryKind::registers);
	small.add(Draft{}.write(1, 1));
	small.add(Draft{}.write(1, 2)).client = 1;
	EXPECT_TRUE(small.history());
	small.drafts()[1].invoked = 12; /* the first one responds at 15 */
	EXPECT_NE(small.history().error().message.find("client 1: #2 was invoked before #1"), std::string::npos);
	small.drafts()[1].invoked = 20;
	small.drafts()[1].sequence = 1;
	EXPECT_NE(small.history().error().message.find("given to two"), std::string::npos);
}

TEST(HistoryBuilder, ValuesAreUnique)
{
	Small small(HistoryKind::registers);
	small.add(Draft{}.write(1, 7));
	small.add(Draft{}.write(2, 7));
	EXPECT_TRUE(Index::make(small.history().value()));
	small.add(Draft{}.write(1, 7));
	const auto history = small.history();
	const auto index = Index::make(*history);
	ASSERT_FALSE(index);
	EXPECT_NE(index.error().message.find("written to key 0x1 twice"), std::string::npos);
}

} // namespace
