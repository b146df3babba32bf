/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memberships of real masters, over TCP and etcd. */
#include "gam/membership/master_location.hpp"
#include "peer_support.hpp"
#include "service/etcd.hpp"

#include <nlohmann/json.hpp>

#include <arpa/inet.h>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <netinet/in.h>
#include <random>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

using namespace peers;

constexpr auto lease = 1000ms;

std::uint16_t free_port()
{
	Result<TcpListener> listener = TcpListener::create(0, "127.0.0.1");
	return listener ? listener->port() : std::uint16_t{0};
}

/** Own etcd process. start() returns null if etcd is not installed. */
class Etcd
{
public:
	static std::unique_ptr<Etcd> start()
	{
		if (std::system("command -v etcd >/dev/null 2>&1"))
			return nullptr;
		std::unique_ptr<Etcd> etcd(new Etcd);
		for (int i = 0; i < 200; i++) {
			if (apps::EtcdKey::parse(etcd->key("ready"))->put("yes"))
				return etcd;
			std::this_thread::sleep_for(100ms);
		}
		ADD_FAILURE() << "etcd does not answer";
		return etcd;
	}
	~Etcd()
	{
		(void)kill(child_, SIGKILL);
		(void)waitpid(child_, nullptr, 0);
		std::filesystem::remove_all(folder_);
	}
	[[nodiscard]] std::string key(const std::string &name) const
	{
		return "etcd://127.0.0.1:" + std::to_string(port_) + "/" + name;
	}

private:
	Etcd() : port_(free_port())
	{
		std::string pattern = (std::filesystem::temp_directory_path() / "prism-etcd-XXXXXX").string();
		folder_ = mkdtemp(pattern.data());
		const std::string client = "http://127.0.0.1:" + std::to_string(port_);
		const std::string peer = "http://127.0.0.1:" + std::to_string(free_port());
		child_ = fork();
		if (child_)
			return;
		const int null = open("/dev/null", O_RDWR);
		(void)dup2(null, 1);
		(void)dup2(null, 2);
		(void)execlp("etcd", "etcd", "--name", "test", "--data-dir", folder_.c_str(), "--listen-client-urls",
			client.c_str(), "--advertise-client-urls", client.c_str(), "--listen-peer-urls", peer.c_str(),
			"--initial-advertise-peer-urls", peer.c_str(), "--initial-cluster", ("test=" + peer).c_str(),
			static_cast<char *>(nullptr));
		_exit(127);
	}

	std::uint16_t port_;
	std::string folder_;
	pid_t child_ = -1;
};

/** Channel that can be blocked, or led elsewhere. */
class Detour final : public MasterChannel
{
public:
	explicit Detour(std::unique_ptr<MasterChannel> way) : way_(std::move(way)) {}
	Result<nlohmann::json> ask(const nlohmann::json &question, Time longest) override
	{
		if (blocked)
			return make_error(ETIMEDOUT, "blocked by the test");
		return way_->ask(question, longest);
	}
	void lead(std::unique_ptr<MasterChannel> way) { way_ = std::move(way); }
	[[nodiscard]] Time longest_pause() const noexcept override { return way_->longest_pause(); }
	void cancel() noexcept override { way_->cancel(); }

	std::atomic<bool> blocked{false};

private:
	std::unique_ptr<MasterChannel> way_;
};

std::unique_ptr<MasterChannel> way_to(const std::string &location, std::chrono::milliseconds patience = 2000ms,
	std::chrono::milliseconds wanted_lease = lease)
{
	MasterAccess access;
	access.lease = wanted_lease;
	access.patience = patience;
	Result<std::unique_ptr<MasterChannel>> way = reach_master(location, access);
	EXPECT_TRUE(way.ok()) << way.error().message;
	return *std::move(way);
}

