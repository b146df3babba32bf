/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Log of a node that is killed, torn, damaged or out of space: docs/gam-recovery.md says what it guarantees then. */
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.hpp"
#include "gam/membership/log_folder.hpp"
#include "gam/membership/log_keeper.hpp"
#include "gam/membership/logged_blocks.hpp"
#include "gam/membership/node_log.hpp"
#include "gam/membership/policy_log.hpp"
#include "service/self_verifying.hpp"

using namespace prism;
using namespace prism::gam;

namespace
{

namespace fs = std::filesystem;
using gam_test::Folder;

constexpr std::size_t small = 4096;
constexpr std::array<std::byte, 16> other_boot{std::byte{1}};

LogOptions options(const fs::path &folder, std::uint64_t incarnation = 1)
{
	LogOptions options;
	options.folder = folder;
	options.cluster = 7;
	options.node = 2;
	options.incarnation = incarnation;
	options.segment_bytes = small;
	return options;
}

std::unique_ptr<NodeLog> open_log(const LogOptions &options)
{
	auto log = NodeLog::open(options);
	if (!log)
		ADD_FAILURE() << log.error().message;
	return log ? std::move(*log) : nullptr;
}

std::array<std::byte, block_size> value_of(std::uint64_t number)
{
	std::array<std::byte, block_size> value;
	for (std::size_t i = 0; i < value.size(); i++)
		value[i] = static_cast<std::byte>(number * 31 + i);
	return value;
}

int append_data(NodeLog &log, std::uint64_t block, std::uint64_t counter, std::uint64_t value)
{
	const auto bytes = value_of(value);
	return log.append({EntryKind::data, no_node, Address(2, block * block_size), counter, 0, 0, bytes});
}

int append_transfer(NodeLog &log, std::uint64_t block, std::uint64_t counter, NodeId owner)
{
	return log.append({EntryKind::transfer, owner, Address(2, block * block_size), counter, 0, 0, {},
		owner % 2 == 1, owner * 10U});
}

/* Entry in comparable form */
struct Seen {
	std::uint64_t sequence;
	EntryKind kind;
	std::uint64_t block;
	std::uint64_t counter;
	std::vector<std::byte> data;
	bool operator==(const Seen &) const = default;
};

std::vector<Seen> all_of(NodeLog &log)
{
	std::vector<Seen> seen;
	const auto scanned = log.scan([&](const Entry &entry) {
		seen.push_back({entry.sequence, entry.kind, entry.block.block_number(), entry.counter,
			{entry.data.begin(), entry.data.end()}});
	});
	EXPECT_TRUE(scanned.ok());
	return seen;
}

/* Returns the newest value of each block */
std::map<std::uint64_t, std::pair<std::uint64_t, std::vector<std::byte>>> newest_of(NodeLog &log)
{
	std::map<std::uint64_t, std::pair<std::uint64_t, std::vector<std::byte>>> newest;
	std::map<std::uint64_t, Entry> entries;
	EXPECT_TRUE(log.scan([&](const Entry &entry) {
			       if (entry.kind != EntryKind::data)
				       return;
			       const auto block = entry.block.block_number();
			       if (const auto at = entries.find(block);
				       at != entries.end() && !entry.is_newer_than(at->second))
				       return;
			       entries[block] = entry;
			       newest[block] = {entry.counter, {entry.data.begin(), entry.data.end()}};
		       }).ok());
	return newest;
}

std::vector<std::byte> bytes_of(const fs::path &path)
{
	std::vector<std::byte> bytes(fs::file_size(path));
	std::ifstream file(path, std::ios::binary);
	file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
	return bytes;
}

void store_bytes(const fs::path &path, std::span<const std::byte> bytes)
{
	std::ofstream file(path, std::ios::binary | std::ios::trunc);
	file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

std::vector<fs::path> segments_in(const fs::path &folder)
{
	std::vector<fs::path> paths;
	for (const auto &entry : fs::directory_iterator(folder)) {
		if (entry.path().extension() == ".log")
			paths.push_back(entry.path());
	}
	std::sort(paths.begin(), paths.end());
	return paths;
}

void empty(const fs::path &folder)
{
	for (const auto &entry : fs::directory_iterator(folder))
		fs::remove(entry.path());
}

/* Segment with five entries, and the end of each */
struct Five {
	std::string name;
	std::vector<std::byte> bytes;
	std::vector<Seen> entries;
	std::vector<std::size_t> ends;
};

Five make_five(std::uint64_t committed = 0)
{
	Folder folder;
	auto log = open_log(options(folder.path()));
	Five five;
	std::size_t end = SegmentHead::size;
	for (std::uint64_t i = 1; i <= 5; i++) {
		EXPECT_EQ(i % 2 ? append_data(*log, i, i, i) : append_transfer(*log, i, i, 3), 0);
		five.ends.push_back(end += Entry::header_size + (i % 2 ? block_size : 0));
		if (i == committed) {
			EXPECT_EQ(log->commit(), 0);
		}
	}
	five.entries = all_of(*log);
	const auto path = segments_in(folder.path()).front();
	five.name = path.filename();
	five.bytes = bytes_of(path);
	EXPECT_EQ(five.entries.size(), 5U);
	return five;
}

bool is_prefix(const std::vector<Seen> &seen, const std::vector<Seen> &of)
{
	return seen.size() <= of.size() && std::equal(seen.begin(), seen.end(), of.begin());
}

TEST(Log, KeepsWhatIsAppendedThroughLives)
{
	Folder folder;
	std::vector<Seen> before;
	for (std::uint64_t life = 1; life <= 5; life++) {
		auto log = open_log(options(folder.path(), life));
		ASSERT_TRUE(log);
		EXPECT_EQ(log->began(), 1U);
		EXPECT_TRUE(log->missing().empty());
		EXPECT_EQ(all_of(*log), before);
		for (std::uint64_t i = 0; i < 20; i++)
			ASSERT_EQ(append_data(*log, i, life, life * 100 + i), 0);
		ASSERT_EQ(append_transfer(*log, 3, life + 1, 5), 0);
		EXPECT_EQ(log->written(), life * 21);
		before = all_of(*log);
		EXPECT_EQ(before.size(), life * 21);
		EXPECT_EQ(before.back().sequence, life * 21);
	}
}

TEST(Log, IsOfOneNodeOfOneCluster)
{
	Folder folder;
	ASSERT_EQ(append_data(*open_log(options(folder.path())), 1, 1, 1), 0);
	auto other = options(folder.path());
	other.cluster++;
	EXPECT_EQ(NodeLog::open(other).error().code, EINVAL);
	other.cluster--;
	other.node++;
	EXPECT_EQ(NodeLog::open(other).error().code, EINVAL);
	EXPECT_TRUE(NodeLog::open(options(folder.path())).ok());
}

TEST(Log, FilesOfOthersStay)
{
	Folder folder;
	const std::array names = {"thesis.new", "sources.list.next", "messages.log", "0123.log"};
	for (const char *const name : names)
		std::ofstream(folder.path() / name) << "not of a log";
	std::ofstream(folder.path() / "0123456789abcdef.new") << "left by a killed node";
	{
		const auto opened = LogFolder::open(folder.path());
		ASSERT_TRUE(opened.ok()) << opened.error().message;
		EXPECT_FALSE(opened->is_unreadable());
	}
	ASSERT_EQ(append_data(*open_log(options(folder.path())), 1, 1, 1), 0);
	for (const char *const name : names)
		EXPECT_TRUE(std::filesystem::exists(folder.path() / name)) << name;
	EXPECT_FALSE(std::filesystem::exists(folder.path() / "0123456789abcdef.new"));
}

TEST(Log, IsUsedByOneProcess)
{
	Folder folder;
	auto log = open_log(options(folder.path()));
	EXPECT_EQ(NodeLog::open(options(folder.path())).error().code, EBUSY);
	const pid_t child = ::fork();
	if (!child)
		::_exit(NodeLog::open(options(folder.path())).error().code == EBUSY ? 0 : 1);
	int status = 0;
	ASSERT_EQ(::waitpid(child, &status, 0), child);
	EXPECT_EQ(status, 0);
}

/** Tests a program that forks a worker, which goes on when the program is dead. */
TEST(Log, IsFreeWhenItsProcessIsDeadThoughAChildLives)
{
	Folder folder;
	std::array<int, 2> ends{}, worker_ends{};
	ASSERT_EQ(::pipe(ends.data()), 0);
	ASSERT_EQ(::pipe(worker_ends.data()), 0);         /* the worker lives until this test closes it */
	ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* it is this test's child then */
	char byte = 0;
	const pid_t program = ::fork();
	if (!program) {
		const auto log = NodeLog::open(options(folder.path()));
		if (log && ::fork()) /* dies when the worker has begun */
			::_exit(::read(ends[0], &byte, 1) == 1 ? 0 : 1);
		::close(worker_ends[1]);
		::_exit(!log || ::write(ends[1], &byte, 1) != 1 || ::read(worker_ends[0], &byte, 1));
	}
	int status = 0;
	ASSERT_EQ(::waitpid(program, &status, 0), program);
	EXPECT_EQ(status, 0);
	EXPECT_TRUE(open_log(options(folder.path(), 2)));
	for (const int end : {ends[0], ends[1], worker_ends[0], worker_ends[1]})
		::close(end);
	EXPECT_GT(::waitpid(-1, nullptr, 0), 0);
}

/** Tests the worker itself, as a node of its own. */
TEST(Log, AChildMayTakeItWhenItsParentHasGivenItBack)
{
	Folder folder;
	std::optional<LogFolder> taken = *LogFolder::open(folder.path());
	std::array<int, 2> ends{}; /* each byte is a turn of the other process */
	ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
	char turn = 0;
	const pid_t child = ::fork();
	if (!child) {
		const bool is_refused = LogFolder::open(folder.path()).error().code == EBUSY;
		const bool is_next = ::write(ends[1], &turn, 1) == 1 && ::read(ends[1], &turn, 1) == 1;
		::_exit(is_refused && is_next && LogFolder::open(folder.path()).ok() ? 0 : 1);
	}
	EXPECT_EQ(::read(ends[0], &turn, 1), 1);
	taken.reset();
	EXPECT_EQ(::write(ends[0], &turn, 1), 1);
	int status = 0;
	ASSERT_EQ(::waitpid(child, &status, 0), child);
	EXPECT_EQ(status, 0);
	for (const int end : ends)
		::close(end);
}

/* Kills the writer within the copy of an entry, after any byte of it. */
TEST(Log, TornAtEveryByte)
{
	const Five five = make_five();
	Folder folder;
	for (std::size_t entry = 0; entry < five.ends.size(); entry++) {
		const std::size_t begin = entry ? five.ends[entry - 1] : SegmentHead::size;
		for (std::size_t at = begin; at <= five.ends[entry]; at++) {
			empty(folder.path());
			auto bytes = five.bytes;
			std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), std::byte{});
			const std::uint64_t written = entry;
			std::memcpy(&bytes[written_at], &written, sizeof(written));
			store_bytes(folder.path() / five.name, bytes);
			auto log = open_log(options(folder.path(), 2));
			ASSERT_TRUE(log);
			ASSERT_TRUE(log->missing().empty()) << at;
			const auto seen = all_of(*log);
			/* A byte that is 0 may as well not have been copied yet. */
			ASSERT_GE(seen.size(), entry);
			ASSERT_TRUE(is_prefix(seen, five.entries)) << at;
			if (at % 64 == 0) {
				ASSERT_EQ(append_data(*log, 9, 9, 9), 0);
				log.reset();
				log = open_log(options(folder.path(), 3));
				ASSERT_TRUE(log->missing().empty());
				ASSERT_EQ(all_of(*log).size(), seen.size() + 1);
			}
		}
	}
}

