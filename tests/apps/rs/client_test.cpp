/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* PRISM-RS on real devices: costs of operations, effects of lost replicas, and all errors. */
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "rs/store/epoch.hpp"
#include "rs/store/protocol.hpp"
#include "support.hpp"

namespace
{

using namespace rs_test;

TEST(Block, ReadsAsZerosBeforeItIsWritten)
{
	Volume volume;
	Client client(volume);
	EXPECT_EQ(client.get(0), '\0');
	EXPECT_EQ(client.last.round_trips, 1u);
	EXPECT_EQ(client.get(63), '\0');
}

TEST(Block, ReadsAsItWasWrittenLast)
{
	Volume volume;
	Client one(volume), other(volume);
	EXPECT_EQ(one.put(5, 'a'), Outcome::ok);
	EXPECT_EQ(one.last.round_trips, 2u);
	EXPECT_EQ(other.get(5), 'a');
	EXPECT_EQ(other.put(5, 'b'), Outcome::ok);
	EXPECT_EQ(one.get(5), 'b');
	EXPECT_EQ(one.get(4), '\0');
}

TEST(Block, OfEverySize)
{
	for (const std::uint32_t size : {512u, 4096u, 65536u}) {
		Volume volume(small_volume(size, 8), 64);
		Client client(volume);
		EXPECT_EQ(client.put(7, 'x'), Outcome::ok) << size;
		EXPECT_EQ(client.get(7), 'x') << size;
		EXPECT_EQ(client.last.length, size);
	}
}

TEST(Replicas, FiveOfThem)
{
	Volume volume(small_volume(512, 8, 5));
	Client client(volume);
	EXPECT_EQ(client.put(0, 'a'), Outcome::ok);
	volume.end(0);
	volume.end(3);
	EXPECT_EQ(client.put(1, 'b'), Outcome::ok);
	EXPECT_EQ(client.get(0), 'a');
	EXPECT_EQ(client.get(1), 'b');
}

TEST(Exclusive, WritesInOneRoundTripAfterTheFirst)
{
	Volume volume;
	Client writer(volume, 1, 1), reader(volume);
	EXPECT_EQ(writer.put(1, 'a'), Outcome::ok);
	EXPECT_EQ(writer.last.round_trips, 2u);
	for (char letter = 'b'; letter < 'z'; letter++) {
		EXPECT_EQ(writer.put(1, letter), Outcome::ok);
		EXPECT_EQ(writer.last.round_trips, 1u);
		EXPECT_EQ(reader.get(1), letter);
	}
}

/**
 * A predecessor may have died with requests under way that arrive late: the next one's guesses are above all of them.
 */
TEST(Exclusive, IsAboveItsPredecessors)
{
	Volume volume;
	Client first(volume, 1, 1);
	for (int i = 0; i < 5; i++)
		EXPECT_EQ(first.put(1, 'a'), Outcome::ok);
	const Tag left = volume.at(1, 1).tag;
	Client second(volume, 1, 2);
	EXPECT_EQ(second.put(1, 'b'), Outcome::ok);
	EXPECT_EQ(left.generation(), 1u);
	EXPECT_EQ(volume.at(1, 1).tag.generation(), 2u);
	EXPECT_EQ(first.put(1, 'c'), Outcome::unknown) << "another replica may have taken it";
	EXPECT_EQ(first.last.error, ESTALE);
	EXPECT_EQ(second.put(1, 'd'), Outcome::ok);
	EXPECT_EQ(first.get(1), 'd');
}

TEST(Exclusive, LearnsThatItIsNot)
{
	Volume volume;
	Client writer(volume, 1, 1), other(volume);
	EXPECT_EQ(writer.put(1, 'a'), Outcome::ok);
	EXPECT_EQ(other.put(1, 'b'), Outcome::ok);
	EXPECT_EQ(other.put(1, 'c'), Outcome::ok);
	EXPECT_EQ(writer.put(1, 'd'), Outcome::unknown);
	EXPECT_EQ(writer.last.error, ESTALE);
	EXPECT_EQ(other.get(1), 'c');
	EXPECT_EQ(writer.put(2, 'd'), Outcome::failed) << "it must not write any more";
	EXPECT_EQ(writer.last.error, ESTALE);
}

TEST(BadInput, IsRefusedBeforeAnythingIsSent)
{
	Volume volume;
	Client client(volume);
	const std::uint64_t block = 64, good = 1;
	const std::string value(512, 'x');
	Operation operation;
	operation.kind = OperationKind::put;
	operation.key = std::as_bytes(std::span(&block, 1));
	operation.value = std::as_bytes(std::span(value));
	EXPECT_EQ(client.api->start(operation), ERANGE);
	operation.key = std::as_bytes(std::span(&good, 1));
	operation.value = operation.value.first(511);
	EXPECT_EQ(client.api->start(operation), EINVAL);
	operation.kind = OperationKind::erase;
	EXPECT_EQ(client.api->start(operation), EINVAL);
	operation.kind = OperationKind::get;
	operation.key = operation.key.first(7);
	EXPECT_EQ(client.api->start(operation), EINVAL);
}

TEST(BadInput, AnotherVolumeIsNotOpened)
{
	Volume volume;
	const auto open = [&](const Configuration &wrong) {
		Client dummy(volume); /* for its context */
		return VolumeClient::open(dummy.context, wrong, prism_rs(wrong)).error();
	};
	Configuration wrong = volume.configuration;
	wrong.volume++;
	EXPECT_EQ(open(wrong).code, EPROTONOSUPPORT);
	EXPECT_NE(open(wrong).message.find("volume"), std::string::npos);
	const std::string secret = fmt::format("{:x}", volume.configuration.volume);
	EXPECT_EQ(open(wrong).message.find(secret), std::string::npos)
		<< "who has not named it is not told which it is";
	EXPECT_NE(volume.logged(0).find(secret), std::string::npos) << "but the operator is";
	wrong = volume.configuration;
	wrong.block_size = 1024;
	EXPECT_NE(open(wrong).message.find("block size"), std::string::npos);
	wrong = volume.configuration;
	wrong.blocks--;
	EXPECT_NE(open(wrong).message.find("number of blocks"), std::string::npos);
	wrong = volume.configuration;
	std::swap(wrong.replicas[0], wrong.replicas[1]);
	EXPECT_NE(open(wrong).message.find("replica number"), std::string::npos);
}

TEST(BadInput, ConfigurationsThatCannotBe)
{
	const std::vector<ReplicaAddress> three{{"a", 1}, {"b", 1}, {"c", 1}}, two{{"a", 1}, {"b", 1}};
	EXPECT_TRUE(Configuration::make(512, 1, three).ok());
	EXPECT_FALSE(Configuration::make(511, 1, three).ok());
	EXPECT_FALSE(Configuration::make(256, 1, three).ok());
	EXPECT_FALSE(Configuration::make(128 << 10, 1, three).ok());
	EXPECT_FALSE(Configuration::make(512, 0, three).ok());
	EXPECT_FALSE(Configuration::make(512, 1, two).ok());
	EXPECT_FALSE(Configuration::make(512, 1, {{"a", 1}, {"a", 1}, {"b", 1}}).ok());
	EXPECT_FALSE(Configuration::make(512, 1, {{"a", 0}, {"b", 1}, {"c", 1}}).ok());
	EXPECT_FALSE(Configuration::make(512, 1, {{"\x1b]0;a", 1}}).ok());
	for (const char *text : {"", "{}", "[]", "{\"volume\": 3}", "{\"volume\": \"xyz\"}"})
		EXPECT_EQ(Configuration::from_json(text).error().code, EINVAL) << text;
	const Configuration good = Configuration::make(512, 9, three).value();
	EXPECT_EQ(Configuration::from_json(good.to_json()).value(), good);
}

/** Returns options with which a client of the volume connects. */
LinkOptions link_options(const Volume &volume, const Context &context)
{
	LinkOptions options{ProtectionDomain::create(context).value(), CompletionQueue::create(context, 64).value(),
		volume.configuration};
	options.kind = prism_kind;
	options.slot_size = sizeof(Slot);
	options.buffer_size = buffer_size(volume.configuration.block_size);
	options.max_send_wr = 16;
	return options;
}

/** Writes @p slot into a slot of @p replica, as a malicious client of the volume could. */
void spoil(const Volume &volume, unsigned replica, std::uint64_t block, const Slot &slot)
{
	const Context context = Context::open("prism_lo", Progress::caller).value();
	LinkOptions options = link_options(volume, context);
	const auto link = Link::connect(options, replica, 0).value();
	const RemoteAddress place = link->view().slots.at(block * sizeof(Slot));
	ASSERT_EQ(Chain{}.write(place, std::as_bytes(std::span(&slot, 1))).post(link->qp(), 1), 0);
	Completion completion;
	ASSERT_EQ(options.cq.wait(completion, 5s), 0);
	ASSERT_TRUE(completion.ok());
}

TEST(Limits, ACounterAtItsEnd)
{
	Volume volume;
	Client client(volume);
	EXPECT_EQ(client.put(3, 'a'), Outcome::ok);
	for (unsigned replica = 0; replica < 3; replica++) {
		Slot slot = volume.at(replica, 3);
		slot.tag.counter = std::numeric_limits<std::uint64_t>::max();
		spoil(volume, replica, 3, slot);
	}
	EXPECT_EQ(client.put(3, 'b'), Outcome::failed);
	EXPECT_EQ(client.last.error, EOVERFLOW);
	EXPECT_EQ(client.put(4, 'b'), Outcome::ok) << "other blocks are not concerned";
}

/** Makes @p replica's slot of @p block point to less than a block. */
void damage(const Volume &volume, unsigned replica, std::uint64_t block)
{
	Slot slot = volume.at(replica, block);
	slot.block.bound = 100;
	spoil(volume, replica, block, slot);
}

/** Block 3 is on replicas 0 and 1 at first. */
TEST(Limits, ADamagedSlotIsOneReplicaLess)
{
	Volume volume;
	Client client(volume);
	EXPECT_EQ(client.put(3, 'a'), Outcome::ok);
	damage(volume, 0, 3);
	EXPECT_EQ(client.get(3), 'a');
	EXPECT_EQ(client.put(3, 'b'), Outcome::ok) << "a PUT replaces it";
	EXPECT_EQ(client.get(3), 'b');
}

TEST(Limits, TooManyDamagedSlotsAreAnErrorAndNothingElse)
{
	Volume volume;
	Client client(volume);
	EXPECT_EQ(client.put(3, 'a'), Outcome::ok);
	damage(volume, 0, 3);
	EXPECT_EQ(client.get(3), 'a') << "now it is at replica 2 as well";
	damage(volume, 1, 3);
	damage(volume, 2, 3);
	EXPECT_EQ(client.get(3), '?');
	EXPECT_EQ(client.last.error, EBADMSG);
	EXPECT_EQ(client.put(4, 'b'), Outcome::ok) << "other blocks are not concerned";
	EXPECT_EQ(client.get(4), 'b');
}

TEST(Failures, OneReplicaMoreOrLessIsNotNoticed)
{
	Volume volume;
	Client client(volume);
	EXPECT_EQ(client.put(1, 'a'), Outcome::ok);
	for (unsigned replica = 0; replica < 3; replica++) {
		volume.end(replica);
		EXPECT_EQ(client.get(1), static_cast<char>('a' + replica));
		EXPECT_EQ(client.put(1, static_cast<char>('b' + replica)), Outcome::ok);
		volume.begin(replica, false);
		RepairOptions repairing;
		repairing.replica = replica;
		const Result<void> repaired = repair(client.context, volume.configuration, repairing);
		ASSERT_TRUE(repaired.ok()) << repaired.error().message;
	}
	EXPECT_EQ(client.get(1), 'd');
}

/** Checks that no peer can use up the epochs that later repairs need. */
TEST(Failures, AClientThatBringsTheLastEpochStopsNoRepair)
{
	Volume volume;
	Client client(volume);
	EXPECT_EQ(client.put(1, 'a'), Outcome::ok);
	const LinkOptions options = link_options(volume, client.context);
	for (unsigned replica = 0; replica < 3; replica++)
		(void)Link::connect(options, replica, ~std::uint64_t{0});
	volume.end(2);
	volume.begin(2, false);
	RepairOptions repairing;
	repairing.replica = 2;
	const Result<void> repaired = repair(client.context, volume.configuration, repairing);
	ASSERT_TRUE(repaired.ok()) << repaired.error().message;
	volume.end(0);
	EXPECT_EQ(client.get(1), 'a');
}

/** A replica that is far behind, as it was cut off during repairs of others, gets the epoch in steps. */
TEST(Failures, AReplicaThatHasMissedManyRepairsCatchesUp)
{
	Volume volume;
	Client before(volume);
	EXPECT_EQ(before.put(1, 'a'), Outcome::ok);
	const LinkOptions options = link_options(volume, before.context);
	for (int repairs = 0; repairs < 10; repairs++)
		ASSERT_TRUE(Link::connect(options, 0, ~std::uint64_t{0}).ok());
	Client client(volume);
	EXPECT_TRUE(client.api->wait_for_all(10s));
	EXPECT_EQ(client.get(1), 'a');
	for (unsigned replica = 0; replica < 3; replica++)
		EXPECT_EQ(client.api->state_of(replica).epoch, client.api->session().epoch());
}

TEST(Failures, TwoOfThreeAreUnavailableAfterTheTimeout)
{
	Volume volume;
	Client client(volume, 1, 0, 600ms);
	EXPECT_EQ(client.put(1, 'a'), Outcome::ok);
	volume.end(0);
	volume.end(1);
	for (const bool puts : {true, false}) {
		const auto begun = std::chrono::steady_clock::now();
		if (puts) {
			EXPECT_EQ(client.put(1, 'b'), Outcome::failed) << "it has asked for tags alone";
		} else {
			EXPECT_EQ(client.get(1), '?');
		}
		EXPECT_EQ(client.last.error, EHOSTUNREACH);
		EXPECT_GE(std::chrono::steady_clock::now() - begun, 600ms);
	}
	VolumeClientOptions options;
	options.setup_timeout = 200ms;
	const auto none =
		VolumeClient::open(client.context, volume.configuration, prism_rs(volume.configuration), options);
	EXPECT_EQ(none.error().code, EHOSTUNREACH);
}

/**
 * One of three replicas has the second PUT, which is exclusive and writes at once; a replica repaired from it has it
 * too.
 */
TEST(Failures, APutWithoutAQuorumMayBeDone)
{
	Volume volume;
	Client client(volume, 1, 1, 600ms);
	EXPECT_EQ(client.put(1, 'a'), Outcome::ok);
	volume.end(1);
	volume.end(2);
	EXPECT_EQ(client.put(1, 'b'), Outcome::unknown);
	EXPECT_EQ(client.last.error, EHOSTUNREACH);
	EXPECT_EQ(volume.at(0, 1).tag.counter, Tag::before(1).counter + 2) << "a replica has it";
	EXPECT_EQ(client.get(1), '?');
	EXPECT_EQ(client.last.outcome, Outcome::failed) << "a GET changes nothing";
	EXPECT_EQ(client.put(2, 'b'), Outcome::failed) << "no block 2 was written yet: it has asked for tags alone";
}

TEST(Failures, AnEmptyReplicaAnswersNobody)
{
	Volume volume;
	Client before(volume);
	EXPECT_EQ(before.put(1, 'a'), Outcome::ok);
	volume.end(2);
	volume.begin(2, false);
	Client client(volume, 1, 0, 600ms);
	EXPECT_FALSE(client.api->state_of(2).connected);
	EXPECT_EQ(client.get(1), 'a');
	volume.end(0); /* one replica has the block, one has forgotten it: no quorum */
	EXPECT_EQ(client.get(1), '?');
	EXPECT_EQ(client.last.error, EHOSTUNREACH);
	RepairOptions repairing;
	repairing.replica = 2;
	repairing.timeout = 500ms;
	EXPECT_EQ(repair(client.context, volume.configuration, repairing).error().code, EHOSTUNREACH);
}

TEST(Failures, AReplicaThatServesIsNotRepaired)
{
	Volume volume;
	Client client(volume);
	RepairOptions repairing;
	EXPECT_EQ(repair(client.context, volume.configuration, repairing).error().code, EALREADY);
	repairing.replica = 3;
	EXPECT_EQ(repair(client.context, volume.configuration, repairing).error().code, EINVAL);
}

/** Repairs two replicas at once, each by a program of its own. */
TEST(TwoRepairs, OfTwoReplicasWaitForEachOther)
{
	Volume volume(small_volume(512, 3000, 5));
	Client client(volume);
	EXPECT_EQ(client.put(7, 'a'), Outcome::ok);
	std::vector<std::thread> repairs;
	for (const unsigned replica : {1u, 3u}) {
		volume.end(replica);
		volume.begin(replica, false);
	}
	for (const unsigned replica : {1u, 3u}) {
		repairs.emplace_back([&volume, replica] {
			const Context context = Context::open("prism_lo", Progress::caller).value();
			RepairOptions repairing;
			repairing.replica = replica;
			repairing.timeout = 20s;
			const Result<void> repaired = repair(context, volume.configuration, repairing);
			EXPECT_TRUE(repaired.ok()) << repaired.error().message;
		});
	}
	for (std::thread &one : repairs)
		one.join();
	Client after(volume);
	EXPECT_TRUE(after.api->wait_for_all(5s));
	/* One epoch for each repair; a few more if the host is so busy that a repair is taken for dead. */
	EXPECT_LE(epoch_counter(after.api->session().epoch()), epoch_counter(first_epoch) + 5);
	volume.end(0);
	volume.end(2);
	EXPECT_EQ(after.get(7), 'a') << "with both that were repaired, and one other";
}

TEST(TwoRepairs, OfOneReplicaDoNotInterruptEachOther)
{
	Volume volume(small_volume(512, 3000));
	Client client(volume);
	EXPECT_EQ(client.put(7, 'a'), Outcome::ok);
	volume.end(1);
	volume.begin(1, false);
	std::atomic<std::uint64_t> copied = 0;
	std::thread first([&volume, &copied] {
		const Context context = Context::open("prism_lo", Progress::caller).value();
		RepairOptions repairing;
		repairing.replica = 1;
		repairing.timeout = 20s;
		repairing.progress = [&copied](std::uint64_t blocks) { copied = blocks; };
		const Result<void> repaired = repair(context, volume.configuration, repairing);
		EXPECT_TRUE(repaired.ok()) << repaired.error().message;
	});
	const auto deadline = std::chrono::steady_clock::now() + 10s;
	while (!copied && std::chrono::steady_clock::now() < deadline)
		std::this_thread::sleep_for(1ms);
	RepairOptions repairing;
	repairing.replica = 1;
	const int second = repair(client.context, volume.configuration, repairing).error().code;
	EXPECT_TRUE(second == EBUSY || second == EALREADY) << second;
	first.join();
	volume.end(0);
	EXPECT_EQ(client.get(7), 'a');
}

/** Checks that @p replica has one buffer in use for each block that it has, once it has no more to look for. */
void expect_no_lost_buffers(Client &client, unsigned replica)
{
	const auto deadline = std::chrono::steady_clock::now() + 15s;
	for (;;) {
		const nlohmann::json stats = nlohmann::json::parse(client.api->stats_of(replica).value());
		const auto figure = [&stats](const char *group, const char *name) {
			return stats[group][name].get<std::uint64_t>();
		};
		const std::uint64_t used = figure("buffers", "number") - figure("buffers", "available");
		if (used == figure("blocks", "written"))
			return;
		if (std::chrono::steady_clock::now() > deadline) {
			ADD_FAILURE() << stats.dump(2);
			return;
		}
		for (int i = 0; i < 10; i++) {
			client.api->poll({});
			std::this_thread::sleep_for(5ms);
		}
	}
}

TEST(Buffers, AreUsedAgainWithoutEnd)
{
	Volume volume(small_volume(512, 4), 128);
	{
		Client one(volume, 8), other(volume, 8);
		for (int i = 0; i < test::rounds(2000); i++) {
			ASSERT_EQ(one.put(static_cast<std::uint64_t>(i) % 4, 'a'), Outcome::ok) << i;
			ASSERT_EQ(other.put(static_cast<std::uint64_t>(i) % 4, 'b'), Outcome::ok) << i;
		}
	}
	Client client(volume);
	for (unsigned replica = 0; replica < 3; replica++)
		expect_no_lost_buffers(client, replica);
}

/** Checks that buffers of clients that end with chains under way are found. */
TEST(Buffers, OfClientsThatStopInMidChainAreFound)
{
	Volume volume(small_volume(512, 4), 128);
	const std::string value(512, 'x');
	for (int round = 0; round < 30; round++) {
		Client client(volume, 4);
		std::array<std::uint64_t, 4> blocks{0, 1, 2, 3};
		std::array<Operation, 4> operations;
		for (std::size_t i = 0; i < blocks.size(); i++) {
			operations[i].kind = OperationKind::put;
			operations[i].key = std::as_bytes(std::span(&blocks[i], 1));
			operations[i].value = std::as_bytes(std::span(value));
			ASSERT_EQ(client.api->start(operations[i]), 0);
		}
		for (int poll = 0; poll < round * 3; poll++)
			client.api->poll({});
	}
	{
		Client last(volume);
		for (std::uint64_t block = 0; block < 4; block++)
			ASSERT_EQ(last.put(block, 'y'), Outcome::ok);
	}
	Client client(volume);
	for (unsigned replica = 0; replica < 3; replica++)
		expect_no_lost_buffers(client, replica);
}

} // namespace