/** Member that records when it heard of which death. */
class Member : public Membership::Listener
{
public:
	explicit Member(const std::string &location, std::chrono::milliseconds patience = 2000ms,
		std::chrono::milliseconds wanted_lease = lease)
	{
		auto way = std::make_unique<Detour>(way_to(location, patience, wanted_lease));
		detour = way.get();
		membership = std::make_unique<Membership>(std::move(way));
	}
	~Member() override { membership.reset(); /* its thread calls this object */ }
	void join(std::uint16_t port = 1)
	{
		Newcomer me;
		me.host = "127.0.0.1";
		me.port = port;
		const Result<Admission> joined = membership->join(me, *this);
		ASSERT_TRUE(joined.ok()) << joined.error().message;
		life = joined->life;
		its_lease = joined->lease;
	}
	void changed(const Admission & /*me*/, const View &view) override
	{
		const std::lock_guard guard(lock_);
		heard_ = Membership::now();
		view_ = view;
	}
	void expelled(const Error &why) override { expelled_for = why.code; }
	[[nodiscard]] View view() const
	{
		const std::lock_guard guard(lock_);
		return view_;
	}
	[[nodiscard]] std::optional<NodeState> state_of(const NodeLife &other) const
	{
		const View now = view();
		const gam::Member *const found = now.find(other.node);
		return found && found->life == other ? std::optional(found->state) : std::nullopt;
	}
	[[nodiscard]] bool sees(const NodeLife &other, std::optional<NodeState> state) const
	{
		return wait_until([&] { return state_of(other) == state; });
	}
	[[nodiscard]] Time heard() const
	{
		const std::lock_guard guard(lock_);
		return heard_;
	}

	Detour *detour = nullptr;
	std::unique_ptr<Membership> membership;
	NodeLife life;
	Time its_lease{};
	std::atomic<int> expelled_for{0};

private:
	mutable std::mutex lock_;
	Time heard_{};
	View view_;
};

int code_of(const Result<void> &result)
{
	return result ? 0 : result.error().code;
}

/** Tests for both kinds of master. */
class MembershipService : public ::testing::TestWithParam<const char *>
{
protected:
	void SetUp() override
	{
		if (std::string(GetParam()) == "tcp") {
			master_ = std::make_unique<MasterThread>(lease);
			location = "127.0.0.1:" + std::to_string(master_->port());
			return;
		}
		etcd_ = Etcd::start();
		if (!etcd_)
			GTEST_SKIP() << "etcd is not installed";
		location = etcd_->key("cluster");
	}

	std::string location;

private:
	std::unique_ptr<MasterThread> master_;
	std::unique_ptr<Etcd> etcd_;
};

TEST_P(MembershipService, MembersSeeEachOtherComeAndGo)
{
	Member one(location), other(location);
	one.join();
	const Time before = Membership::now();
	other.join();
	EXPECT_EQ(one.life.node, 0);
	EXPECT_EQ(other.life.node, 1);
	EXPECT_TRUE(one.sees(other.life, NodeState::joining));
	EXPECT_GE(other.membership->lease_until(), before + lease);
	EXPECT_EQ(code_of(other.membership->serving()), 0);
	EXPECT_TRUE(one.sees(other.life, NodeState::serving));
	const Time until = other.membership->lease_until();
	EXPECT_TRUE(wait_until([&] { return other.membership->lease_until() > until; })) << "it is renewed";
	EXPECT_EQ(code_of(other.membership->leave()), 0);
	EXPECT_EQ(other.membership->lease_until(), Time(0));
	EXPECT_EQ(code_of(other.membership->serving()), ESTALE);
	EXPECT_TRUE(one.sees(other.life, NodeState::dead));
	EXPECT_EQ(code_of(one.membership->swept(other.life.node, one.view().epoch)), 0);
	EXPECT_TRUE(one.sees(other.life, std::nullopt));
	Member again(location);
	again.join();
	EXPECT_EQ(again.life.node, 2) << "never used";
	EXPECT_GT(again.life.incarnation, other.life.incarnation);
}

TEST_P(MembershipService, WhoCannotReachTheMasterStopsBeforeItIsDeclaredDead)
{
	Member one(location), other(location);
	one.join();
	other.join();
	ASSERT_TRUE(one.sees(other.life, NodeState::joining));
	other.detour->blocked = true;
	ASSERT_TRUE(one.sees(other.life, NodeState::dead));
	EXPECT_LT(other.membership->lease_until(), one.heard());
	EXPECT_EQ(other.expelled_for, 0) << "it does not know yet";
	other.detour->blocked = false;
	EXPECT_TRUE(wait_until([&] { return other.expelled_for == ESTALE; }));
	EXPECT_EQ(other.membership->lease_until(), Time(0));
	EXPECT_EQ(one.expelled_for, 0);
	EXPECT_EQ(code_of(other.membership->put("key", "value")), ESTALE);
}