/* Cuts the file anywhere: in this run of the machine that is damage, after a power failure a tail. */
TEST(Log, CutShortAtEveryByte)
{
	const Five five = make_five(2);
	Folder folder;
	for (std::size_t at = 0; at < five.ends.back() + 8; at++) {
		for (const bool power_failure : {false, true}) {
			empty(folder.path());
			store_bytes(folder.path() / five.name, std::span(five.bytes).first(at));
			auto opened = options(folder.path(), 2);
			if (power_failure)
				opened.boot = other_boot;
			auto log = open_log(opened);
			ASSERT_TRUE(log);
			const auto seen = all_of(*log);
			ASSERT_TRUE(is_prefix(seen, five.entries)) << at;
			const std::size_t promised = power_failure ? 2 : 5;
			if (at >= SegmentHead::size) {
				ASSERT_EQ(seen.size() < promised, !log->missing().empty())
					<< at << ' ' << power_failure;
			} else if (at) {
				ASSERT_FALSE(log->missing().empty());
			}
		}
	}
}

/* Checks that all entries read are those written, and that missing ones are reported. */
TEST(Log, DamagedAnywhere)
{
	const Five five = make_five(5);
	Folder folder;
	std::size_t told = 0;
	for (std::size_t at = 0; at < five.ends.back(); at++) {
		empty(folder.path());
		auto bytes = five.bytes;
		bytes[at] ^= static_cast<std::byte>(1 << (at % 8));
		store_bytes(folder.path() / five.name, bytes);
		auto log = open_log(options(folder.path(), 2));
		ASSERT_TRUE(log);
		const auto seen = all_of(*log);
		std::set<std::uint64_t> sequences;
		for (const Seen &entry : seen) {
			ASSERT_EQ(entry, five.entries.at(entry.sequence - 1));
			ASSERT_TRUE(sequences.insert(entry.sequence).second);
		}
		for (const Missing &missing : log->missing()) {
			told++;
			const std::uint64_t until = missing.until ? missing.until : 6;
			for (std::uint64_t sequence = missing.first; sequence < until && sequence <= 5; sequence++)
				sequences.insert(sequence);
		}
		ASSERT_EQ(sequences.size(), 5U) << at;
		if (at >= SegmentHead::size) {
			ASSERT_EQ(log->missing().size(), 1U) << at;
			const auto entry = static_cast<std::size_t>(
				std::upper_bound(five.ends.begin(), five.ends.end(), at) - five.ends.begin());
			const Missing expected{
				1, entry ? five.ends[entry - 1] : SegmentHead::size, entry + 1, entry + 2};
			ASSERT_EQ(log->missing().front(), expected) << at;
		}
	}
	EXPECT_GT(told, five.ends.back() - SegmentHead::size);
}

