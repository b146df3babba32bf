/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* ABDLOCK: three replicas in this process, and their clients. */
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "abdlock/kind.hpp"
#include "abdlock/replica.hpp"
#include "checker.hpp"

namespace
{

using namespace prism;
using namespace prism::rs;
using namespace std::chrono_literals;
using apps::Operation;
using apps::OperationKind;
using apps::Outcome;
using Clock = std::chrono::steady_clock;
using Block = std::vector<std::byte>;

constexpr std::uint32_t block_size = 4096; /* several packets, so that it can be torn */
constexpr std::uint64_t blocks = 64;
constexpr std::chrono::milliseconds lease{20};

/** Returns ports that were free just now. */
std::vector<ReplicaAddress> free_addresses(std::size_t count)
{
	std::vector<TcpListener> listeners;
	std::vector<ReplicaAddress> addresses;
	for (std::size_t i = 0; i < count; i++) {
		listeners.push_back(TcpListener::create(0, "127.0.0.1").value());
		addresses.push_back({"127.0.0.1", listeners.back().port()});
	}
	return addresses;
}

class Replicas
{
public:
	explicit Replicas(unsigned count = 3)
		: volume(Configuration::make(block_size, blocks, free_addresses(count)).value())
	{
		for (unsigned replica = 0; replica < count; replica++) {
			LockReplicaOptions options;
			options.volume = volume;
			options.replica = replica;
			options.address = "127.0.0.1";
			options.log = [](apps::LogLevel, const std::string &) {};
			replicas.push_back(LockReplica::create(context, options).value());
			threads_.emplace_back([server = replicas.back().get()] { EXPECT_TRUE(server->serve().ok()); });
		}
	}
	~Replicas()
	{
		for (unsigned replica = 0; replica < replicas.size(); replica++)
			stop(replica);
	}

	/** Ends the replica; nothing of it remains. */
	void stop(unsigned replica)
	{
		if (!replicas[replica])
			return;
		replicas[replica]->stop();
		threads_[replica].join();
		replicas[replica].reset();
	}

	[[nodiscard]] unsigned locks(std::uint64_t block) const
	{
		unsigned count = 0;
		for (const auto &replica : replicas)
			count += replica && replica->at(block).lock != 0;
		return count;
	}

	Context context = Context::open("prism_lo", Progress::engine_thread).value();
	Configuration volume;
	std::vector<std::unique_ptr<LockReplica>> replicas;

private:
	std::vector<std::thread> threads_;
};

/** Returns a block whose words all contain @p number: no two values have a word in common. */
Block block_of(std::uint64_t number)
{
	Block block(block_size);
	for (std::size_t i = 0; i < block.size(); i += sizeof(number))
		std::memcpy(&block[i], &number, sizeof(number));
	return block;
}

/** Client whose calls wait. */
class Client
{
public:
	Client(const Replicas &replicas, bool pipelined, std::chrono::milliseconds timeout = 5s, Time its_lease = lease)
	{
		LockOptions lock;
		lock.pipelined = pipelined;
		lock.lease = its_lease;
		VolumeClientOptions options;
		options.timeout = timeout;
		api = VolumeClient::open(context, replicas.volume, abdlock(replicas.volume, lock), options).value();
		EXPECT_TRUE(api->wait_for_all(5s));
	}

	void begin(OperationKind kind, std::uint64_t block, std::uint64_t number = 0)
	{
		key_ = block;
		operation = {};
		operation.kind = kind;
		operation.key = std::as_bytes(std::span(&key_, 1));
		if (kind == OperationKind::put)
			buffer_ = block_of(number);
		else
			buffer_.assign(block_size, std::byte{0xee});
		operation.value = buffer_;
		operation.result = buffer_;
		ASSERT_EQ(api->start(operation), 0);
	}

	Outcome finish()
	{
		Operation *ended = nullptr;
		const auto deadline = Clock::now() + 20s;
		while (!api->poll({&ended, 1}) && Clock::now() < deadline)
			;
		EXPECT_EQ(ended, &operation);
		return operation.outcome;
	}

	Outcome put(std::uint64_t block, std::uint64_t number)
	{
		begin(OperationKind::put, block, number);
		return finish();
	}