/**
 * Checks that a sweep is reported later if the master cannot be reached; else the number stays in use for good, and a
 * node that keeps a log cannot come back.
 */
TEST_P(MembershipService, AMasterThatCannotBeReachedHearsLaterWhoIsSwept)
{
	Member one(location), other(location);
	one.join();
	other.join();
	EXPECT_EQ(code_of(other.membership->leave()), 0);
	ASSERT_TRUE(one.sees(other.life, NodeState::dead));
	one.detour->blocked = true;
	EXPECT_EQ(code_of(one.membership->swept(other.life.node, one.view().epoch)), ETIMEDOUT);
	EXPECT_EQ(one.state_of(other.life), NodeState::dead);
	one.detour->blocked = false;
	EXPECT_TRUE(one.sees(other.life, std::nullopt));
}

TEST_P(MembershipService, WhatOnePutsAnotherGets)
{
	Member one(location), other(location);
	one.join();
	other.join();
	const std::string value("with\0zeros\n\xff", 12);
	const Result<std::string> none = other.membership->get("key", 50ms);
	ASSERT_FALSE(none.ok());
	EXPECT_EQ(none.error().code, ETIMEDOUT);
	std::thread putter([&] {
		std::this_thread::sleep_for(50ms);
		EXPECT_EQ(code_of(one.membership->put("key", value)), 0);
	});
	const Result<std::string> got = other.membership->get("key", patience);
	putter.join();
	ASSERT_TRUE(got.ok()) << got.error().message;
	EXPECT_EQ(*got, value);
	EXPECT_EQ(code_of(one.membership->put("key", "")), 0);
	EXPECT_EQ(*other.membership->get("key", patience), "");
	EXPECT_EQ(code_of(one.membership->put(std::string(129, 'k'), "")), EINVAL);
	EXPECT_EQ(code_of(one.membership->put("key", std::string(4097, 'v'))), EINVAL);
	EXPECT_EQ(code_of(one.membership->put("key", std::string(4096, 'v'))), 0);
	EXPECT_EQ(other.membership->get("key", patience)->size(), 4096u);
}

TEST_P(MembershipService, ManyAtOnceGetNumbersOfTheirOwn)
{
	constexpr std::size_t count = 12;
	constexpr auto long_enough = 20s; /* for a busy machine, too: in etcd they all change one value */
	std::vector<std::unique_ptr<Member>> members;
	std::vector<std::thread> threads;
	for (std::size_t i = 0; i < count; i++)
		members.push_back(std::make_unique<Member>(location, long_enough, long_enough));
	for (auto &member : members)
		threads.emplace_back([&member] { member->join(); });
	for (std::thread &thread : threads)
		thread.join();
	std::uint64_t numbers = 0;
	for (auto &member : members)
		numbers |= std::uint64_t{1} << member->life.node;
	EXPECT_EQ(numbers, (std::uint64_t{1} << count) - 1);
	EXPECT_TRUE(wait_until([&] { return members.front()->view().members.size() == count; }));
}

/** Joins by @p way. Returns what it says when it renews its lease. */
nlohmann::json renewal_by(MasterChannel &way)
{
	const nlohmann::json joins = {
		{"ask", "join"}, {"host", "127.0.0.1"}, {"port", 1U}, {"lent", 0U}, {"protocol", 2U}, {"block", 512U}};
	const Result<nlohmann::json> joined = way.ask(joins, patience);
	EXPECT_TRUE(joined.ok()) << joined.error().message;
	nlohmann::json question = {{"ask", "renew"}, {"cluster", (*joined)["view"]["cluster"]},
		{"node", (*joined)["node"]}, {"incarnation", (*joined)["incarnation"]}, {"epoch", 0U}};
	const Result<nlohmann::json> renewed = way.ask(question, patience);
	EXPECT_TRUE(renewed.ok()) << renewed.error().message;
	question["incarnation"] = (*renewed)["incarnation"];
	return question;
}