/* Checks that damage in any segment stays known, and that the entries after it are read. */
TEST(Log, DamagedSegmentAmongOthers)
{
	for (const bool in_head : {false, true}) {
		for (std::size_t which = 0; which < 4; which++) {
			Folder folder;
			{
				auto log = open_log(options(folder.path()));
				for (std::uint64_t i = 1; i <= 28; i++)
					ASSERT_EQ(append_data(*log, i, i, i), 0);
			}
			const auto paths = segments_in(folder.path());
			ASSERT_EQ(paths.size(), 4U);
			auto bytes = bytes_of(paths[which]);
			bytes[in_head ? 20 : 300] ^= std::byte{4};
			store_bytes(paths[which], bytes);
			for (std::uint64_t life = 2; life <= 4; life++) {
				auto log = open_log(options(folder.path(), life));
				ASSERT_TRUE(log);
				const auto seen = all_of(*log);
				EXPECT_EQ(seen.size(), (in_head ? 21 : 27) + life - 2) << which << in_head;
				EXPECT_FALSE(log->missing().empty());
				ASSERT_EQ(append_data(*log, 50, life, life), 0);
				for (std::size_t i = 1; i < seen.size(); i++)
					EXPECT_LT(seen[i - 1].sequence, seen[i].sequence);
			}
		}
	}
}

/* Checks that a log tells whether compaction or somebody else has removed its oldest segments. */
TEST(Log, OldestSegmentsThatAreGoneAreMissing)
{
	for (const bool compacts : {false, true}) {
		Folder folder;
		std::uint64_t life = 1;
		{
			auto log = open_log(options(folder.path(), life++));
			for (std::uint64_t i = 1; i <= 28; i++)
				ASSERT_EQ(append_data(*log, compacts ? i % 20 : i, i, i), 0);
			if (compacts) {
				ASSERT_TRUE(log->compact().ok());
			}
		}
		EXPECT_TRUE(open_log(options(folder.path(), life++))->missing().empty())
			<< "the log itself removed them";
		fs::remove(segments_in(folder.path()).front());
		for (int i = 0; i < 2; i++)
			EXPECT_FALSE(open_log(options(folder.path(), life++))->missing().empty());
	}
}

