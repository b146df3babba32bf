/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Rules of the master, in virtual time. */
#include "gam/membership/master.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <random>
#include <string>
#include <vector>

#include "gam/membership/log_entry.hpp"

namespace
{

using namespace prism;
using namespace prism::gam;
using namespace std::chrono_literals;

constexpr Time lease = 1600ms;
constexpr Time margin = lease / 16;

Newcomer newcomer(std::uint16_t port = 1, Protocol protocol = Protocol::latch)
{
	Newcomer who;
	who.host = "host";
	who.port = port;
	who.protocol = protocol;
	return who;
}

/** Joins, and renews the lease as a node does at once. */
NodeLife enter(Master &master, Time now, const Newcomer &who = newcomer())
{
	const Result<NodeLife> joined = master.join(who, now);
	const Result<NodeLife> life = joined ? master.renew(*joined, now) : joined;
	EXPECT_TRUE(life.ok()) << life.error().message;
	return life ? *life : NodeLife{};
}

template <typename T>
int code_of(const Result<T> &result)
{
	return result ? 0 : result.error().code;
}

/** Master and its clock; nodes that are to renew do so as time passes. */
class MembershipMaster : public ::testing::Test
{
protected:
	NodeLife join(Protocol protocol = Protocol::latch) { return enter(master, now, newcomer(1, protocol)); }
	/** Lets @p time pass; @p renewing renew at each of its steps. */
	void pass(Time time, const std::vector<NodeLife> &renewing = {})
	{
		for (const Time end = now + time; now < end;) {
			now = std::min(end, now + lease / 8);
			for (const NodeLife &life : renewing)
				EXPECT_EQ(code_of(master.renew(life, now)), 0);
			master.on_time(now);
		}
	}
	/** Has all members sweep @p dead. */
	void sweep(NodeId dead)
	{
		for (const Member &member : std::vector(master.view().members)) {
			if (member.live()) {
				EXPECT_EQ(code_of(master.swept(member.life, dead, epoch(), now)), 0);
			}
		}
	}
	[[nodiscard]] bool live(const NodeLife &life) const { return master.view().find_live(life) != nullptr; }
	[[nodiscard]] std::uint64_t epoch() const { return master.view().epoch; }