/** Checks that a node that was stopped, and finds itself dead, changes and learns no name. */
TEST_P(MembershipService, WhoIsDeadNeitherPutsNorGets)
{
	const std::unique_ptr<MasterChannel> dead = way_to(location), other = way_to(location);
	nlohmann::json of_dead = renewal_by(*dead), of_other = renewal_by(*other);
	of_dead.update({{"ask", "leave"}, {"key", "6b"}, {"value", "61"}});
	of_other.update({{"ask", "put"}, {"key", "6b"}, {"value", "62"}});
	ASSERT_TRUE(other->ask(of_dead, patience).ok());
	ASSERT_TRUE(other->ask(of_other, patience).ok());
	for (const char *what : {"put", "find"}) {
		of_dead["ask"] = what;
		const Result<nlohmann::json> answer = dead->ask(of_dead, patience);
		ASSERT_FALSE(answer.ok()) << what;
		EXPECT_EQ(answer.error().code, ESTALE);
	}
	of_other["ask"] = "find";
	EXPECT_EQ((*other->ask(of_other, patience))["value"], "62");
}

INSTANTIATE_TEST_SUITE_P(Masters, MembershipService, ::testing::Values("tcp", "etcd"),
	[](const auto &kind) { return std::string(kind.param); });

TEST(MembershipMasters, WhoFoundsAClusterInEtcdSaysHowLongItsLeasesAre)
{
	EXPECT_EQ(check_master("etcd://host/key?lease=0.5"), "");
	EXPECT_NE(check_master("etcd://host/key?leas=10").find("no such option"), std::string::npos);
	for (const std::string lease : {"", "0", "601", "2s", "nan", "-1"})
		EXPECT_NE(check_master("etcd://host/key?lease=" + lease).find("0.05 to 600 seconds"), std::string::npos)
			<< lease;
	const std::unique_ptr<Etcd> etcd = Etcd::start();
	if (!etcd)
		GTEST_SKIP() << "etcd is not installed";
	Member founds(etcd->key("cluster") + "?lease=7.5"), other(etcd->key("cluster") + "?lease=1");
	founds.join();
	other.join(2);
	EXPECT_EQ(founds.its_lease, 7500ms);
	EXPECT_EQ(other.its_lease, 7500ms) << "a member of a cluster that has leases";
}

/* Else the states of some hours would fill etcd, which then refuses all that changes it. */
TEST(MembershipMasters, EtcdForgetsOldStates)
{
	const std::unique_ptr<Etcd> etcd = Etcd::start();
	if (!etcd)
		GTEST_SKIP() << "etcd is not installed";
	MasterAccess access;
	access.lease = 60s;
	access.history = 16;
	const std::unique_ptr<MasterChannel> one = *reach_master(etcd->key("cluster"), access);
	const std::unique_ptr<MasterChannel> other = *reach_master(etcd->key("cluster"), access);
	const nlohmann::json renews_one = renewal_by(*one), renews_other = renewal_by(*other);
	for (unsigned i = 0; i < 3 * access.history; i++) {
		EXPECT_TRUE(one->ask(renews_one, patience).ok());
		EXPECT_TRUE(other->ask(renews_other, patience).ok());
	}
	const apps::EtcdKey key = *apps::EtcdKey::parse(etcd->key("cluster"));
	const std::uint64_t newest = key.read()->number;
	EXPECT_GT(newest, 6 * access.history);
	const Result<void> old = key.compact(newest - 2 * access.history);
	ASSERT_FALSE(old.ok()) << "these revisions were there";
	EXPECT_NE(old.error().message.find("has been compacted"), std::string::npos) << old.error().message;
	EXPECT_TRUE(key.compact(newest - access.history + 1).ok()) << "newer ones stay";
}