/* Checks that losses outlive a process that was killed before it could tell them. */
TEST(Log, LossesAreCountedUntilTheyAreTold)
{
	Folder folder;
	{
		auto log = open_log(options(folder.path(), 1));
		log->note_loss();
		for (std::uint64_t i = 1; i <= 28; i++)
			ASSERT_EQ(append_data(*log, i, i, i), 0);
		log->note_loss();
	}
	EXPECT_EQ(open_log(options(folder.path(), 2))->untold(), 2U) << "nothing was appended";
	auto log = open_log(options(folder.path(), 3));
	EXPECT_EQ(log->untold(), 2U);
	EXPECT_TRUE(log->missing().empty());
	log->told();
	log.reset();
	EXPECT_EQ(open_log(options(folder.path(), 4))->untold(), 0U);
}

/* A power failure keeps some pages that were not committed, and loses others. */
TEST(Log, PowerFailureKeepsWhatIsCommitted)
{
	std::minstd_rand random(1);
	for (int round = 0; round < 200; round++) {
		Folder folder;
		const std::uint64_t committed = random() % 30;
		std::vector<Seen> entries;
		{
			auto log = open_log(options(folder.path()));
			for (std::uint64_t i = 1; i <= 30; i++) {
				ASSERT_EQ(append_data(*log, i, i, i), 0);
				if (i == committed) {
					ASSERT_EQ(log->commit(), 0);
				}
			}
			entries = all_of(*log);
		}
		std::uint64_t sequence = 1;
		for (const auto &path : segments_in(folder.path())) {
			auto bytes = bytes_of(path);
			if (sequence > committed && random() % 4 == 0) {
				std::fill(bytes.begin(), bytes.end(), std::byte{});
			}
			for (std::size_t at = SegmentHead::size; at + 560 <= bytes.size(); at += 560, sequence++) {
				if (sequence > committed && random() % 4 == 0)
					std::fill_n(&bytes[at + random() % 512], 48, std::byte{});
			}
			store_bytes(path, bytes);
		}
		auto opened = options(folder.path(), 2);
		opened.boot = other_boot;
		auto log = open_log(opened);
		ASSERT_TRUE(log);
		const auto seen = all_of(*log);
		ASSERT_TRUE(is_prefix(seen, entries)) << round;
		ASSERT_GE(seen.size(), committed) << round;
		ASSERT_TRUE(log->missing().empty()) << round;
		ASSERT_EQ(append_data(*log, 1, 99, 99), 0);
		log.reset();
		opened.incarnation = 3;
		log = open_log(opened);
		ASSERT_TRUE(log->missing().empty());
		ASSERT_EQ(all_of(*log).size(), seen.size() + 1);
	}
}

/* Compaction drops damaged entries; that they existed stays known in all later lives. */
TEST(Log, CompactionForgetsNoGap)
{
	for (const bool in_head : {false, true}) {
		Folder folder;
		{
			auto log = open_log(options(folder.path()));
			for (std::uint64_t i = 1; i <= 28; i++)
				ASSERT_EQ(append_data(*log, i, i, i), 0);
		}
		const auto damaged = segments_in(folder.path())[2];
		auto bytes = bytes_of(damaged);
		bytes[in_head ? 20 : 300] ^= std::byte{4};
		store_bytes(damaged, bytes);
		std::uint64_t first = 0;
		for (std::uint64_t life = 2; life <= 5; life++) {
			auto log = open_log(options(folder.path(), life));
			ASSERT_TRUE(log);
			ASSERT_FALSE(log->missing().empty()) << in_head << life;
			first = first ? first : log->missing().back().first;
			EXPECT_EQ(log->missing().back().first, first);
			EXPECT_FALSE(log->missing().back().failed);
			ASSERT_EQ(append_data(*log, 50, life, life), 0);
			const auto newest = newest_of(*log);
			const auto compacted = log->compact();
			ASSERT_TRUE(compacted.ok()) << compacted.error().message;
			EXPECT_FALSE(fs::exists(damaged));
			EXPECT_EQ(newest_of(*log), newest);
			EXPECT_EQ(newest.size(), (in_head ? 21U : 27U) + 1);
		}
	}
}

/* Checks that the log needs no more segments than its blocks do, however often it was full. */
TEST(Log, FullTenTimes)
{
	Folder folder;
	constexpr std::size_t above = 8;
	for (std::uint64_t life = 1; life <= 20; life += 2) {
		auto limited = options(folder.path(), life);
		limited.most_segments = 2 * above;
		{
			auto log = open_log(limited);
			ASSERT_TRUE(log);
			while (!log->error())
				(void)append_data(*log, log->written() % 20, life, life);
			EXPECT_EQ(log->error(), ENOSPC);
		}
		auto log = open_log(options(folder.path(), life + 1));
		ASSERT_TRUE(log);
		EXPECT_FALSE(log->missing().empty());
		for (const Missing &missing : log->missing())
			EXPECT_TRUE(missing.failed);
		for (std::uint64_t block = 0; block < 20; block++)
			ASSERT_EQ(append_data(*log, block, life + 1, life + 1), 0);
		LogKeeper keeper(*log, {.compact_above = above});
		const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
		while (log->segments() > above && std::chrono::steady_clock::now() < end)
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		ASSERT_LE(log->segments(), above) << life;
	}
}

/* Checks that a segment that could not be compacted is missed when it is gone. */
TEST(Log, ACompactionThatFailsKeepsItsSegment)
{
	Folder folder;
	{
		auto log = open_log(options(folder.path()));
		ASSERT_TRUE(log);
		for (std::uint64_t block = 0; log->segments() < 2; block++)
			ASSERT_EQ(append_data(*log, block, 1, 1), 0);
		ASSERT_TRUE(std::filesystem::create_directory(folder.path() / "0000000000000003.new"));
		EXPECT_FALSE(log->compact());
		EXPECT_EQ(log->error(), 0);
	}
	ASSERT_TRUE(std::filesystem::remove(folder.path() / "0000000000000001.log"));
	auto log = open_log(options(folder.path(), 2));
	ASSERT_TRUE(log);
	EXPECT_EQ(log->missing().size(), 1U);
}