	Master master{77, lease};
	Time now = 1000s;
};

TEST_F(MembershipMaster, NumbersAndEpochsRise)
{
	const NodeLife zero = join(), one = join();
	EXPECT_EQ(zero.node, 0);
	EXPECT_EQ(one.node, 1);
	EXPECT_LT(zero.incarnation, one.incarnation);
	const std::uint64_t before = epoch();
	EXPECT_EQ(code_of(master.serving(one, now)), 0);
	EXPECT_EQ(epoch(), before + 1);
	EXPECT_EQ(master.view().find(1)->state, NodeState::serving);
	EXPECT_EQ(code_of(master.serving(one, now)), 0);
	EXPECT_EQ(epoch(), before + 1) << "nothing has changed";
}

TEST_F(MembershipMaster, WhoRenewsLivesAndWhoDoesNotDiesBehindTheMargin)
{
	const NodeLife renews = join(), silent = join();
	pass(lease, {renews});
	EXPECT_TRUE(live(silent));
	for (; now < 1000s + lease + margin; now += 1ms) {
		master.on_time(now);
		EXPECT_TRUE(live(silent));
	}
	ASSERT_EQ(code_of(master.renew(renews, now)), 0);
	const std::uint64_t before = epoch();
	now += 1ms;
	master.on_time(now);
	EXPECT_FALSE(live(silent));
	EXPECT_TRUE(live(renews));
	EXPECT_GT(epoch(), before);
	EXPECT_EQ(code_of(master.renew(silent, now)), ESTALE);
	EXPECT_EQ(code_of(master.serving(silent, now)), ESTALE);
}

/* A renewal that comes too late does not save a node. */
TEST_F(MembershipMaster, ALateRenewalIsRefusedThoughNobodyHasLooked)
{
	const NodeLife other = join(), late = join();
	pass(lease, {other});
	now += margin + 1ms;
	EXPECT_EQ(code_of(master.renew(late, now)), ESTALE);
}

TEST_F(MembershipMaster, ANumberIsFreeWhenAllWhoLiveHaveSwept)
{
	const NodeLife one = join(), two = join(), dead = join();
	pass(lease + 2 * margin + lease / 8, {one, two});
	ASSERT_FALSE(live(dead));
	ASSERT_NE(master.view().find(dead.node), nullptr);
	const std::uint64_t died = epoch();
	EXPECT_EQ(join().node, 3) << "its number is in use";
	const NodeLife late = master.view().find(3)->life;
	EXPECT_EQ(code_of(master.swept(one, dead.node, died - 1, now)), EINVAL) << "it lived then";
	EXPECT_EQ(code_of(master.swept(one, two.node, epoch(), now)), EINVAL) << "it lives";
	EXPECT_EQ(code_of(master.swept(dead, dead.node, died, now)), ESTALE);
	EXPECT_EQ(code_of(master.swept(one, dead.node, died, now)), 0);
	EXPECT_EQ(code_of(master.swept(one, dead.node, died, now)), 0) << "twice is once";
	EXPECT_EQ(code_of(master.swept(two, dead.node, died, now)), 0);
	EXPECT_NE(master.view().find(dead.node), nullptr) << "the newcomer has not";
	EXPECT_EQ(code_of(master.swept(late, dead.node, died, now)), 0);
	EXPECT_EQ(master.view().find(dead.node), nullptr);
	while (join().node != max_nodes - 1) {}
	const NodeLife again = join();
	EXPECT_EQ(again.node, dead.node);
	EXPECT_GT(again.incarnation, dead.incarnation);
	EXPECT_EQ(code_of(master.renew(dead, now)), ESTALE) << "an earlier life";
	EXPECT_EQ(code_of(master.leave(dead, now)), ESTALE);
	EXPECT_TRUE(live(again));
	EXPECT_EQ(code_of(master.swept(one, dead.node, died, now)), 0) << "late, and of the earlier life";
	EXPECT_TRUE(live(again));
}

TEST_F(MembershipMaster, NobodyWaitsForASweeperThatDies)
{
	const NodeLife one = join(), dead = join(), sweeper = join();
	EXPECT_EQ(code_of(master.leave(dead, now)), 0) << "who leaves is dead at once";
	EXPECT_EQ(code_of(master.swept(one, dead.node, epoch(), now)), 0);
	ASSERT_NE(master.view().find(dead.node), nullptr);
	pass(2 * lease, {one});
	EXPECT_FALSE(live(sweeper));
	EXPECT_EQ(master.view().find(dead.node), nullptr);
	EXPECT_NE(master.view().find(sweeper.node), nullptr);
}

TEST_F(MembershipMaster, WhoIsAloneNeedNotSweepForTheDead)
{
	const NodeLife one = join();
	EXPECT_EQ(code_of(master.leave(one, now)), 0);
	EXPECT_TRUE(master.view().members.empty());
	EXPECT_EQ(code_of(master.leave(join(), now)), 0);
	EXPECT_TRUE(master.view().members.empty());
}

/* Checks that whoever still has an address of a dead node's memory does not soon find another's there. */
TEST_F(MembershipMaster, TheNumberThatIsFreeLongestIsGivenFirst)
{
	const NodeLife stays = join();
	for (NodeId i = 0; i < 3 * max_nodes; i++) {
		const NodeLife comes = join();
		EXPECT_EQ(comes.node, 1 + i % (max_nodes - 1));
		EXPECT_EQ(code_of(master.leave(comes, now)), 0);
		sweep(comes.node);
		if (i % 10)
			continue;
		const std::string stored = master.serialize();
		master = Master(5, lease);
		ASSERT_EQ(code_of(master.load(stored, now)), 0) << "by etcd, too";
	}
	EXPECT_TRUE(live(stays));
}

TEST_F(MembershipMaster, ThereAreSixtyFour)
{
	for (NodeId node = 0; node < max_nodes; node++) {
		const NodeLife life = join();
		EXPECT_EQ(life.node, node);
		EXPECT_EQ(code_of(master.renew(life, now)), 0);
	}
	EXPECT_EQ(code_of(master.join(newcomer(), now)), EUSERS);
}

/** Tests a container that begins a new log whenever it is started again: its numbers stay taken. */
TEST_F(MembershipMaster, LogsDoNotTakeTheLastNumber)
{
	Newcomer with_log = newcomer();
	with_log.log = LogClaim();
	NodeLife last;
	for (NodeId i = 0; i < max_nodes - 1; i++) {
		last = enter(master, now, with_log);
		EXPECT_EQ(code_of(master.leave(last, now)), 0);
	}
	const Result<NodeLife> refused = master.join(with_log, now);
	ASSERT_EQ(code_of(refused), EUSERS);
	EXPECT_NE(refused.error().message.find("prism-gam forget NUMBER"), std::string::npos)
		<< refused.error().message;
	/* A node without a log gets it, and gives up those that are away. */
	(void)master.join(newcomer(), now);
	EXPECT_EQ(code_of(master.join(with_log, now)), EUSERS) << "nor that of one that has only joined";
	NodeLife tool = join();
	EXPECT_EQ(code_of(master.join(newcomer(), now)), EUSERS);
	with_log.log = LogClaim{master.log_cluster(), last, false};
	sweep(last.node);
	const NodeLife again = enter(master, now, with_log);
	EXPECT_EQ(again.node, last.node) << "a log that returns has its number";
	EXPECT_EQ(code_of(master.leave(tool, now)), 0);
	EXPECT_EQ(code_of(master.join(newcomer(), now)), EBUSY) << "it will be free: the next tool waits";
	sweep(tool.node);
	tool = join();
	EXPECT_EQ(code_of(master.give_up(tool, 5, now)), 0);
	sweep(5);
	with_log.log = LogClaim();
	EXPECT_EQ(code_of(master.join(with_log, now)), EUSERS) << "while another has the last one, none is left";
	EXPECT_EQ(code_of(master.leave(tool, now)), 0);
	sweep(tool.node);
	EXPECT_EQ(code_of(master.join(with_log, now)), 0);
	EXPECT_EQ(code_of(master.join(with_log, now)), 0) << "in place of one that has only joined";
}

/* Strangers that join and then stay silent do not use up the numbers. */
TEST_F(MembershipMaster, WhoIsNotHeardOfAgainMakesRoom)
{
	const NodeLife member = join();
	EXPECT_EQ(code_of(master.serving(member, now)), 0);
	EXPECT_EQ(code_of(master.renew(member, now)), 0);
	for (int i = 0; i < 200; i++)
		(void)master.join(newcomer(), now);
	const NodeLife late = join();
	EXPECT_EQ(code_of(master.renew(late, now)), 0);
	for (int i = 0; i < 200; i++)
		(void)master.join(newcomer(), now);
	EXPECT_TRUE(live(member));
	EXPECT_TRUE(live(late));
	EXPECT_EQ(master.view().members.size(), std::size_t{max_nodes});
}

/* Others would wait for a stranger, which never connects. */
TEST_F(MembershipMaster, OthersHearOfANodeWhenItHasRenewed)
{
	const NodeLife member = join(), dead = join();
	EXPECT_EQ(code_of(master.leave(dead, now)), 0);
	Newcomer with_log = newcomer();
	with_log.log = LogClaim();
	const Result<NodeLife> stranger = master.join(newcomer(), now), other = master.join(with_log, now);
	ASSERT_TRUE(stranger && other);
	const NodeLife late = join();
	EXPECT_EQ(master.announced().members.size(), 3U);
	EXPECT_TRUE(master.announced().find_live(late));
	EXPECT_EQ(code_of(master.serving(*stranger, now)), EINVAL);
	for (const NodeLife &sweeper : {member, late})
		EXPECT_EQ(code_of(master.swept(sweeper, dead.node, epoch(), now)), 0);
	EXPECT_FALSE(master.view().find(dead.node)) << "nobody waits until the stranger has swept";
	pass(2 * lease, {member, late});
	EXPECT_EQ(master.view().members.size(), 2U) << "nor until they have swept a stranger, nor for its log";
}

/* Members take a life up to the epoch of their view that is not there for one that is over: Farewells, Meeting. */
TEST_F(MembershipMaster, AViewKnowsOfAllLivesUpToItsEpoch)
{
	(void)join();
	const Result<NodeLife> late = master.join(newcomer(), now);
	ASSERT_TRUE(late.ok());
	const NodeLife other = join();
	const std::uint64_t before = master.announced().epoch;
	const Result<NodeLife> life = master.renew(*late, now);
	ASSERT_TRUE(life.ok());
	EXPECT_GT(life->incarnation, before);
	EXPECT_TRUE(master.announced().find_live(*life));
	EXPECT_EQ(code_of(master.renew(*late, now)), ESTALE);
	EXPECT_EQ(master.renew(*life, now)->incarnation, life->incarnation) << "it stays";
	EXPECT_EQ(master.renew(other, now)->incarnation, other.incarnation);
}

TEST_F(MembershipMaster, ANodeThatReturnsIsThereAtOnce)
{
	Newcomer who = newcomer();
	who.log = LogClaim();
	const NodeLife life = enter(master, now, who), other = join();
	EXPECT_EQ(code_of(master.leave(life, now)), 0);
	EXPECT_EQ(code_of(master.swept(other, life.node, epoch(), now)), 0);
	who.log = LogClaim{master.log_cluster(), life, false};
	const Result<NodeLife> again = master.join(who, now);
	ASSERT_TRUE(again.ok());
	EXPECT_TRUE(master.announced().find_live(*again)) << "it was there all the time, as one that is away";
	EXPECT_EQ(master.renew(*again, now)->incarnation, again->incarnation);
}

/* Else one forged message would keep all logs of a cluster away. */
TEST_F(MembershipMaster, AClusterOfLogsIsThatOfNodesThatRenew)
{
	Newcomer forged = newcomer(), who = newcomer();
	forged.log = LogClaim{7, {3, 9}, false};
	who.log = LogClaim{8, {4, 10}, false};
	const Result<NodeLife> stranger = master.join(forged, now), node = master.join(who, now);
	ASSERT_TRUE(stranger.ok());
	ASSERT_TRUE(node.ok());
	Master stored(5, lease);
	EXPECT_EQ(code_of(stored.load(master.serialize(), now)), 0);
	for (Master *const asked : {&master, &stored}) {
		EXPECT_TRUE(asked->renew(*node, now).ok());
		EXPECT_EQ(asked->log_cluster(), 8);
		EXPECT_EQ(code_of(asked->renew(*stranger, now)), EINVAL) << "two clusters' logs do not mix";
		forged.log->last.node = 5;
		EXPECT_EQ(code_of(asked->join(forged, now)), EINVAL);
	}
}

TEST_F(MembershipMaster, AClusterOfLogsIsThatOfWhoRenewsFirst)
{
	Newcomer who = newcomer(), later = newcomer();
	who.log = LogClaim{8, {4, 10}, false};
	later.log = LogClaim{7, {3, 9}, false};
	const Result<NodeLife> node = master.join(who, now), stranger = master.join(later, now);
	ASSERT_TRUE(node.ok());
	ASSERT_TRUE(stranger.ok());
	EXPECT_TRUE(master.renew(*node, now).ok()) << "the other has only joined";
	EXPECT_EQ(master.log_cluster(), 8);
	EXPECT_EQ(code_of(master.renew(*stranger, now)), EINVAL);
}

TEST_F(MembershipMaster, AnEmptyLogsNodeStartsAgainBesideLogsThatCameMeanwhile)
{
	Newcomer empty = newcomer(), returns = newcomer();
	empty.log = LogClaim();
	returns.log = LogClaim{9, {3, 9}, false};
	const Result<NodeLife> first = master.join(empty, now), second = master.join(returns, now);
	ASSERT_TRUE(first.ok());
	ASSERT_TRUE(second.ok());
	EXPECT_TRUE(master.renew(*second, now).ok());
	const Result<NodeLife> refused = master.renew(*first, now);
	ASSERT_EQ(code_of(refused), EINVAL);
	EXPECT_NE(refused.error().message.find("start this node again"), std::string::npos) << refused.error().message;
}

/* Else old values would come back in place of the other node's. */
TEST_F(MembershipMaster, TheLogOfANodeThatWasGivenUpDoesNotGetTheNumberOfAnother)
{
	Newcomer with_log = newcomer(1, Protocol::directory);
	with_log.log = LogClaim();
	const auto claim = [&](const NodeLife &last) {
		Newcomer who = with_log;
		who.log->last = last;
		who.log->cluster = master.log_cluster();
		return who;
	};
	const auto die = [&](const NodeLife &life) {
		EXPECT_EQ(code_of(master.leave(life, now)), 0);
		sweep(life.node);
	};
	const NodeLife stays = join(Protocol::directory), old = enter(master, now, with_log);
	die(old);
	EXPECT_EQ(code_of(master.give_up(stays, old.node, now)), 0);
	EXPECT_NE(master.view().find(old.node), nullptr) << "not all have heard that it will not return";
	sweep(old.node);
	while (master.join(newcomer(1, Protocol::directory), now)->node != max_nodes - 1) {}
	const NodeLife other = enter(master, now, with_log);
	ASSERT_EQ(other.node, old.node);
	die(other);
	Master stored(5, lease);
	EXPECT_EQ(code_of(stored.load(master.serialize(), now)), 0);
	for (Master *const asked : {&master, &stored}) {
		const Result<NodeLife> usurper = asked->join(claim(old), now);
		ASSERT_EQ(code_of(usurper), EINVAL);
		EXPECT_NE(usurper.error().message.find("was given up"), std::string::npos);
	}
	const NodeLife again = *master.join(claim(other), now);
	EXPECT_EQ(again.node, other.node);
	die(again); /* before it has written */
	const NodeLife third = *master.join(claim(other), now);
	die(third);
	EXPECT_EQ(code_of(master.join(claim({old.node, third.incarnation + 9}), now)), EINVAL);
	EXPECT_EQ(code_of(master.join(claim(third), now)), 0);
}

/* The epoch does not follow a forged one: no epochs that logs can tell apart would be left for the nodes. */
TEST_F(MembershipMaster, ALifeThatCannotHaveBeenIsRefused)
{
	Newcomer forged = newcomer(1, Protocol::directory);
	for (const std::uint64_t far :
		{DataCounter::most_life, (std::uint64_t{1} << 32) - 10, std::uint64_t{1} << 61}) {
		forged.log = LogClaim{77, {63, epoch() + far}, false};
		EXPECT_EQ(code_of(master.join(forged, now)), EINVAL) << far;
		EXPECT_EQ(epoch(), 0U);
	}
	forged.log = LogClaim{77, {63, 100'000'000}, false};
	EXPECT_GT(enter(master, now, forged).incarnation, 100'000'000U) << "a new master knows of no epochs";
	const std::uint64_t before = epoch();
	forged.log = LogClaim{77, {62, before + (1 << 24)}, false};
	EXPECT_EQ(code_of(master.join(forged, now)), EINVAL) << "too far ahead of a member with a log";
	EXPECT_EQ(epoch(), before);
	forged.log->last.incarnation--;
	EXPECT_EQ(code_of(master.join(forged, now)), 0);
}

TEST_F(MembershipMaster, NodesWithLogsHaveNoLivesThatLogsCannotTellApart)
{
	Newcomer who = newcomer(1, Protocol::directory);
	who.log = LogClaim{77, {63, DataCounter::most_life - 1}, false};
	const NodeLife joined = *master.join(who, now);
	EXPECT_LT(epoch(), 10U) << "it may be a stranger";
	EXPECT_EQ(code_of(master.renew(joined, now)), 0);
	for (const LogClaim &log : {LogClaim(), LogClaim{77, {5, 9}, false}}) {
		who.log = log;
		EXPECT_EQ(code_of(master.join(who, now)), ERANGE);
	}
	EXPECT_EQ(code_of(master.join(newcomer(1, Protocol::directory), now)), 0) << "one without a log";
}

TEST_F(MembershipMaster, AllSpeakTheSameProtocol)
{
	(void)join(Protocol::directory);
	EXPECT_EQ(code_of(master.join(newcomer(1, Protocol::latch), now)), EPROTONOSUPPORT);
	EXPECT_EQ(code_of(master.join(newcomer(0), now)), EINVAL);
	EXPECT_EQ(master.view().members.size(), 1u);
}

/** A node that was there first and has left, such as a tool, does not choose the protocol for all later ones. */
TEST_F(MembershipMaster, WhoComesWhenNobodyIsThereChoosesTheProtocol)
{
	EXPECT_EQ(code_of(master.leave(join(Protocol::latch), now)), 0);
	(void)join(Protocol::directory);
	EXPECT_EQ(code_of(master.join(newcomer(1, Protocol::latch), now)), EPROTONOSUPPORT);
}

TEST_F(MembershipMaster, LogsAreDurableOnAllNodesOrNone)
{
	const auto with_log = [](bool durable, NodeLife last = {}) {
		Newcomer who = newcomer(1, Protocol::directory);
		who.log = LogClaim{last.node == no_node ? 0U : 77U, last, durable};
		return who;
	};
	(void)join(Protocol::directory);
	(void)enter(master, now, with_log(true));
	const Result<NodeLife> other = master.join(with_log(false), now);
	ASSERT_FALSE(other.ok());
	EXPECT_EQ(other.error().code, EINVAL);
	EXPECT_NE(other.error().message.find("--durable"), std::string::npos) << other.error().message;
	EXPECT_EQ(code_of(master.join(with_log(true), now)), 0);
	(void)join(Protocol::directory);
	Master next(77, lease);
	EXPECT_EQ(code_of(next.load(master.serialize(), now)), 0);
	EXPECT_EQ(code_of(next.join(with_log(false), now)), EINVAL) << "by etcd, too";
	/* The node's own last life does not count. */
	Master alone(77, lease);
	const NodeLife first = enter(alone, now, with_log(true));
	EXPECT_EQ(code_of(alone.join(with_log(false, first), now)), EBUSY);
	EXPECT_EQ(code_of(alone.leave(first, now)), 0);
	EXPECT_EQ(code_of(alone.join(with_log(false, first), now)), 0);
	EXPECT_EQ(code_of(alone.join(with_log(true), now)), EINVAL);
}

/** One that joins again and again, and never renews, may be a stranger. */
TEST_F(MembershipMaster, WhoOnlyJoinsDecidesNothing)
{
	Newcomer stranger = newcomer(1, Protocol::directory), other = newcomer(1, Protocol::latch);
	stranger.log = LogClaim{0, {}, true};
	other.log = LogClaim{0, {}, false};
	const NodeLife first = *master.join(stranger, now);
	const Result<NodeLife> joined = master.join(other, now);
	ASSERT_TRUE(joined) << joined.error().message;
	const NodeLife late = *master.join(stranger, now);
	Master next(77, lease);
	EXPECT_EQ(code_of(next.load(master.serialize(), now)), 0);
	for (Master *each : {&master, &next}) {
		EXPECT_EQ(code_of(each->renew(*joined, now)), 0);
		EXPECT_EQ(code_of(each->renew(first, now)), EPROTONOSUPPORT) << "it joined before, and differs";
		EXPECT_EQ(code_of(each->renew(late, now)), EPROTONOSUPPORT);
		EXPECT_EQ(code_of(each->join(stranger, now)), EPROTONOSUPPORT);
		stranger.protocol = Protocol::latch;
		EXPECT_EQ(code_of(each->join(stranger, now)), EINVAL) << "of another policy";
		stranger.protocol = Protocol::directory;
	}
}

/** Tests nodes that a new master learns of from the log of another. */
TEST_F(MembershipMaster, WhoIsExpectedIsAwayUntilItComesOrIsGivenUp)
{
	Newcomer who = newcomer(1, Protocol::directory);
	who.log = LogClaim{77, {1, 100}, true};
	const NodeLife home = enter(master, now, who);
	const NodeLife plain = join(Protocol::directory);
	EXPECT_EQ(code_of(master.expect(plain, bit(2), now)), EINVAL) << "it has no log that tells";
	EXPECT_EQ(code_of(master.expect({home.node, 1}, bit(2), now)), ESTALE);
	const std::uint64_t before = epoch();
	EXPECT_EQ(code_of(master.expect(home, bit(home.node) | bit(plain.node), now)), 0);
	EXPECT_EQ(epoch(), before) << "it knows these";
	EXPECT_EQ(code_of(master.expect(home, bit(2) | bit(3) | bit(63), now)), 0);
	for (const NodeId node : {2, 3, 63}) {
		const Member *const member = master.view().find(node);
		ASSERT_NE(member, nullptr);
		EXPECT_TRUE(member->is_away());
		EXPECT_TRUE(member->durable);
		EXPECT_GT(member->changed, before);
	}
	Master stored(5, lease);
	EXPECT_EQ(code_of(stored.load(master.serialize(), now)), 0) << "also by etcd";
	EXPECT_TRUE(stored.view().find(63)->is_away());
	EXPECT_EQ(join(Protocol::directory).node, 4) << "their numbers are kept for them";
	/* One comes */
	who.log = LogClaim{77, {2, 90}, true};
	sweep(2);
	const Result<NodeLife> come = master.join(who, now);
	ASSERT_TRUE(come.ok()) << come.error().message;
	EXPECT_EQ(come->node, 2);
	/* One is given up */
	EXPECT_EQ(code_of(master.give_up(plain, 3, now)), 0);
	sweep(3);
	EXPECT_EQ(master.view().find(3), nullptr);
	Master later(5, lease);
	EXPECT_EQ(code_of(later.load(master.serialize(), now)), 0);
	EXPECT_EQ(code_of(later.expect(home, bit(3), now)), 0);
	EXPECT_EQ(later.view().find(3), nullptr) << "nobody waits for it";
	EXPECT_EQ(later.give_up(home, 3, now).error().code, EINVAL);
	/* ... until it comes, after all */
	who.log = LogClaim{77, {3, 90}, true};
	const NodeLife after_all = enter(later, now, who);
	EXPECT_EQ(after_all.node, 3);
	EXPECT_EQ(code_of(later.leave(after_all, now)), 0);
	EXPECT_TRUE(later.view().find(3)->is_away());
}

TEST_F(MembershipMaster, AClockThatIsSetBackKeepsNobodyAlive)
{
	const NodeLife one = join(), silent = join();
	pass(lease / 2, {one});
	now -= 500s;
	pass(2 * lease, {one});
	EXPECT_TRUE(live(one));
	EXPECT_FALSE(live(silent));
}

/* After a stop of the master, renewals that came meanwhile still wait to be read, so no node is dead. */
TEST_F(MembershipMaster, AMasterThatWasStoppedBlamesNobody)
{
	const NodeLife one = join();
	pass(lease / 4);
	now += 10 * lease;
	master.on_time(now);
	EXPECT_TRUE(live(one));
	pass(lease / 2);
	EXPECT_TRUE(live(one));
	pass(margin + lease / 8);
	EXPECT_FALSE(live(one));
}

TEST_F(MembershipMaster, AMasterThatIsStoppedAgainAndAgainFindsWhoIsDead)
{
	const NodeLife one = join(), dead = join();
	for (const Time end = now + 6 * lease; now < end; pass(lease / 8, {one})) {
		now += lease;
		EXPECT_EQ(code_of(master.renew(one, now)), 0);
	}
	EXPECT_TRUE(live(one));
	EXPECT_FALSE(live(dead));
}

/**
 * Returns the number of runs, of many, in which a node uses its lease after the master has declared it dead. The node's
 * clock runs at @p rate of the master's; questions and answers take any time, or are lost.
 */
int leases_outlived(double rate)
{
	std::minstd_rand random(5);
	int found = 0;
	for (int run = 0; run < 400; run++) {
		Master master(1, lease);
		const Time begin = 5000s;
		const auto own = [&](Time time) {
			return Time(static_cast<Time::rep>(static_cast<double>((time - begin).count()) * rate));
		};
		const auto some = [&](Time most) { return Time(static_cast<Time::rep>(random()) % most.count()); };
		const NodeLife life = enter(master, begin);
		(void)enter(master, begin); /* keeps the dead visible */
		Time now = begin, until = lease;
		for (int i = 0; i < 10 && master.view().find_live(life); i++) {
			const Time asked = own(now);
			/* Mostly fast: the longer a question takes, the more careful is the node. */
			const Time there = some(random() % 4 ? 1us : lease / 4), back = some(lease / 4);
			now += there;
			master.on_time(now);
			if (master.renew(life, now) && random() % 4)
				until = asked + lease;
			now += back;
		}
		/* From now on the node cannot reach the master. */
		while (master.view().find_live(life)) {
			now += 1ms;
			master.on_time(now);
		}
		found += own(now) < until;
	}
	return found;
}

TEST(MembershipLease, EndsBeforeTheMasterSaysSo)
{
	EXPECT_EQ(leases_outlived(1.0), 0);
	EXPECT_EQ(leases_outlived(16.0 / 17.0 + 0.001), 0) << "as slow as the margin lets it be";
	EXPECT_EQ(leases_outlived(3.0), 0) << "a fast clock only costs";
}

TEST(MembershipLease, AClockBeyondTheMarginOutlivesIt)
{
	EXPECT_GT(leases_outlived(0.8), 0) << "else the test above shows nothing";
}

/** Two members that take turns as the master, each after loading the stored state. */
class MembershipByTurns : public ::testing::Test
{
protected:
	/** Loads the stored state into @p by, calls @p act and stores the new state. Returns the result of @p act. */
	template <typename Act>
	auto turn(Master &by, const Act &act)
	{
		EXPECT_TRUE(stored.empty() || by.load(stored, now).ok());
		auto result = act(by);
		stored = by.serialize();
		return result;
	}

