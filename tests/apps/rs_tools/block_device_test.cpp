/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Volume as a device of bytes, with a client whose operations take a random time; and the exclusive lock. */
#include "rs/nbd/block_device.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "rs/volume/exclusive.hpp"

namespace
{

using namespace prism;
using namespace prism::rs;

constexpr std::uint32_t block_size = 512;
constexpr std::size_t blocks = 24;

/** Blocks in memory. An operation takes effect some polls after its start, in any order. */
class SlowBlocks final : public apps::StoreClient
{
public:
	explicit SlowBlocks(std::uint64_t number_of_blocks = blocks) : bytes_(number_of_blocks * block_size) {}

	/** Error of operation fails_from and all later ones; 0: none fails. */
	std::atomic<int> error = 0;
	std::atomic<std::uint64_t> fails_from = 0;
	std::atomic<std::uint64_t> started = 0;
	std::atomic<std::uint64_t> polls = 0;

	[[nodiscard]] std::size_t depth() const noexcept override { return 8; }

	int start(apps::Operation &operation) noexcept override
	{
		if (under_way_.size() == depth())
			return EAGAIN;
		under_way_.push_back({&operation, polls + random_() % 6, started++});
		return 0;
	}

	std::size_t poll(std::span<apps::Operation *> completed) noexcept override
	{
		polls++;
		std::size_t count = 0;
		std::shuffle(under_way_.begin(), under_way_.end(), random_);
		std::erase_if(under_way_, [&](const Entry &entry) {
			if (entry.due > polls || count == completed.size())
				return false;
			perform(*entry.operation, entry.number);
			completed[count++] = entry.operation;
			return true;
		});
		return count;
	}

private:
	struct Entry {
		apps::Operation *operation;
		std::uint64_t due;
		std::uint64_t number;
	};

	void perform(apps::Operation &operation, std::uint64_t number)
	{
		if (error && number >= fails_from) {
			operation.outcome = apps::outcome_of_loss(operation.kind);
			operation.error = error;
			return;
		}
		std::uint64_t block = 0;
		std::memcpy(&block, operation.key.data(), sizeof(block));
		const std::span<std::byte> there = std::span(bytes_).subspan(block * block_size, block_size);
		if (operation.kind == apps::OperationKind::put)
			std::ranges::copy(operation.value, there.begin());
		else
			std::copy_n(there.begin(), operation.result.size(), operation.result.begin());
		operation.outcome = apps::Outcome::ok;
	}

	std::vector<std::byte> bytes_;
	std::vector<Entry> under_way_;
	std::mt19937 random_{7};
};

class Device : public testing::Test
{
protected:
	using Bytes = std::vector<std::byte>;

	explicit Device(std::chrono::nanoseconds patience = std::chrono::seconds(60))
		: device(take(), block_size, patience,
			  [](const apps::Operation &operation) { return make_error(operation.error, "an operation"); })
	{
	}

	Bytes read(std::uint64_t offset, std::size_t length)
	{
		Bytes bytes(length, std::byte{0xee});
		EXPECT_TRUE(device.read(offset, bytes).ok());
		return bytes;
	}

	Bytes all() { return read(0, blocks * block_size); }

	static Bytes random_bytes(std::size_t length, std::mt19937 &random)
	{
		Bytes bytes(length);
		for (std::byte &byte : bytes)
			byte = static_cast<std::byte>(random());
		return bytes;
	}