/* Checks that segments filled while a slow disk compacts do not raise the bound: nothing would remove them later. */
TEST(Log, SmallAgainAfterMuchWasWrittenDuringACompaction)
{
	Folder folder;
	constexpr std::size_t above = 8;
	const auto writer = std::this_thread::get_id();
	std::atomic<bool> is_slow = true;
	auto slow = options(folder.path());
	slow.step = [&] {
		if (is_slow && std::this_thread::get_id() != writer)
			std::this_thread::sleep_for(std::chrono::microseconds(100));
	};
	auto log = open_log(slow);
	ASSERT_TRUE(log);
	LogKeeper keeper(*log, {.compact_above = above});
	const auto wait_for = [&](const auto &condition) {
		const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
		while (!condition() && std::chrono::steady_clock::now() < end)
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		return condition();
	};
	std::size_t most = 0;
	for (std::uint64_t i = 0; i < 20'000 && most < 20 * above; i++) {
		ASSERT_EQ(append_data(*log, i % 10, 1, i), 0);
		most = std::max(most, log->segments());
	}
	EXPECT_GT(most, 2 * above) << "the keeper was not slow";
	is_slow = false;
	EXPECT_TRUE(wait_for([&] { return log->segments() <= above; })) << log->segments();
}

TEST(Log, NoMoreSegments)
{
	Folder folder;
	auto limited = options(folder.path());
	limited.most_segments = 2;
	auto log = open_log(limited);
	std::uint64_t appended = 0;
	int error = 0;
	while (!(error = append_data(*log, appended, 1, 1)))
		appended++;
	EXPECT_EQ(error, ENOSPC);
	EXPECT_EQ(appended, 14U);
	EXPECT_EQ(append_data(*log, 0, 1, 1), EROFS);
	EXPECT_EQ(log->error(), ENOSPC);
	EXPECT_EQ(all_of(*log).size(), appended);
	log.reset();
	/* Entries that could not be written are missing, and reported as such. */
	log = open_log(options(folder.path(), 2));
	EXPECT_EQ(all_of(*log).size(), appended);
	ASSERT_EQ(log->missing().size(), 1U);
	EXPECT_EQ(log->missing().front().first, appended + 1);
}

/* Accesses of other nodes end with the error, so it is one of those that the interface names. */
TEST(Log, FolderThatIsGone)
{
	Folder folder;
	auto log = open_log(options(folder.path()));
	fs::remove_all(folder.path());
	int error = 0;
	for (int i = 0; i < 100 && !error; i++)
		error = append_data(*log, 1, 1, 1);
	EXPECT_EQ(error, EIO);
	EXPECT_EQ(log->error(), EIO);
	EXPECT_EQ(log->commit(), EIO);
	EXPECT_EQ(log->cause(), ENOENT);
	EXPECT_EQ(append_data(*log, 1, 1, 1), EROFS);
}

/* Appends until there is an error, in a process limited by @p limit. Returns errno << 16 | number of entries. */
template <typename Limit>
int fill_in_child(const fs::path &folder, const Limit &limit)
{
	std::array<int, 2> ends;
	if (::pipe(ends.data()))
		return -1;
	const pid_t child = ::fork();
	if (!child) {
		int result = -1;
		if (limit()) {
			auto log = NodeLog::open(options(folder));
			int error = log ? 0 : log.error().code;
			int appended = 0;
			while (!error && !(error = append_data(**log, 1, 1, 1)))
				appended++;
			if (log && append_data(**log, 1, 1, 1) != EROFS)
				error = EPROTO;
			if (log && static_cast<int>(all_of(**log).size()) != appended)
				error = EBADMSG;
			result = error << 16 | appended;
		}
		(void)!::write(ends[1], &result, sizeof(result));
		::_exit(0);
	}
	::close(ends[1]);
	int result = -1;
	(void)!::read(ends[0], &result, sizeof(result));
	::close(ends[0]);
	int status = 0;
	(void)::waitpid(child, &status, 0);
	EXPECT_EQ(status, 0);
	return result;
}

TEST(Log, FullDisk)
{
	Folder folder;
	const int result = fill_in_child(folder.path(), [&] {
		return !::unshare(CLONE_NEWNS) && !::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) &&
		       !::mount("none", folder.path().c_str(), "tmpfs", 0, "size=1M");
	});
	if (result == -1)
		GTEST_SKIP() << "a tmpfs of 1 MiB needs root";
	EXPECT_EQ(result >> 16, ENOSPC);
	EXPECT_GT(result & 0xffff, 1000);
}

TEST(Log, FileSizeLimit)
{
	Folder folder;
	const int result = fill_in_child(folder.path(), [] {
		const rlimit limit{2048, 2048};
		return ::signal(SIGXFSZ, SIG_IGN) != SIG_ERR && !::setrlimit(RLIMIT_FSIZE, &limit);
	});
	EXPECT_EQ(result >> 16, EROFS); /* the log could be opened and read */
	EXPECT_EQ(result & 0xffff, 0);
}