	std::string stored;
	Time now = 10s;
	Master first{9, lease}, second{10, lease};
};

TEST_F(MembershipByTurns, WhoseBeatRisesLives)
{
	const NodeLife one = turn(first, [&](Master &by) { return enter(by, now); });
	const NodeLife two = turn(second, [&](Master &by) { return enter(by, now); });
	EXPECT_EQ(two.node, 1);
	EXPECT_EQ(second.view().cluster, 9u) << "the first one's";
	for (int i = 0; i < 40; i++) {
		now += lease / 8;
		EXPECT_TRUE(turn(first, [&](Master &by) { return by.renew(one, now); }).ok());
		EXPECT_TRUE(turn(second, [&](Master &by) { return by.renew(two, now); }).ok());
	}
	/* Now the first is silent. The second has seen its last beat a moment after it. */
	const Time end = now + lease + margin;
	while (now + lease / 8 <= end) {
		now += lease / 8;
		ASSERT_TRUE(turn(second, [&](Master &by) { return by.renew(two, now); }).ok());
		ASSERT_NE(second.view().find_live(one), nullptr);
	}
	now += lease / 8;
	ASSERT_TRUE(turn(second, [&](Master &by) { return by.renew(two, now); }).ok());
	EXPECT_EQ(second.view().find_live(one), nullptr);
	EXPECT_EQ(code_of(turn(first, [&](Master &by) { return by.renew(one, now); })), ESTALE);
}

/* A member that looks for the first time does not know how old a beat is. */
TEST_F(MembershipByTurns, WhoLoadsForTheFirstTimeWaitsAWholeLease)
{
	const NodeLife one = turn(first, [&](Master &by) { return enter(by, now); });
	now += 100 * lease;
	const NodeLife two = turn(second, [&](Master &by) { return enter(by, now); });
	EXPECT_NE(second.view().find_live(one), nullptr);
	for (int i = 0; i < 10; i++) {
		now += lease / 8;
		(void)turn(second, [&](Master &by) { return by.renew(two, now); });
	}
	EXPECT_EQ(second.view().find_live(one), nullptr);
}

TEST_F(MembershipByTurns, WhatIsDamagedIsRefusedAndChangesNothing)
{
	(void)turn(first, [&](Master &by) { return by.join(newcomer(), now); });
	(void)turn(first, [&](Master &by) { return by.join(newcomer(2), now); });
	std::minstd_rand random(3);
	int refused = 0;
	for (int i = 0; i < 5000; i++) {
		std::string text = stored;
		if (random() % 2)
			text.resize(random() % text.size());
		else
			text[random() % text.size()] = "0123456789{}[],:\"x-"[random() % 19];
		Master victim(5, lease);
		if (victim.load(text, now).ok()) {
			for (const Member &member : victim.view().members)
				EXPECT_LT(member.life.node, max_nodes);
			continue;
		}
		refused++;
		EXPECT_EQ(victim.view().cluster, 5u);
		EXPECT_TRUE(victim.view().members.empty());
	}
	EXPECT_GT(refused, 2000);
}

} // namespace