	SlowBlocks *client = nullptr; /* of the device */
	BlockDevice device;

private:
	std::unique_ptr<apps::StoreClient> take()
	{
		auto made = std::make_unique<SlowBlocks>();
		client = made.get();
		return made;
	}
};

TEST_F(Device, EveryRangeIsWhatWasWrittenThere)
{
	std::mt19937 random(1);
	Bytes expected(blocks * block_size);
	EXPECT_EQ(all(), expected);
	for (int i = 0; i < 2000; i++) {
		const std::size_t offset = random() % expected.size();
		const std::size_t length = random() % std::min<std::size_t>(expected.size() - offset, 2000) + 1;
		const auto at = expected.begin() + static_cast<std::ptrdiff_t>(offset);
		if (i % 5 == 0) {
			ASSERT_TRUE(device.zero(offset, length).ok());
			std::fill_n(at, length, std::byte{0});
		} else {
			const Bytes bytes = random_bytes(length, random);
			ASSERT_TRUE(device.write(offset, bytes).ok());
			std::ranges::copy(bytes, at);
		}
		const std::size_t from = random() % expected.size();
		const std::size_t count = random() % (expected.size() - from) + 1;
		const auto wanted = expected.begin() + static_cast<std::ptrdiff_t>(from);
		ASSERT_EQ(read(from, count), Bytes(wanted, wanted + static_cast<std::ptrdiff_t>(count))) << from;
	}
	EXPECT_EQ(all(), expected);
}

TEST_F(Device, NothingIsAskedForNothing)
{
	EXPECT_TRUE(device.write(100, {}).ok());
	EXPECT_TRUE(device.zero(100, 0).ok());
	EXPECT_TRUE(device.read(100, {}).ok());
	EXPECT_EQ(client->started, 0u);
}

TEST_F(Device, OnlyBlocksThatAreWrittenInPartAreRead)
{
	const Bytes bytes(10 * block_size);
	ASSERT_TRUE(device.write(2 * block_size, bytes).ok());
	EXPECT_EQ(client->started, 10u);
	ASSERT_TRUE(device.write(2 * block_size + 1, std::span(bytes).first(block_size)).ok());
	EXPECT_EQ(client->started, 14u);
	ASSERT_TRUE(device.write(5, std::span(bytes).first(10)).ok());
	EXPECT_EQ(client->started, 16u);
}

/** Checks that each thread, which has its own bytes in all blocks, finds what it wrote. */
TEST_F(Device, WritesToPartsOfOneBlockAreAllKept)
{
	constexpr std::size_t threads = 6, piece = 40; /* 40 does not divide 512: some pieces are in two blocks */
	std::vector<std::thread> writers;
	std::atomic<int> wrong = 0;
	for (std::size_t thread = 0; thread < threads; thread++) {
		writers.emplace_back([&, thread] {
			std::mt19937 random(static_cast<unsigned>(thread));
			std::map<std::size_t, Bytes> written;
			for (int i = 0; i < 400; i++) {
				const std::size_t number = random() % (blocks * block_size / piece / threads);
				const std::size_t offset = (number * threads + thread) * piece;
				written[offset] = random_bytes(piece, random);
				wrong += !device.write(offset, written[offset]).ok();
				const auto &[where, what] =
					*std::next(written.begin(), static_cast<long>(random() % written.size()));
				wrong += read(where, piece) != what;
			}
			for (const auto &[where, what] : written)
				wrong += read(where, piece) != what;
		});
	}
	for (std::thread &writer : writers)
		writer.join();
	EXPECT_EQ(wrong, 0);
}

/** Checks that a write of a block's beginning or end does not undo a write of the whole block meanwhile. */
TEST_F(Device, WritesOfPartsDoNotUndoThoseOfWholeBlocks)
{
	constexpr std::size_t begin = 100, end = 400; /* bytes that are only written with the whole block */
	std::atomic<bool> ended = false;
	std::atomic<int> failed = 0;
	std::thread parts([&] {
		while (!ended) {
			failed += !device.write(block_size, Bytes(block_size + begin, std::byte{1})).ok();
			failed += !device.write(2 * block_size + end, Bytes(2 * block_size - end, std::byte{2})).ok();
		}
	});
	int undone = 0;
	for (int i = 0; i < 3000; i++) {
		const Bytes whole(4 * block_size, static_cast<std::byte>(i));
		ASSERT_TRUE(device.write(block_size, whole).ok());
		const Bytes rest = read(2 * block_size + begin, end - begin);
		undone += rest != Bytes(rest.size(), static_cast<std::byte>(i));
	}
	ended = true;
	parts.join();
	EXPECT_EQ(undone, 0);
	EXPECT_EQ(failed, 0);
}

TEST_F(Device, TheRestOfARequestThatFailsIsNotBegun)
{
	client->fails_from = 4;
	client->error = EOVERFLOW;
	const Bytes bytes(blocks * block_size);
	const Result<void> done = device.write(0, bytes);
	ASSERT_FALSE(done.ok());
	EXPECT_EQ(done.error().code, EOVERFLOW);
	EXPECT_NE(done.error().message.find("an operation"), std::string::npos);
	/* As many as are under way at once, and those that replaced the four that succeeded */
	EXPECT_LE(client->started, 4 + client->depth());
	client->error = 0;
	EXPECT_TRUE(device.write(0, bytes).ok());
	EXPECT_EQ(all(), bytes);
}

TEST_F(Device, APartIsNotWrittenIfTheRestCannotBeRead)
{
	client->error = EHOSTUNREACH;
	EXPECT_EQ(device.write(7, Bytes(3)).error().code, EHOSTUNREACH);
	EXPECT_EQ(client->started, 1u);
}

TEST_F(Device, TheClientIsPolledWithNothingUnderWay)
{
	const std::uint64_t before = client->polls;
	std::this_thread::sleep_for(std::chrono::milliseconds(500));
	EXPECT_GE(client->polls - before, 5u);
	EXPECT_LE(client->polls - before, 200u) << "nor all the time";
}

/** Store whose operations each end without a quorum after 100 ms. */
class NoQuorum final : public apps::StoreClient
{
public:
	explicit NoQuorum(std::atomic<int> &count) : started_(count) {}