TEST(Log, CompactionKeepsTheNewest)
{
	Folder folder;
	auto limited = options(folder.path());
	limited.most_segments = 12;
	auto log = open_log(limited);
	for (std::uint64_t i = 0; i < 2000; i++) {
		ASSERT_EQ(append_data(*log, i % 20, i / 60, i), 0);
		ASSERT_EQ(append_transfer(*log, i % 20, i / 60, static_cast<NodeId>(i % 5)), 0);
		if (log->segments() > 8) {
			const auto compacted = log->compact();
			ASSERT_TRUE(compacted.ok()) << compacted.error().message;
		}
	}
	const auto newest = newest_of(*log);
	ASSERT_EQ(newest.size(), 20U);
	for (const auto &[block, value] : newest) {
		const auto bytes = value_of(1980 + block);
		EXPECT_EQ(value.first, (1980 + block) / 60);
		EXPECT_EQ(value.second, std::vector<std::byte>(bytes.begin(), bytes.end()));
	}
	/* At least the last two transfers are kept */
	std::map<std::uint64_t, std::set<std::uint64_t>> terms;
	ASSERT_TRUE(log->scan([&](const Entry &entry) {
			       if (entry.kind != EntryKind::transfer)
				       return;
			       terms[entry.block.block_number()].insert(entry.counter);
			       EXPECT_EQ(entry.owner_logs, entry.node % 2 == 1);
			       EXPECT_EQ(entry.owner_life, entry.node * 10U);
		       }).ok());
	for (const auto &[block, counters] : terms) {
		EXPECT_TRUE(counters.contains((1980 + block) / 60));
		EXPECT_GE(counters.size(), 2U);
	}
	log.reset();
	log = open_log(options(folder.path(), 2));
	EXPECT_TRUE(log->missing().empty());
	EXPECT_EQ(log->began(), 1U);
	EXPECT_EQ(newest_of(*log), newest);
}

/*
 * Compaction's copy of an entry does not count as the newest if the block is written meanwhile; a freed piece does not
 * return.
 */
TEST(Log, CompactionCopiesWhatHasGrownOld)
{
	Folder folder;
	std::function<void()> then;
	auto hooked = options(folder.path());
	std::uint64_t free_at = 0;
	auto log = open_log(hooked);
	const auto allocate = [&](std::uint32_t objects) {
		return log->append(
			{EntryKind::allocation, no_node, Address(2, block_size), 64, 0, 0, {}, false, 0, objects});
	};
	ASSERT_EQ(allocate(2), 0);
	for (std::uint64_t i = 0; i < 30; i++)
		ASSERT_EQ(append_data(*log, i % 10, 1, i), 0);
	ASSERT_TRUE(log->compact().ok());
	ASSERT_EQ(allocate(0), 0);
	free_at = log->written();
	for (std::uint64_t i = 0; i < 30; i++)
		ASSERT_EQ(append_data(*log, i % 10, 1, 100 + i), 0);
	ASSERT_TRUE(log->compact().ok());
	ASSERT_TRUE(log->compact().ok());
	EXPECT_GT(log->written(), free_at);
	for (const auto &[block, value] : newest_of(*log)) {
		const auto bytes = value_of(120 + block);
		EXPECT_EQ(value.second, std::vector<std::byte>(bytes.begin(), bytes.end()));
	}
	std::uint64_t order = 0;
	std::uint32_t allocated = 0;
	ASSERT_TRUE(log->scan([&](const Entry &entry) {
			       if (entry.kind == EntryKind::allocation && entry.order > order) {
				       order = entry.order;
				       allocated = entry.objects;
			       }
		       }).ok());
	EXPECT_EQ(allocated, 0U);
}

/* Progress of a child that is killed, for its parent */
struct Told {
	std::atomic<std::uint64_t> appended{0};
	std::atomic<std::uint64_t> steps{0};
};