	/** Reads the number that all words of the block contain. */
	Outcome get(std::uint64_t block, std::uint64_t &number)
	{
		begin(OperationKind::get, block);
		const Outcome outcome = finish();
		if (outcome != Outcome::ok)
			return outcome;
		EXPECT_EQ(operation.length, block_size);
		std::memcpy(&number, buffer_.data(), sizeof(number));
		EXPECT_EQ(buffer_, block_of(number)) << "torn";
		return outcome;
	}
	std::uint64_t get(std::uint64_t block)
	{
		std::uint64_t number = ~std::uint64_t{0};
		EXPECT_EQ(get(block, number), Outcome::ok);
		return number;
	}

	/**
	 * Begins to write @p number and stops in the middle, with a quorum locked. Returns false if PUTs are too quick
	 * for that.
	 */
	bool stop_in_put(const Replicas &replicas, std::uint64_t block, std::uint64_t number)
	{
		for (unsigned tries = 0; tries < 1000; tries++) {
			begin(OperationKind::put, block, number);
			Operation *ended = nullptr;
			while (!api->poll({&ended, 1})) {
				if (replicas.locks(block) < 2)
					continue;
				std::this_thread::sleep_for(5ms);
				if (replicas.locks(block) >= 2)
					return true;
			}
		}
		return false;
	}

	Context context = Context::open("prism_lo", Progress::caller).value();
	std::unique_ptr<VolumeClient> api;
	Operation operation;

private:
	std::uint64_t key_ = 0;
	Block buffer_;
};

/** Writer of values that no protocol would write. */
class Vandal
{
public:
	explicit Vandal(const Replicas &replicas)
	{
		for (unsigned replica = 0; replica < replicas.volume.replicas.size(); replica++) {
			LinkOptions options{pd_, cq_, replicas.volume};
			options.kind = abdlock_kind;
			options.slot_size = record_size(block_size);
			options.client = 1;
			options.max_send_wr = 8;
			links_.push_back(Link::connect(options, replica, 0).value());
		}
	}

	/** Tears @p block like a client that dies in the middle of a WRITE: a new tag, and half of the bytes. */
	void tear(unsigned replica, std::uint64_t block, Tag tag)
	{
		Buffer memory = Buffer::create(pd_, block_size).value();
		Version version;
		version.tag = tag;
		version.checksum = version.compute(block_of(tag.counter));
		std::memcpy(memory.data(), &version, sizeof(version));
		std::memset(memory.data() + sizeof(version), 0x5a, block_size / 2);
		const std::uint64_t offset = block * record_size(block_size) + offsetof(RecordHead, version);
		write(replica, offset,
			{reinterpret_cast<std::uintptr_t>(memory.data()), block_size / 2, memory.region().lkey()});
	}

	/** Takes a lock in the name of a client that is gone. */
	void take_lock(unsigned replica, std::uint64_t block, std::uint64_t word)
	{
		Buffer memory = Buffer::create(pd_, sizeof(word)).value();
		std::memcpy(memory.data(), &word, sizeof(word));
		write(replica, block * record_size(block_size),
			{reinterpret_cast<std::uintptr_t>(memory.data()), sizeof(word), memory.region().lkey()});
	}

private:
	void write(unsigned replica, std::uint64_t offset, LocalSlice from)
	{
		const Link &link = *links_.at(replica);
		ASSERT_EQ(Chain{}.rdma_write(link.view().slots.at(offset), from).post(link.qp(), 0), 0);
		Completion completion;
		ASSERT_EQ(cq_.wait(completion, 5s), 0);
		ASSERT_TRUE(completion.ok());
	}