TEST(MembershipMasters, AValueInEtcdIsStoredWhileTheMembersStayTheSame)
{
	const std::unique_ptr<Etcd> etcd = Etcd::start();
	if (!etcd)
		GTEST_SKIP() << "etcd is not installed";
	const apps::EtcdKey state = *apps::EtcdKey::parse(etcd->key("state")), value = state.beside("/value");
	const std::uint64_t before = *state.replace(0, "one member");
	EXPECT_NE(*value.replace_while(state, before, "first"), 0u);
	EXPECT_NE(*state.replace(before, "another"), 0u);
	EXPECT_EQ(*value.replace_while(state, before, "second"), 0u);
	EXPECT_EQ(*value.get(), "first");
}

TEST(MembershipMasters, OneThatStartsEmptyKnowsNobody)
{
	auto master = std::make_unique<MasterThread>(lease);
	const std::uint16_t port = master->port();
	Member one("127.0.0.1:" + std::to_string(port));
	one.join();
	master.reset();
	const MasterThread again(lease, port);
	EXPECT_TRUE(wait_until([&] { return one.expelled_for == ESTALE; }));
	EXPECT_EQ(one.membership->lease_until(), Time(0));
}

TEST(MembershipMasters, TwoHaveNodesOfTheirOwn)
{
	const MasterThread first(lease), second(lease);
	Member one("127.0.0.1:" + std::to_string(first.port()));
	Member other("127.0.0.1:" + std::to_string(second.port()));
	one.join();
	other.join();
	EXPECT_EQ(one.life.node, other.life.node) << "each has its first number";
	EXPECT_NE(one.view().cluster, other.view().cluster);
	/* Its next renewals go to the other master. */
	other.detour->lead(way_to("127.0.0.1:" + std::to_string(first.port())));
	EXPECT_TRUE(wait_until([&] { return other.expelled_for == ESTALE; }));
	EXPECT_EQ(one.expelled_for, 0);
}

TEST(MembershipMasters, OneThatIsGoneTakesNobodysMembership)
{
	auto master = std::make_unique<MasterThread>(lease);
	Member one("127.0.0.1:" + std::to_string(master->port()));
	one.join();
	master.reset();
	std::this_thread::sleep_for(lease + 200ms);
	EXPECT_LT(one.membership->lease_until(), Membership::now()) << "but its lease is over";
	EXPECT_EQ(one.expelled_for, 0);
}

/** Tests a node that ends with its master, or after it. */
TEST(MembershipMasters, OneThatIsGoneKeepsNobodyFromLeaving)
{
	auto master = std::make_unique<MasterThread>(lease);
	const std::string where = "127.0.0.1:" + std::to_string(master->port());
	Member one(where);
	one.join();
	one.detour->lead(way_to(where, 1h));
	master.reset();
	const auto begin = std::chrono::steady_clock::now();
	EXPECT_EQ(code_of(one.membership->leave()), 0);
	EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
}

/** Tests a master that would keep the node for an hour. */
TEST(MembershipMasters, OneThatIsSilentKeepsNobodyFromEnding)
{
	const Result<TcpListener> silent = TcpListener::create(0, "127.0.0.1");
	ASSERT_TRUE(silent.ok());
	const std::string where = "127.0.0.1:" + std::to_string(silent->port());
	for (const std::string &location : {where, "etcd://" + where + "/key"}) {
		const MasterThread master(lease);
		Member one("127.0.0.1:" + std::to_string(master.port()));
		one.join();
		std::unique_ptr<MasterChannel> way = way_to(location, 1h);
		one.detour->lead(std::move(way));
		std::this_thread::sleep_for(lease / 2); /* it has begun to renew */
		one.membership.reset();
	}
}

/** Tests calls whose time is shorter than the patience of the node, whose renewal waits, too. */
TEST(MembershipMasters, OneThatIsSilentKeepsNoCallBeyondItsTime)
{
	const Result<TcpListener> silent = TcpListener::create(0, "127.0.0.1");
	ASSERT_TRUE(silent.ok());
	const std::string where = "127.0.0.1:" + std::to_string(silent->port());
	for (const std::string &location : {where, "etcd://" + where + "/key"}) {
		const nlohmann::json question = {{"ask", "find"}, {"key", "00"}, {"cluster", 7U}};
		EXPECT_EQ(way_to(location, 1h)->ask(question, 10ms).error().code, ETIMEDOUT);
		const MasterThread master(lease);
		Member one("127.0.0.1:" + std::to_string(master.port()));
		one.join();
		one.detour->lead(way_to(location, 1h));
		std::this_thread::sleep_for(lease / 2); /* it has begun to renew */
		EXPECT_EQ(one.membership->get("key", 10ms).error().code, ETIMEDOUT);
		const std::jthread later([&] {
			std::this_thread::sleep_for(50ms);
			one.membership->give_up(make_error(ESTALE, "the test"));
		});
		EXPECT_EQ(code_of(one.membership->put("key", "")), ESTALE) << "waits until the membership ends";
	}
}