class Shared
{
public:
	Shared()
		: told_(new (::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
				  Told)
	{
	}
	~Shared() { ::munmap(told_, sizeof(Told)); }
	Shared(const Shared &) = delete;
	Shared &operator=(const Shared &) = delete;
	Told *operator->() { return told_; }
	Told &operator*() { return *told_; }

private:
	Told *told_;
};

/* Entry number i, from 1 on, writes i to block i % 7 */
constexpr std::uint64_t blocks = 7;

void write_and_compact(const fs::path &folder, std::uint64_t life, Told &told, std::uint64_t kill_at)
{
	auto killed = options(folder, life);
	killed.step = [&] {
		if (++told.steps == kill_at)
			::raise(SIGKILL);
	};
	auto log = NodeLog::open(killed);
	if (!log)
		::_exit(1);
	for (std::uint64_t i = 0; i < 40; i++) {
		const std::uint64_t number = told.appended + 1;
		if (append_data(**log, number % blocks, number / 20, number))
			::_exit(2);
		told.appended++;
		if (i % 16 == 15 && !(*log)->compact().ok())
			::_exit(3);
		if (i % 10 == 9 && (*log)->prepare())
			::_exit(4);
	}
	::_exit(0);
}

void expect_all(const fs::path &folder, std::uint64_t life, std::uint64_t appended, std::uint64_t kill_at)
{
	auto log = open_log(options(folder, life));
	ASSERT_TRUE(log);
	ASSERT_TRUE(log->missing().empty()) << kill_at;
	const auto newest = newest_of(*log);
	for (std::uint64_t number = appended; number && number + blocks > appended; number--) {
		const auto found = newest.find(number % blocks);
		ASSERT_NE(found, newest.end()) << kill_at;
		/* The entry after the last acknowledged one may be complete, too. */
		const auto bytes = value_of(number);
		const auto next = value_of(number + blocks);
		const std::vector<std::byte> was(bytes.begin(), bytes.end());
		const std::vector<std::byte> is(next.begin(), next.end());
		ASSERT_TRUE(
			found->second.second == was || (number + blocks == appended + 1 && found->second.second == is))
			<< kill_at << ' ' << number;
	}
}

TEST(Log, KilledAtEveryStep)
{
	std::uint64_t kill_at = 1;
	for (bool ended = false; !ended; kill_at++) {
		Folder folder;
		Shared told;
		for (std::uint64_t life = 1; life <= 2; life++) {
			told->steps = 0;
			const pid_t child = ::fork();
			if (!child)
				write_and_compact(folder.path(), life * 2, *told, kill_at);
			int status = 0;
			ASSERT_EQ(::waitpid(child, &status, 0), child);
			ended = WIFEXITED(status);
			ASSERT_TRUE(ended ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL) << status;
			expect_all(folder.path(), life * 2 + 1, told->appended, kill_at);
			if (HasFatalFailure())
				return;
		}
	}
	EXPECT_GT(kill_at, 150U);
}

/* Kills the child at any other moment */
TEST(Log, KilledByOthers)
{
	for (int round = 0; round < 20; round++) {
		Folder folder;
		Shared told;
		const pid_t child = ::fork();
		if (!child) {
			while (true) {
				auto log = NodeLog::open(options(folder.path()));
				for (std::uint64_t i = 0; i < 2000; i++) {
					const std::uint64_t number = told->appended + 1;
					if (append_data(**log, number % blocks, number / 20, number))
						::_exit(2);
					told->appended++;
					if (i % 256 == 255 && !(*log)->compact().ok())
						::_exit(3);
				}
			}
		}
		while (told->appended < 20)
			std::this_thread::yield();
		std::this_thread::sleep_for(std::chrono::milliseconds(round));
		ASSERT_EQ(::kill(child, SIGKILL), 0);
		int status = 0;
		ASSERT_EQ(::waitpid(child, &status, 0), child);
		ASSERT_TRUE(WIFSIGNALED(status));
		expect_all(folder.path(), 2, told->appended, 0);
	}
}

TEST(Log, ManyThreads)
{
	Folder folder;
	auto log = open_log(options(folder.path()));
	constexpr std::uint64_t each = 2000;
	{
		LogKeeper keeper(*log, {.compact_above = 16});
		std::vector<std::jthread> threads;
		for (std::uint64_t thread = 0; thread < 3; thread++) {
			threads.emplace_back([&, thread] {
				for (std::uint64_t i = 1; i <= each; i++) {
					EXPECT_EQ(append_data(*log, thread, i, i), 0);
					if (i % 500 == 0) {
						const std::uint64_t written = log->written();
						EXPECT_EQ(keeper.wait(written), 0);
						EXPECT_GE(log->committed(), written);
					}
				}
			});
		}
	}
	EXPECT_LT(log->segments(), 3 * each / 7);
	log.reset();
	log = open_log(options(folder.path(), 2));
	EXPECT_TRUE(log->missing().empty());
	const auto newest = newest_of(*log);
	ASSERT_EQ(newest.size(), 3U);
	for (const auto &[block, value] : newest)
		EXPECT_EQ(value.first, each);
}

TEST(Log, TakesWhatAProtocolSays)
{
	Folder folder;
	auto log = open_log(options(folder.path()));
	PolicyLog policy(*log, true);
	EXPECT_TRUE(policy.durable());
	policy.set_life(7, 12);
	policy.set_life(8, std::uint64_t{1} << 31); /* too large to be told */
	const auto value = value_of(3);
	EXPECT_EQ(policy.wrote(Address(5, block_size), 9, value), 0);
	EXPECT_EQ(policy.transfers(Address(2, block_size), 4, 7, true), 0);
	EXPECT_EQ(policy.transfers(Address(2, block_size), 5, 8, false), 0);
	EXPECT_EQ(policy.allocated(Address(2, block_size), 128, 5), 0);
	std::vector<Entry> seen;
	ASSERT_TRUE(log->scan([&](const Entry &entry) { seen.push_back(entry); }).ok());
	ASSERT_EQ(seen.size(), 4U);
	EXPECT_EQ(seen[0].kind, EntryKind::data);
	EXPECT_EQ(seen[0].block, Address(5, block_size));
	EXPECT_EQ(seen[1].node, 7);
	EXPECT_EQ(seen[1].counter, 4U);
	EXPECT_TRUE(seen[1].owner_logs);
	EXPECT_FALSE(seen[2].owner_logs);
	EXPECT_EQ(seen[1].owner_life, 12U);
	EXPECT_EQ(seen[2].owner_life, 0U);
	EXPECT_EQ(seen[3].block, Address(2, block_size));
	EXPECT_EQ(seen[3].counter, 128U);
	EXPECT_EQ(seen[3].objects, 5U);
}

/* Tests values of two homes that have had the same number, the first one of higher terms. */
TEST(Log, TellsTheHomesOfANumberApart)
{
	Folder folder;
	auto log = open_log(options(folder.path()));
	PolicyLog policy(*log, true);
	const Address both(5, block_size), first_alone(5, 2 * block_size);
	policy.set_life(5, 10);
	EXPECT_EQ(policy.wrote(both, 40, value_of(1)), 0);
	EXPECT_EQ(policy.wrote(first_alone, 40, value_of(1)), 0);
	policy.set_life(5, 20);
	EXPECT_EQ(policy.wrote(both, 2, value_of(2)), 0);
	const auto seen_since = [&](std::uint64_t since) {
		auto logged = std::make_unique<LoggedBlocks>(5, since);
		EXPECT_TRUE(log->scan([&](const Entry &entry) { logged->add(entry); }).ok());
		return logged;
	};
	for (const bool compacted : {false, true}) {
		if (compacted) {
			for (std::uint64_t i = 0; log->segments() < 3; i++)
				ASSERT_EQ(append_data(*log, 1, i, i), 0);
			ASSERT_TRUE(log->compact().ok());
		}
		for (const std::uint64_t since : {0, 15, 20}) { /* 0: that home's log does not tell */
			const auto logged = seen_since(since);
			const LoggedBlocks::Block *const found = logged->find(1);
			ASSERT_NE(found, nullptr);
			EXPECT_EQ(found->counter, 2U);
			EXPECT_EQ(found->value, value_of(2));
			EXPECT_EQ(logged->find(2) != nullptr, since == 0);
		}
		EXPECT_TRUE(seen_since(21)->blocks().empty());
	}
	policy.set_life(5, UINT64_MAX);
	EXPECT_EQ(policy.wrote(both, 3, value_of(3)), 0);
	EXPECT_EQ(seen_since(UINT64_MAX - 1)->find(1)->value, value_of(3)) << "lives that are too high are alike";
}

/* Tests entries that have a good checksum and a word that their kind does not allow. */
TEST(LogEntry, ALengthThatCannotBe)
{
	const auto parses = [](EntryKind kind, std::uint32_t length, std::uint64_t counter = 1) {
		std::array<std::byte, Entry::max_size> bytes{};
		Entry{kind, 3, Address(2, block_size), counter, 1, 1, {}, false}.serialize(bytes.data(), 5);
		std::memcpy(&bytes[44], &length, sizeof(length));
		const bool has_data = kind == EntryKind::data || kind == EntryKind::piece;
		const std::size_t size = Entry::header_size + (has_data ? length : 0);
		const std::uint64_t sum = apps::crc64(std::span(bytes).subspan(8, size - 8), 5);
		std::memcpy(bytes.data(), &sum, sizeof(sum));
		return Entry::parse(bytes, 5).has_value();
	};
	EXPECT_TRUE(parses(EntryKind::transfer, 0)) << "the owner keeps no log, or nobody knows";
	EXPECT_TRUE(parses(EntryKind::transfer, 1)) << "it keeps one";
	EXPECT_TRUE(parses(EntryKind::transfer, 512)) << "its life";
	EXPECT_TRUE(parses(EntryKind::piece, 0));
	EXPECT_FALSE(parses(EntryKind::piece, 1));
	EXPECT_TRUE(parses(EntryKind::allocation, 0));
	EXPECT_TRUE(parses(EntryKind::allocation, UINT32_MAX, 16));
	EXPECT_TRUE(parses(EntryKind::allocation, 2, 256));
	EXPECT_TRUE(parses(EntryKind::allocation, 1, 1024));
	for (const std::uint64_t bytes : {0, 1, 8, 15, 511, 512, 1024})
		EXPECT_FALSE(parses(EntryKind::allocation, 2, bytes)) << bytes;
	EXPECT_TRUE(parses(EntryKind::data, 512));
	EXPECT_FALSE(parses(EntryKind::data, 1));
}

/* Tests what is allocated by entries of earlier releases, which had one for each piece of a block, and later ones. */
TEST(LogEntry, ObjectsOfABlock)
{
	const auto allocation = [](std::uint64_t bytes, std::uint32_t objects, Address block = Address(2, block_size)) {
		return Entry{EntryKind::allocation, no_node, block, bytes, 0, 0, {}, false, 0, objects};
	};
	const auto piece = [](std::uint64_t offset, std::uint64_t bytes) {
		return Entry{EntryKind::piece, no_node, Address(2, block_size + offset), bytes, 0, 0, {}};
	};
	const auto allocated = [&](const std::vector<Entry> &entries, bool compacted) {
		Folder folder;
		auto log = open_log(options(folder.path()));
		for (const Entry &entry : entries)
			EXPECT_EQ(log->append(entry), 0);
		for (std::uint64_t i = 0; compacted && log->segments() < 3; i++)
			EXPECT_EQ(append_data(*log, 9, i, i), 0);
		EXPECT_TRUE(!compacted || log->compact().ok());
		LoggedBlocks logged(2);
		EXPECT_TRUE(log->scan([&](const Entry &entry) { logged.add(entry); }).ok());
		std::map<std::uint64_t, std::uint64_t> sizes; /* by offset in block 1 */
		for (const auto &[address, bytes] : logged.allocated())
			sizes[address.offset() - block_size] = bytes;
		const bool is_possible = logged.possibly_allocated(3)[1];
		EXPECT_EQ(is_possible, !sizes.empty());
		return sizes;
	};
	using Sizes = std::map<std::uint64_t, std::uint64_t>;
	for (const bool compacted : {false, true}) {
		EXPECT_EQ(allocated({allocation(16, 0x80000001)}, compacted), (Sizes{{0, 16}, {496, 16}}));
		EXPECT_EQ(allocated({allocation(16, 3), allocation(16, 2)}, compacted), (Sizes{{16, 16}}));
		EXPECT_EQ(allocated({allocation(64, 3), allocation(64, 0)}, compacted), Sizes());
		EXPECT_EQ(allocated({allocation(2048, 1)}, compacted), (Sizes{{0, 2048}}));
		EXPECT_EQ(allocated({piece(0, 16), piece(16, 16), piece(0, 0)}, compacted), (Sizes{{16, 16}}));
		EXPECT_EQ(allocated({piece(16, 16), allocation(16, 5)}, compacted), (Sizes{{0, 16}, {32, 16}}));
		EXPECT_EQ(allocated({piece(16, 16), allocation(16, 0)}, compacted), Sizes());
		EXPECT_EQ(allocated({piece(16, 16), allocation(16, 0), allocation(512, 1)}, compacted),
			(Sizes{{0, 512}}));
	}
}

} // namespace
