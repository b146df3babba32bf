/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Decision which of two nodes that have lost their connection leaves, and the end of one whose master is silent. */
#include "gam/membership/watch.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include "gam/membership/view_json.hpp"

namespace
{

using namespace prism;
using namespace prism::gam;
using namespace std::chrono_literals;

constexpr Time lease = 100ms, endless = 1000s; /* with leases as long as that a watch does not look by itself */

/** Returns a view of nodes 1 and 2, which renew for ever. */
View view_of(NodeState first, NodeState second)
{
	View view;
	view.cluster = 7;
	view.epoch = 4;
	for (const NodeId node : {NodeId{1}, NodeId{2}}) {
		Member member;
		member.life = {node, node};
		member.state = node == 1 ? first : second;
		member.changed = node;
		member.host = "127.0.0.1";
		member.port = 1;
		view.members.push_back(member);
	}
	return view;
}

class Answers final : public MasterChannel
{
public:
	Answers(NodeId node, View view, Time granted = lease) : node_(node), view_(std::move(view)), granted_(granted)
	{
	}
	Result<nlohmann::json> ask(const nlohmann::json &question, Time /*longest*/) override
	{
		nlohmann::json answer = {{"lease", static_cast<std::uint64_t>(granted_.count())},
			{"incarnation", node_}, {"view", to_json(view_)}};
		if (question["ask"] == "join")
			answer.update({{"node", node_}, {"log_cluster", std::uint64_t{0}}});
		return answer;
	}

private:
	NodeId node_;
	View view_;
	Time granted_;
};

/** One of the two nodes, whose connection to the other has ended. */
class Left final : public Membership::Listener
{
public:
	Left(NodeId node, NodeState first, NodeState second)
		: membership_(std::make_unique<Answers>(node, view_of(first, second)))
	{
		Newcomer me;
		me.host = "127.0.0.1";
		me.port = 1;
		const Result<Admission> joined = membership_.join(me, *this);
		EXPECT_TRUE(joined.ok());
		const NodeId other = node == 1 ? 2 : 1;
		begun_ = Membership::now();
		watch_.broken({other, other});
		watch_.begin(*joined, membership_);
	}
	~Left() override { watch_.end(); }
	void changed(const Admission & /*me*/, const View &view) override { watch_.adopt(view); }
	void expelled(const Error &why) override
	{
		EXPECT_NE(why.message.find("the connection to node"), std::string::npos) << why.message;
		went_ = (Membership::now() - begun_).count();
	}
	/** Waits until it leaves. Returns the time in leases. */
	[[nodiscard]] double leases() const
	{
		while (!went_)
			std::this_thread::sleep_for(1ms);
		return static_cast<double>(went_) / static_cast<double>(lease.count());
	}

private:
	Watch watch_;
	Time begun_{};
	std::atomic<Time::rep> went_{0};
	Membership membership_; /* declared last: its thread uses the others */
};

constexpr NodeState serving = NodeState::serving, joining = NodeState::joining;
/*
 * Leases after which the other surely knows of the death: it learns of it two leases, plus a sixteenth of each and a
 * little more, after the leaving node has noticed.
 */
constexpr double other_is_dead = 2.5;

TEST(Watch, TheHigherNumberGoesAndTheOtherWaitsUntilThatIsKnown)
{
	const Left second(2, serving, serving), first(1, serving, serving);
	EXPECT_GT(second.leases(), 1.0);
	EXPECT_GT(first.leases(), other_is_dead);
	EXPECT_LT(second.leases(), first.leases());
}

TEST(Watch, WhoIsAboutToJoinGoes)
{
	const Left second(2, joining, serving), first(1, joining, serving);
	EXPECT_GT(first.leases(), 1.0);
	EXPECT_GT(second.leases(), other_is_dead);
	EXPECT_LT(first.leases(), second.leases());
}

/** Master of node 2 that fails its renewals when it has joined; all else it answers. */
class Fails final : public MasterChannel
{
public:
	explicit Fails(Time granted) : answers_(2, view_of(serving, serving), granted) {}
	Result<nlohmann::json> ask(const nlohmann::json &question, Time longest) override
	{
		if (question["ask"] != "renew" || !renewals_++) /* the first is a part of joining */
			return answers_.ask(question, longest);
		return make_error(EPROTO, "etcd answers with an error", "database space exceeded");
	}

private:
	Answers answers_;
	int renewals_ = 0;
};

/** Listener that records why its node ends. */
class Told final : public Membership::Listener
{
public:
	void changed(const Admission & /*me*/, const View & /*view*/) override {}
	void expelled(const Error &why) override { said_.set_value(why.message); }
	[[nodiscard]] std::string wait() { return said_.get_future().get(); }

private:
	std::promise<std::string> said_;
};

/** Node 2, whose master fails its renewals. */
struct Failed {
	explicit Failed(Time granted) : membership(std::make_unique<Fails>(granted))
	{
		Newcomer me;
		me.host = "127.0.0.1";
		me.port = 1;
		const Result<Admission> joined = membership.join(me, told);
		EXPECT_TRUE(joined.ok());
		watch.adopt(view_of(serving, serving));
		watch.begin(*joined, membership);
	}
	~Failed() { watch.end(); }
	/** Has it look a lease after @p now, and again, each time after @p before, until it goes. Returns how often. */
	int looks_until_it_goes(Time now, const std::function<void()> &before)
	{
		for (int looks = 1; looks < 100; looks++) {
			before();
			if (watch.look(now += endless))
				return looks;
		}
		return 0;
	}

	Told told;
	Watch watch;
	Membership membership;
};

TEST(Watch, ANodeWhoseMasterIsSilentSaysWhy)
{
	Failed node(lease);
	const std::string said = node.told.wait();
	EXPECT_NE(said.find("silent for 4 leases"), std::string::npos) << said;
	EXPECT_NE(said.find("database space exceeded"), std::string::npos) << said;
}

TEST(Watch, ANodeThatIsStoppedAgainAndAgainFindsThatItsMasterIsSilent)
{
	Failed node(endless);
	Time now = Membership::now() + 10 * endless;
	EXPECT_FALSE(node.watch.look(now)) << "it was not there itself";
	EXPECT_EQ(node.looks_until_it_goes(now, [] {}), 12) << "a quarter of a lease counts each time";
}

/* Else who has lost its pair to a node that has died would follow it, as the master has not found that yet. */
TEST(Watch, TimeInWhichTheMasterStandsStillDoesNotCountForPairs)
{
	Failed node(endless);
	Time now = Membership::now();
	EXPECT_FALSE(node.watch.look(now));
	node.watch.broken({1, 1});
	for (int i = 0; i < 5; i++)
		EXPECT_FALSE(node.watch.look(now += endless / 4));
	EXPECT_EQ(node.looks_until_it_goes(now, [&] { EXPECT_TRUE(node.membership.expect(0).ok()); }), 5)
		<< "but it answers now and then";
}

TEST(Watch, ANodeThatHasFoundNoMemoryEndsAndSaysSo)
{
	Failed node(endless);
	const Time now = Membership::now();
	EXPECT_FALSE(node.watch.look(now));
	node.watch.found_no_memory();
	const std::optional<Error> why = node.watch.look(now);
	ASSERT_TRUE(why);
	EXPECT_EQ(why->code, ESTALE);
	EXPECT_NE(why->message.find("memory"), std::string::npos) << why->message;
}

} // namespace
