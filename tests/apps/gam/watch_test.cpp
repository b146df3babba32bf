/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Decision which of two nodes that have lost their connection leaves, and the end of one whose master is silent. */
#include "gam/membership/watch.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <future>
#include <string>
#include <thread>

#include "gam/membership/view_json.hpp"

namespace
{

using namespace prism;
using namespace prism::gam;
using namespace std::chrono_literals;

constexpr Time lease = 100ms;

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
	Answers(NodeId node, View view) : node_(node), view_(std::move(view)) {}
	Result<nlohmann::json> ask(const nlohmann::json &question) override
	{
		nlohmann::json answer = {{"lease", static_cast<std::uint64_t>(lease.count())}, {"incarnation", node_},
			{"view", to_json(view_)}};
		if (question["ask"] == "join")
			answer.update({{"node", node_}, {"log_cluster", std::uint64_t{0}}});
		return answer;
	}

private:
	NodeId node_;
	View view_;
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

/** Master that fails when the node has joined. */
class Fails final : public MasterChannel
{
public:
	Result<nlohmann::json> ask(const nlohmann::json &question) override
	{
		if (asked_++ < 2) /* join, and the first renewal */
			return answers_.ask(question);
		return make_error(EPROTO, "etcd answers with an error", "database space exceeded");
	}

private:
	Answers answers_{1, view_of(serving, serving)};
	int asked_ = 0;
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

TEST(Watch, ANodeWhoseMasterIsSilentSaysWhy)
{
	Told told;
	Membership membership(std::make_unique<Fails>());
	Newcomer me;
	me.host = "127.0.0.1";
	me.port = 1;
	const Result<Admission> joined = membership.join(me, told);
	ASSERT_TRUE(joined.ok()) << joined.error().message;
	Watch watch;
	watch.begin(*joined, membership);
	const std::string said = told.wait();
	EXPECT_NE(said.find("silent for 4 leases"), std::string::npos) << said;
	EXPECT_NE(said.find("database space exceeded"), std::string::npos) << said;
}

} // namespace