/** Stranger that sends anything to a master's port. */
class Stranger
{
public:
	explicit Stranger(std::uint16_t port)
	{
		sockaddr_in address{};
		address.sin_family = AF_INET;
		address.sin_port = htons(port);
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)), 0);
	}
	void say(const std::string &text) const { (void)::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL); }
	/** Returns a line; an empty string if the master has closed. */
	[[nodiscard]] std::string hear() const
	{
		std::string line;
		char byte = 0;
		while (::recv(fd_.get(), &byte, 1, 0) == 1 && byte != '\n')
			line += byte;
		return line;
	}

private:
	Descriptor fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

TEST(MembershipHostile, NonsenseIsRefusedAndTooMuchOfItCutOff)
{
	const MasterThread master(lease);
	const Stranger stranger(master.port());
	for (const char *line : {"", "{", "[]", "{}", "null", "{\"ask\":7}", "{\"ask\":\"join\"}",
		     "{\"ask\":\"renew\"}",
		     "{\"ask\":\"join\",\"host\":\"\\u001b]0;h\",\"port\":1,\"lent\":0,\"protocol\":1,\"block\":512}",
		     "{\"ask\":\"join\",\"host\":\"h\\u009b\",\"port\":1,\"lent\":0,\"protocol\":1,\"block\":512}",
		     "{\"ask\":\"join\",\"host\":\"h\",\"port\":-1,\"lent\":0,\"protocol\":1,\"block\":512}",
		     "{\"ask\":\"join\",\"host\":\"h\",\"port\":1e3,\"lent\":0,\"protocol\":1,\"block\":512}",
		     "{\"ask\":\"join\",\"host\":\"h\",\"port\":70000,\"lent\":0,\"protocol\":1,\"block\":512}",
		     "{\"ask\":\"\xff\xfe\"}", "{\"ask\":\"swept\",\"cluster\":1,\"node\":64,\"incarnation\":1}"}) {
		stranger.say(std::string(line) + "\n");
		const nlohmann::json answer = nlohmann::json::parse(stranger.hear(), nullptr, false);
		ASSERT_TRUE(answer.is_object()) << line;
		EXPECT_TRUE(answer.contains("error")) << line;
	}
	stranger.say(std::string(8000, '[') + "\n");
	EXPECT_NE(stranger.hear(), "");
	stranger.say(std::string(std::size_t{1} << 20, 'x'));
	EXPECT_EQ(stranger.hear(), "") << "a line without an end";
	Member one("127.0.0.1:" + std::to_string(master.port()));
	one.join();
}

/** A turn of the master answers each client once, so a member's question is not behind all of a stranger's. */
TEST(MembershipHostile, WhoAsksMuchIsAnsweredInTurn)
{
	constexpr int questions = 50;
	const std::string join =
		"{\"ask\":\"join\",\"host\":\"h\",\"port\":1,\"lent\":0,\"protocol\":1,\"block\":512}\n";
	MasterServiceOptions options;
	options.address = "127.0.0.1";
	const std::unique_ptr<MasterService> master = MasterService::create(options).value();
	const Stranger stranger(master->port()), honest(master->port());
	std::string many;
	for (int i = 0; i < questions; i++)
		many += join;
	stranger.say(many);
	honest.say(join);
	const std::jthread thread([&] { EXPECT_EQ(code_of(master->run()), 0); });
	/* Each join is an epoch, so an incarnation tells which came first. */
	const auto epoch = [](const std::string &answer) {
		return nlohmann::json::parse(answer).at("incarnation").get<int>();
	};
	const int honest_epoch = epoch(honest.hear());
	int stranger_epoch = 0;
	for (int i = 0; i < questions; i++)
		stranger_epoch = epoch(stranger.hear());
	EXPECT_LE(honest_epoch, 3);
	EXPECT_GT(stranger_epoch, questions) << "all are answered";
	master->stop();
}