	Context context_ = Context::open("prism_lo", Progress::caller).value();
	ProtectionDomain pd_ = ProtectionDomain::create(context_).value();
	CompletionQueue cq_ = CompletionQueue::create(context_, 16).value();
	std::vector<std::unique_ptr<Link>> links_;
};

class AbdLock : public testing::TestWithParam<bool>
{
protected:
	[[nodiscard]] static bool pipelined() { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Modes, AbdLock, testing::Bool(),
	[](const auto &mode) { return std::string(mode.param ? "pipelined" : "plain"); });

TEST_P(AbdLock, WhatIsWrittenIsReadInSoManyRoundTrips)
{
	Replicas replicas;
	Client client(replicas, pipelined(), 5s, 10s); /* long, so that no attempt is given up on a busy host */
	EXPECT_EQ(client.get(3), 0u) << "zeros, where nothing was written";
	EXPECT_EQ(client.operation.round_trips, pipelined() ? 1u : 3u);
	for (const std::uint64_t block : {std::uint64_t{0}, std::uint64_t{3}, blocks - 1}) {
		ASSERT_EQ(client.put(block, 10 + block), Outcome::ok);
		EXPECT_EQ(client.operation.round_trips, pipelined() ? 2u : 4u);
	}
	for (const std::uint64_t block : {std::uint64_t{0}, std::uint64_t{3}, blocks - 1}) {
		EXPECT_EQ(client.get(block), 10 + block);
		EXPECT_LE(client.operation.round_trips, pipelined() ? 2u : 4u) << "one more, to write back";
	}
	EXPECT_EQ(client.get(4), 0u) << "neighbours are as they were";
}

TEST_P(AbdLock, WhoComesLaterSeesIt)
{
	Replicas replicas;
	Client writer(replicas, pipelined());
	Client reader(replicas, !pipelined());
	for (std::uint64_t number = 1; number <= 50; number++) {
		ASSERT_EQ(writer.put(7, number), Outcome::ok);
		ASSERT_EQ(reader.get(7), number);
	}
}

/** Records every GET and PUT of several threads on two blocks as a history. */
TEST_P(AbdLock, ContentionIsLinearizable)
{
	constexpr unsigned clients = 3;
	constexpr unsigned operations = 400;
	Replicas replicas;
	std::array<std::vector<test::Operation>, clients> histories;
	std::vector<std::thread> threads;
	for (unsigned number = 0; number < clients; number++) {
		threads.emplace_back([&, number] {
			Client client(replicas, pipelined());
			for (unsigned i = 0; i < operations; i++) {
				test::Operation record;
				record.key = i / 3 % 2;
				record.client = number;
				record.kind = (i + number) % 2 ? test::Kind::put : test::Kind::get;
				record.invoked = test::now();
				std::uint64_t value = std::uint64_t{number + 1} << 32 | i;
				const Outcome outcome = record.kind == test::Kind::put ? client.put(record.key, value)
										       : client.get(record.key, value);
				ASSERT_EQ(outcome, Outcome::ok);
				record.responded = test::now();
				record.value = value;
				record.outcome = value ? test::Outcome::ok : test::Outcome::not_found;
				histories[number].push_back(record);
			}
		});
	}
	for (std::thread &thread : threads)
		thread.join();
	std::vector<test::Operation> all;
	for (const auto &history : histories)
		all.insert(all.end(), history.begin(), history.end());
	ASSERT_EQ(all.size(), clients * operations);
	const test::CheckReport report = test::check(all);
	EXPECT_EQ(report.verdict, test::Verdict::linearizable);
	EXPECT_GT(report.most_concurrent, 1u) << "nobody met anybody";
	for (const test::Finding &finding : report.findings)
		ADD_FAILURE() << finding.reason;
	Client last(replicas, false);
	for (std::uint64_t block = 0; block < 2; block++)
		EXPECT_EQ(last.get(block), Client(replicas, true).get(block));
}

TEST_P(AbdLock, TheLocksOfADeadHolderEndWithTheirLease)
{
	Replicas replicas;
	Client other(replicas, pipelined());
	ASSERT_EQ(other.put(5, 1), Outcome::ok);
	for (std::uint64_t round = 0; round < 5; round++) {
		unsigned left = 0;
		for (unsigned tries = 0; tries < 100 && left < 2; tries++) {
			ASSERT_EQ(other.put(5, 1), Outcome::ok); /* requests left from the last try end */
			auto victim = std::make_unique<Client>(replicas, pipelined());
			ASSERT_TRUE(victim->stop_in_put(replicas, 5, 100 + round));
			victim.reset();
			left = replicas.locks(5);
		}
		ASSERT_GE(left, 2u) << "a quorum is locked, and nobody is there who could unlock it";
		const auto begun = Clock::now();
		ASSERT_EQ(other.put(5, 2 + round), Outcome::ok);
		const auto took = Clock::now() - begun;
		EXPECT_GE(took, lease);
		EXPECT_LT(took, 50 * lease);
		EXPECT_EQ(other.get(5), 2 + round);
	}
}

TEST_P(AbdLock, WhoSleptBeyondTheLeaseStartsOver)
{
	Replicas replicas;
	Client sleeper(replicas, pipelined());
	Client other(replicas, pipelined());
	ASSERT_TRUE(sleeper.stop_in_put(replicas, 9, 1));
	ASSERT_EQ(other.put(9, 2), Outcome::ok);
	EXPECT_EQ(sleeper.finish(), Outcome::ok);
	EXPECT_GT(sleeper.operation.round_trips, pipelined() ? 2u : 4u) << "its first locks were gone";
	EXPECT_EQ(other.get(9), 1u) << "the PUT that ended last";
	EXPECT_EQ(sleeper.get(9), 1u);
}

TEST_P(AbdLock, ATornBlockIsNoAnswerAndIsMended)
{
	Replicas replicas;
	Client client(replicas, pipelined());
	Vandal vandal(replicas);
	for (unsigned replica = 0; replica < 3; replica++) {
		const std::uint64_t block = 20 + replica;
		ASSERT_EQ(client.put(block, 1), Outcome::ok);
		ASSERT_EQ(client.put(block, 2), Outcome::ok);
		vandal.tear(replica, block, Tag{99, 1000});
		for (unsigned i = 0; i < 6; i++)
			EXPECT_EQ(client.get(block), 2u) << "torn at " << replica << ", GET " << i;
		ASSERT_EQ(client.put(block, 3), Outcome::ok);
		for (unsigned i = 0; i < 3; i++)
			EXPECT_EQ(client.get(block), 3u);
	}
}

TEST_P(AbdLock, WhatIsTornAtAQuorumIsAnErrorUntilItIsWritten)
{
	Replicas replicas;
	Client client(replicas, pipelined());
	Vandal vandal(replicas);
	ASSERT_EQ(client.put(30, 1), Outcome::ok);
	vandal.tear(0, 30, Tag{99, 1000});
	vandal.tear(1, 30, Tag{99, 1000});
	std::uint64_t number = 0;
	EXPECT_EQ(client.get(30, number), Outcome::failed);
	EXPECT_EQ(client.operation.error, EIO);
	ASSERT_EQ(client.put(30, 2), Outcome::ok);
	for (unsigned i = 0; i < 4; i++)
		EXPECT_EQ(client.get(30), 2u);
}

TEST_P(AbdLock, OneReplicaMayBeGone)
{
	for (unsigned gone = 0; gone < 3; gone++) {
		Replicas replicas;
		Client client(replicas, pipelined());
		for (std::uint64_t block = 0; block < 20; block++)
			ASSERT_EQ(client.put(block, 1 + block), Outcome::ok);
		std::thread stopper([&] { replicas.stop(gone); });
		for (std::uint64_t i = 0; i < 200; i++) {
			const std::uint64_t block = i % 20;
			ASSERT_EQ(client.get(block), 1 + i) << i;
			ASSERT_EQ(client.put(block, 21 + i), Outcome::ok) << i;
		}
		stopper.join();
		for (std::uint64_t block = 0; block < 20; block++)
			EXPECT_EQ(client.get(block), 201 + block);
	}
}

TEST_P(AbdLock, WithoutAQuorumNothingIsDone)
{
	Replicas replicas;
	Client client(replicas, pipelined(), 300ms);
	ASSERT_EQ(client.put(1, 1), Outcome::ok);
	replicas.stop(0);
	replicas.stop(2);
	EXPECT_EQ(client.put(1, 2), Outcome::failed);
	EXPECT_EQ(client.operation.error, EHOSTUNREACH);
	std::uint64_t number = 0;
	EXPECT_EQ(client.get(1, number), Outcome::failed);
	EXPECT_EQ(client.operation.error, EHOSTUNREACH);
}

TEST_P(AbdLock, AClientThatEndsLeavesNoLocks)
{
	Replicas replicas;
	for (std::uint64_t round = 0; round < 20; round++) {
		{
			Client client(replicas, pipelined());
			ASSERT_EQ(client.put(round, round), Outcome::ok);
			ASSERT_EQ(client.get(round), round);
		}
		EXPECT_EQ(replicas.locks(round), 0u) << round;
	}
}

/** A lock that is never taken over would stop everybody: one replica is gone, another is locked for good. */
TEST_P(AbdLock, AStrangersLockIsTakenOverWithOneReplicaGone)
{
	Replicas replicas;
	Client client(replicas, pipelined());
	Vandal vandal(replicas);
	replicas.stop(1);
	vandal.take_lock(0, 2, 0x1234500000001);
	ASSERT_EQ(client.put(2, 1), Outcome::ok);
	EXPECT_EQ(client.get(2), 1u);
}

} // namespace