	[[nodiscard]] std::size_t depth() const noexcept override { return 1; }

	int start(apps::Operation &operation) noexcept override
	{
		if (operation_)
			return EAGAIN;
		started_++;
		operation_ = &operation;
		deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
		return 0;
	}

	std::size_t poll(std::span<apps::Operation *> completed) noexcept override
	{
		if (!operation_ || std::chrono::steady_clock::now() < deadline_)
			return 0;
		operation_->outcome = apps::Outcome::failed;
		operation_->error = EHOSTUNREACH;
		completed[0] = std::exchange(operation_, nullptr);
		return 1;
	}

private:
	apps::Operation *operation_ = nullptr;
	std::chrono::steady_clock::time_point deadline_;
	std::atomic<int> &started_;
};

/** Checks that requests do not wait for the time limits of all earlier ones. */
TEST(DeviceWithoutQuorum, RequestsFailTogether)
{
	std::atomic<int> started = 0, failed = 0;
	BlockDevice device(std::make_unique<NoQuorum>(started), block_size, std::chrono::milliseconds(100),
		[](const apps::Operation &operation) { return make_error(operation.error, "no quorum"); });
	std::vector<std::thread> readers;
	for (std::uint64_t number = 0; number < 50; number++) {
		readers.emplace_back([&device, &failed, number] {
			std::vector<std::byte> bytes(block_size);
			const Result<void> done = device.read(number * block_size, bytes);
			failed += !done.ok() && done.error().code == EHOSTUNREACH;
		});
	}
	for (std::thread &reader : readers)
		reader.join();
	EXPECT_EQ(failed, 50);
	EXPECT_LT(started, 25);
}

class Lock : public testing::Test
{
protected:
	void SetUp() override
	{
		std::string name = (std::filesystem::temp_directory_path() / "prism-lock.XXXXXX").string();
		ASSERT_NE(::mkdtemp(name.data()), nullptr);
		folder = name;
		path = (folder / "volume").string();
		std::ofstream(path) << "{}";
	}
	void TearDown() override { std::filesystem::remove_all(folder); }

	std::filesystem::path folder;
	std::string path;
};

TEST_F(Lock, OneAtATimeHasIt)
{
	{
		Result<ExclusiveLock> first = ExclusiveLock::take(path);
		ASSERT_TRUE(first.ok()) << first.error().message;
		const ExclusiveLock moved = *std::move(first);
		Result<ExclusiveLock> second = ExclusiveLock::take(path);
		ASSERT_FALSE(second.ok());
		EXPECT_EQ(second.error().code, EBUSY);
		EXPECT_NE(second.error().message.find(path + ".lock"), std::string::npos) << second.error().message;
		std::filesystem::create_symlink(path, folder / "link");
		EXPECT_EQ(ExclusiveLock::take((folder / "link").string()).error().code, EBUSY);
	}
	EXPECT_TRUE(ExclusiveLock::take(path).ok());
}

TEST_F(Lock, EachOwnerHasALargerNumber)
{
	std::uint32_t before = 0;
	for (int i = 0; i < 3; i++) {
		Result<ExclusiveLock> lock = ExclusiveLock::take(path);
		ASSERT_TRUE(lock.ok()) << lock.error().message;
		EXPECT_GT(lock->generation(), before);
		before = lock->generation();
	}
}

TEST_F(Lock, ItSaysWhatItCannotLock)
{
	EXPECT_EQ(ExclusiveLock::take("etcd://127.0.0.1/key").error().code, EOPNOTSUPP);
	EXPECT_EQ(ExclusiveLock::take(path + "none").error().code, ENOENT);
	std::filesystem::create_directory(path + ".lock");
	EXPECT_EQ(ExclusiveLock::take(path).error().code, EISDIR);
}

} // namespace