TEST(MembershipHostile, ACrowdThatSaysNothingKeepsNobodyOut)
{
	const MasterThread master(lease);
	std::vector<std::unique_ptr<Stranger>> crowd;
	for (std::size_t i = 0; i < MasterService::max_clients + 50; i++)
		crowd.push_back(std::make_unique<Stranger>(master.port()));
	Member one("127.0.0.1:" + std::to_string(master.port()));
	one.join();
	std::this_thread::sleep_for(2 * lease);
	EXPECT_EQ(one.expelled_for, 0);
	EXPECT_GT(one.membership->lease_until(), Membership::now());
}

/** Returns @p question as it arrives by a line: whole numbers are unsigned there. */
nlohmann::json as_heard(const nlohmann::json &question)
{
	return nlohmann::json::parse(question.dump());
}

TEST(MembershipHostile, MutatedQuestionsChangeNothingThatTheyDoNotAskFor)
{
	Master master(7, lease);
	MasterDesk desk(master);
	const Time now = 5s;
	Newcomer who;
	who.host = "h";
	who.port = 1;
	who.log = LogClaim();
	const NodeLife life = *master.renew(*master.join(who, now), now);
	const nlohmann::json self = {{"cluster", 7}, {"node", life.node}, {"incarnation", life.incarnation}};
	std::vector<std::string> good;
	for (nlohmann::json question : {nlohmann::json{{"ask", "renew"}, {"epoch", 1}},
		     nlohmann::json{{"ask", "put"}, {"key", "6b"}, {"value", "76"}},
		     nlohmann::json{{"ask", "find"}, {"key", "6b"}},
		     nlohmann::json{{"ask", "swept"}, {"dead", 3}, {"epoch", 1}},
		     nlohmann::json{{"ask", "expect"}, {"epoch", 1}, {"nodes", bit(life.node)}}}) {
		question.update(self);
		good.push_back(question.dump());
		EXPECT_FALSE(desk.answer(as_heard(question), now).contains("error")) << question;
	}
	std::minstd_rand random(11);
	int refused = 0;
	for (int i = 0; i < 20000; i++) {
		std::string text = good[random() % good.size()];
		for (unsigned change = 0; change <= random() % 3; change++)
			text[random() % text.size()] = "0123456789{}[],:\"-kv"[random() % 20];
		const nlohmann::json question = nlohmann::json::parse(text, nullptr, false);
		refused += desk.answer(question, now).contains("error");
		ASSERT_NE(master.view().find_live(life), nullptr) << text;
		const std::vector<prism::gam::Member> members = master.view().members;
		for (const prism::gam::Member &member : members) {
			if (member.life == life)
				continue;
			ASSERT_TRUE(member.is_away() && text.find("expect") != std::string::npos) << text;
			ASSERT_TRUE(master.give_up(life, member.life.node, now).ok());
			ASSERT_TRUE(master.swept(life, member.life.node, master.view().epoch, now).ok());
		}
	}
	EXPECT_GT(refused, 10000);
}

TEST(MembershipHostile, TheStoreIsBounded)
{
	Master master(7, lease);
	MasterDesk desk(master);
	Newcomer who;
	who.host = "h";
	who.port = 1;
	const NodeLife life = *master.join(who, 5s);
	int full = 0;
	for (int i = 0; i < 1000; i++) {
		const nlohmann::json question = {{"ask", "put"}, {"cluster", 7}, {"node", life.node},
			{"incarnation", life.incarnation}, {"key", to_hex(std::to_string(i % 800))},
			{"value", std::string(2 * Membership::longest_value, 'a')}};
		const nlohmann::json answer = desk.answer(as_heard(question), 5s);
		full += answer.value("error", 0) == ENOSPC;
	}
	EXPECT_GT(full, 0);
	EXPECT_LT(full, 1000 - 400);
}

} // namespace
