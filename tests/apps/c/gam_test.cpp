/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* <prism/gam.h> with a master and nodes in this process. */
#include "../gam/peer_support.hpp"

#include <prism/gam.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace
{

using namespace std::chrono_literals;

constexpr auto lease = 3000ms;
constexpr std::size_t block = 512;

prism_gam_options options()
{
	prism_gam_options options{};
	options.size = sizeof(options);
	options.memory = std::uint64_t{1} << 20;
	return options;
}

/** Node with a session. */
class Node
{
public:
	explicit Node(const std::string &master, const prism_gam_options &wanted = options())
	{
		EXPECT_EQ(prism_gam_join(&node, master.c_str(), &wanted), 0) << prism_store_message();
		EXPECT_EQ(prism_gam_session_begin(node, &session), 0) << prism_store_message();
	}
	~Node()
	{
		prism_gam_session_end(session);
		EXPECT_EQ(prism_gam_leave(node), 0) << prism_store_message();
	}
	Node(const Node &) = delete;
	Node &operator=(const Node &) = delete;

	[[nodiscard]] std::uint64_t malloc(std::size_t bytes, const prism_gam_placement *where = nullptr)
	{
		std::uint64_t address = 1;
		EXPECT_EQ(prism_gam_malloc(session, bytes, where, &address), 0) << prism_store_message();
		return address;
	}
	int write(std::uint64_t at, const std::string &text)
	{
		const int failed = prism_gam_write(session, at, text.data(), text.size());
		return failed ? failed : prism_gam_mfence(session);
	}
	std::string read(std::uint64_t at, std::size_t size)
	{
		std::string text(size, '.');
		const int failed = prism_gam_read(session, at, text.data(), size);
		return failed ? std::to_string(failed) : text;
	}

	prism_gam *node = nullptr;
	prism_gam_session *session = nullptr;
};

class GamInterface : public testing::Test
{
protected:
	[[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(master->port()); }

	std::unique_ptr<peers::MasterThread> master = std::make_unique<peers::MasterThread>(lease);
};

/** Checks that the last failure's message contains @p text. */
void expect_said(const std::string &text)
{
	EXPECT_NE(std::string(prism_store_message()).find(text), std::string::npos) << prism_store_message();
}

TEST_F(GamInterface, WhatOneNodeWritesAnotherReads)
{
	Node one(address()), other(address());
	EXPECT_NE(prism_gam_number(one.node), prism_gam_number(other.node));
	const std::uint64_t at = one.malloc(100);
	EXPECT_EQ(at >> 48, static_cast<std::uint64_t>(prism_gam_number(one.node)));
	EXPECT_EQ(other.read(at, 5), std::string(5, '\0')) << "zeroed";
	EXPECT_EQ(one.write(at, "hello"), 0);
	EXPECT_EQ(other.read(at, 5), "hello");
	EXPECT_EQ(other.write(at, "world"), 0);
	EXPECT_EQ(one.read(at, 5), "world");
	const std::uint64_t large = other.malloc(10 * block);
	const std::string text(10 * block, 'x');
	EXPECT_EQ(one.write(large, text), 0);
	EXPECT_EQ(other.read(large, text.size()), text);
	EXPECT_EQ(prism_gam_free(other.session, at), 0);
	EXPECT_EQ(prism_gam_free(one.session, at), -EINVAL) << "twice";
	EXPECT_EQ(one.read(at, 5), std::to_string(-EFAULT));
	expect_said("allocated");
}

/**
 * Called in a child of fork(2): returns the number of calls on the parent's objects that do anything but fail with
 * ESTALE.
 */
int calls_of_a_child(Node &parents, std::uint64_t at)
{
	std::array<char, 8> text{};
	std::uint64_t old = 0;
	prism_gam_session *session = nullptr;
	std::size_t size = text.size();
	const int results[] = {prism_gam_read(parents.session, at, text.data(), text.size()),
		prism_gam_write(parents.session, at, "child", 5), prism_gam_mfence(parents.session),
		prism_gam_malloc(parents.session, 64, nullptr, &old), prism_gam_free(parents.session, at),
		prism_gam_atomic(parents.session, at, 8, PRISM_GAM_ADD, 1, 0, &old),
		prism_gam_rlock(parents.session, at, 8), prism_gam_wlock(parents.session, at, 8),
		prism_gam_try_wlock(parents.session, at, 8), prism_gam_unlock(parents.session, at, 8),
		prism_gam_session_begin(parents.node, &session), prism_gam_put(parents.node, "key", "x", 1),
		prism_gam_get(parents.node, "key", text.data(), &size, 100), prism_gam_leave(parents.node)};
	expect_said("the node belongs to the process that this one was forked from");
	prism_gam_session_end(parents.session);
	return static_cast<int>(
		std::count_if(std::begin(results), std::end(results), [](int result) { return result != -ESTALE; }));
}

TEST_F(GamInterface, AChildHasNoNode)
{
	Node one(address()), other(address());
	const std::uint64_t at = other.malloc(block);
	EXPECT_TRUE(peers::wait_until([&] { return !one.write(at, "parent"); })) << "it hears of the other";
	EXPECT_EQ(prism_gam_wlock(one.session, at, 8), 0);
	const pid_t child = ::fork();
	if (!child) {
		::alarm(10);
		const int wrong = calls_of_a_child(one, at);
		::_exit(testing::Test::HasFailure() ? 99 : wrong);
	}
	int status = -1;
	ASSERT_EQ(::waitpid(child, &status, 0), child);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(prism_gam_unlock(one.session, at, 8), 0);
	EXPECT_EQ(one.read(at, 6), "parent");
	EXPECT_EQ(other.write(at, "both"), 0);
}

TEST_F(GamInterface, Placement)
{
	Node one(address());
	prism_gam_placement where{};
	where.place = PRISM_GAM_REMOTE;
	std::uint64_t at = 1;
	EXPECT_EQ(prism_gam_malloc(one.session, 16, &where, &at), -EHOSTUNREACH) << "there is no other";
	EXPECT_EQ(at, 0u);
	Node other(address());
	const auto home_of = [&](std::uint64_t address) { return static_cast<int>(address >> 48); };
	EXPECT_TRUE(peers::wait_until([&] { return !prism_gam_malloc(one.session, 16, &where, &at); }));
	EXPECT_EQ(home_of(at), prism_gam_number(other.node));
	where.place = PRISM_GAM_NEAR;
	where.near = at;
	where.alignment = 256;
	const std::uint64_t near = one.malloc(16, &where);
	EXPECT_EQ(home_of(near), prism_gam_number(other.node));
	EXPECT_EQ(near % 256, 0u);
	where.near = static_cast<std::uint64_t>(prism_gam_number(one.node)) << 48;
	EXPECT_EQ(home_of(one.malloc(16, &where)), prism_gam_number(one.node));
	where.near = std::uint64_t{63} << 48;
	EXPECT_EQ(prism_gam_malloc(one.session, 16, &where, &at), -EHOSTUNREACH);
	where = {PRISM_GAM_RANDOM, 0, 0};
	(void)one.malloc(16, &where);
	where.place = PRISM_GAM_NEAR + 1;
	EXPECT_EQ(prism_gam_malloc(one.session, 16, &where, &at), -EINVAL);
	where = {PRISM_GAM_LOCAL, 3, 0};
	EXPECT_EQ(prism_gam_malloc(one.session, 16, &where, &at), -EINVAL) << "the alignment is no power of two";
	EXPECT_EQ(prism_gam_malloc(one.session, std::size_t{1} << 40, nullptr, &at), -ENOMEM);
	EXPECT_EQ(at, 0u);
}

TEST_F(GamInterface, Atomics)
{
	Node one(address()), other(address());
	const std::uint64_t at = one.malloc(16);
	std::uint64_t old = 9;
	EXPECT_EQ(prism_gam_atomic(one.session, at, 8, PRISM_GAM_ADD, 5, 0, &old), 0);
	EXPECT_EQ(old, 0u);
	EXPECT_EQ(prism_gam_atomic(other.session, at, 8, PRISM_GAM_SWAP, 12, 0, &old), 0);
	EXPECT_EQ(old, 5u);
	EXPECT_EQ(prism_gam_atomic(one.session, at, 8, PRISM_GAM_COMPARE_SWAP, 1, 7, &old), 0);
	EXPECT_EQ(old, 12u);
	EXPECT_EQ(prism_gam_atomic(one.session, at, 8, PRISM_GAM_COMPARE_SWAP, 6, 12, &old), 0) << "it was not swapped";
	EXPECT_EQ(old, 12u);
	EXPECT_EQ(prism_gam_atomic(one.session, at, 4, PRISM_GAM_AND, 2, 0, &old), 0);
	EXPECT_EQ(old, 6u);
	EXPECT_EQ(prism_gam_atomic(other.session, at, 1, PRISM_GAM_OR, 1, 0, nullptr), 0);
	EXPECT_EQ(other.read(at, 1), std::string(1, '\x03'));
	EXPECT_EQ(prism_gam_atomic(one.session, at, 3, PRISM_GAM_ADD, 1, 0, &old), -EINVAL);
	EXPECT_EQ(prism_gam_atomic(one.session, at + 1, 8, PRISM_GAM_ADD, 1, 0, &old), -EINVAL);
	EXPECT_EQ(prism_gam_atomic(one.session, at, 8, PRISM_GAM_OR + 1, 1, 0, &old), -EINVAL);
	EXPECT_EQ(prism_gam_atomic(one.session, std::uint64_t{63} << 48, 8, PRISM_GAM_ADD, 1, 0, &old), -EHOSTUNREACH);
}

TEST_F(GamInterface, Locks)
{
	Node one(address()), other(address());
	const std::uint64_t at = one.malloc(2 * block);
	EXPECT_EQ(prism_gam_rlock(one.session, at, 1), 0);
	EXPECT_EQ(prism_gam_try_rlock(other.session, at, 1), 0) << "shared";
	EXPECT_EQ(prism_gam_unlock(other.session, at, 1), 0);
	EXPECT_EQ(prism_gam_try_wlock(other.session, at, 2 * block), -EBUSY);
	expect_said("another session");
	EXPECT_EQ(prism_gam_rlock(one.session, at, 1), -EDEADLK);
	EXPECT_EQ(prism_gam_unlock(other.session, at, 1), -EPERM);
	EXPECT_EQ(prism_gam_unlock(one.session, at, 1), 0);
	EXPECT_EQ(prism_gam_wlock(other.session, at, 2 * block), 0);
	EXPECT_EQ(prism_gam_try_rlock(one.session, at + block, 1), -EBUSY);
	std::thread waits([&] {
		EXPECT_EQ(prism_gam_wlock(one.session, at, 1), 0);
		EXPECT_EQ(one.read(at, 4), "mine");
		EXPECT_EQ(prism_gam_unlock(one.session, at, 1), 0);
	});
	EXPECT_EQ(prism_gam_write(other.session, at, "mine", 4), 0);
	EXPECT_EQ(prism_gam_unlock(other.session, at, 2 * block), 0);
	waits.join();
	EXPECT_EQ(prism_gam_wlock(one.session, at, std::size_t{65537} * block), -E2BIG);
}

TEST_F(GamInterface, AnEndedSessionHoldsNoLocks)
{
	Node one(address()), other(address());
	const std::uint64_t at = one.malloc(1);
	ASSERT_EQ(prism_gam_wlock(one.session, at, 1), 0);
	ASSERT_EQ(prism_gam_try_wlock(other.session, at, 1), -EBUSY);
	prism_gam_session_end(one.session);
	one.session = nullptr;
	EXPECT_EQ(prism_gam_wlock(other.session, at, 1), 0);
	EXPECT_EQ(prism_gam_unlock(other.session, at, 1), 0);
}

/** Takes an hour if each unlock searches all locks. */
TEST_F(GamInterface, AsManyLocksAsACallMayTake)
{
	constexpr std::size_t most = 65536;
	prism_gam_options large = options();
	large.memory = (most + 2) * block;
	Node one(address(), large), other(address());
	const std::uint64_t at = one.malloc((most + 1) * block);
	EXPECT_EQ(prism_gam_wlock(one.session, at, (most + 1) * block), -E2BIG);
	ASSERT_EQ(prism_gam_wlock(one.session, at, most * block), 0) << prism_store_message();
	EXPECT_EQ(prism_gam_rlock(one.session, at + (most - 1) * block, 1), -EDEADLK);
	EXPECT_EQ(prism_gam_try_rlock(other.session, at + (most - 1) * block, 1), -EBUSY);
	EXPECT_EQ(prism_gam_unlock(one.session, at, most * block), 0);
	EXPECT_EQ(prism_gam_try_wlock(other.session, at, 1), 0);
	EXPECT_EQ(prism_gam_unlock(other.session, at, 1), 0);
	EXPECT_EQ(prism_gam_unlock(one.session, at + block, 1), -EPERM);
}

TEST_F(GamInterface, ThreadsHaveSessionsEach)
{
	constexpr unsigned threads = 3, rounds = 100;
	Node one(address()), other(address());
	const std::uint64_t at = one.malloc(8);
	std::vector<std::thread> all;
	for (unsigned number = 0; number < threads; number++)
		all.emplace_back([&, number] {
			prism_gam_session *mine = nullptr;
			ASSERT_EQ(prism_gam_session_begin(number % 2 ? one.node : other.node, &mine), 0);
			for (unsigned round = 0; round < rounds; round++) {
				std::uint64_t sum = 0;
				EXPECT_EQ(prism_gam_wlock(mine, at, 8), 0);
				EXPECT_EQ(prism_gam_read(mine, at, &sum, 8), 0);
				sum++;
				EXPECT_EQ(prism_gam_write(mine, at, &sum, 8), 0);
				EXPECT_EQ(prism_gam_unlock(mine, at, 8), 0);
			}
			prism_gam_session_end(mine);
		});
	for (std::thread &one_of_them : all)
		one_of_them.join();
	std::uint64_t sum = 0;
	EXPECT_EQ(prism_gam_read(one.session, at, &sum, 8), 0);
	EXPECT_EQ(sum, threads * rounds);
}

TEST_F(GamInterface, Names)
{
	Node one(address()), other(address());
	const std::string key(128, 'k');
	std::array<char, 8> room{};
	std::size_t size = room.size();
	EXPECT_EQ(prism_gam_get(other.node, key.c_str(), room.data(), &size, 20), -ETIMEDOUT);
	const std::string value("a\0\xff", 3);
	EXPECT_EQ(prism_gam_put(one.node, key.c_str(), value.data(), value.size()), 0) << prism_store_message();
	EXPECT_EQ(prism_gam_get(other.node, key.c_str(), room.data(), &size, 5000), 0) << prism_store_message();
	EXPECT_EQ(std::string(room.data(), size), value);
	size = 1;
	EXPECT_EQ(prism_gam_get(other.node, key.c_str(), room.data(), &size, 5000), -EMSGSIZE);
	EXPECT_EQ(size, 3u);
	for (const std::string &wrong : {std::string(), key + "k", std::string(199, 'k')}) {
		const std::string what = "a key of " + std::to_string(wrong.size()) + " bytes";
		EXPECT_EQ(prism_gam_put(one.node, wrong.c_str(), "v", 1), -EINVAL);
		EXPECT_NE(std::string(prism_store_message()).find(what), std::string::npos) << prism_store_message();
		EXPECT_EQ(prism_gam_get(one.node, wrong.c_str(), room.data(), &size, 5000), -EINVAL);
		EXPECT_NE(std::string(prism_store_message()).find(what), std::string::npos) << prism_store_message();
	}
	EXPECT_EQ(prism_gam_put(one.node, "k", std::string(4097, 'v').data(), 4097), -EINVAL);
	EXPECT_NE(std::string(prism_store_message()).find("a value of 4097 bytes"), std::string::npos);
	EXPECT_EQ(prism_gam_put(one.node, "k", "v", SIZE_MAX), -EINVAL);
	EXPECT_EQ(std::string(prism_store_message()).find("NULL"), std::string::npos) << prism_store_message();
	EXPECT_EQ(prism_gam_put(one.node, nullptr, "v", 1), -EINVAL);
	EXPECT_EQ(prism_gam_put(nullptr, "k", "v", 1), -EINVAL);
	EXPECT_EQ(prism_gam_put(one.node, "k", nullptr, 1), -EINVAL);
	EXPECT_EQ(prism_gam_get(one.node, "k", room.data(), nullptr, 1), -EINVAL);
}

TEST_F(GamInterface, BadArgumentsOfJoin)
{
	const auto expect = [&](int wanted, const char *where, const prism_gam_options &given, const char *why) {
		prism_gam *node = reinterpret_cast<prism_gam *>(this);
		EXPECT_EQ(prism_gam_join(&node, where, &given), wanted) << prism_store_message();
		EXPECT_EQ(node, nullptr);
		expect_said(why);
	};
	const std::string at = address();
	EXPECT_EQ(prism_gam_join(nullptr, at.c_str(), nullptr), -EINVAL);
	expect(-EINVAL, nullptr, options(), "master is NULL");
	expect(-EINVAL, "", options(), "");
	prism_gam_options wrong = options();
	wrong.size--;
	expect(-EINVAL, at.c_str(), wrong, "sizeof");
	wrong = options();
	wrong.memory = 1000;
	expect(-EINVAL, at.c_str(), wrong, "512");
	wrong = options();
	wrong.memory = std::uint64_t{1} << 62;
	expect(-ENOMEM, at.c_str(), wrong, "");
	wrong = options();
	wrong.protocol = 2;
	expect(-EINVAL, at.c_str(), wrong, "protocol");
	wrong = options();
	wrong.consistency = 3;
	expect(-EINVAL, at.c_str(), wrong, "consistency");
	wrong = options();
	wrong.port = 65536;
	expect(-EINVAL, at.c_str(), wrong, "65535");
	wrong = options();
	wrong.device = "none";
	expect(-ENODEV, at.c_str(), wrong, "none");
	wrong = options();
	wrong.timeout_ms = 200;
	expect(-ECONNREFUSED, "127.0.0.1:1", wrong, "127.0.0.1");
}

TEST_F(GamInterface, NodesOfAnotherProtocolAreRefused)
{
	master = std::make_unique<peers::MasterThread>(60s); // who is expelled has no protocol any more
	const Node one(address());
	prism_gam_options latch = options();
	latch.protocol = PRISM_GAM_LATCH;
	prism_gam *node = nullptr;
	EXPECT_EQ(prism_gam_join(&node, address().c_str(), &latch), -EPROTONOSUPPORT);
	expect_said("protocol");
	EXPECT_TRUE(!node || !prism_gam_leave(node));
}

TEST_F(GamInterface, BadArgumentsOfCalls)
{
	Node one(address());
	const std::uint64_t at = one.malloc(16);
	char room[16];
	std::uint64_t address = 0;
	EXPECT_EQ(prism_gam_number(nullptr), -EINVAL);
	EXPECT_EQ(prism_gam_session_begin(one.node, nullptr), -EINVAL);
	prism_gam_session *none = one.session;
	EXPECT_EQ(prism_gam_session_begin(nullptr, &none), -EINVAL);
	EXPECT_EQ(none, nullptr);
	prism_gam_session_end(nullptr);
	EXPECT_EQ(prism_gam_malloc(nullptr, 16, nullptr, &address), -EINVAL);
	EXPECT_EQ(prism_gam_malloc(one.session, 16, nullptr, nullptr), -EINVAL);
	EXPECT_EQ(prism_gam_free(nullptr, at), -EINVAL);
	EXPECT_EQ(prism_gam_free(one.session, 0), -EINVAL);
	EXPECT_EQ(prism_gam_free(one.session, at + 1), -EINVAL);
	EXPECT_EQ(prism_gam_read(nullptr, at, room, 16), -EINVAL);
	EXPECT_EQ(prism_gam_read(one.session, at, nullptr, 16), -EINVAL);
	EXPECT_EQ(prism_gam_read(one.session, at, room, 0), -EINVAL);
	EXPECT_EQ(prism_gam_read(one.session, at, room, SIZE_MAX), -EINVAL);
	EXPECT_EQ(std::string(prism_store_message()).find("NULL"), std::string::npos) << prism_store_message();
	EXPECT_EQ(prism_gam_read(one.session, 0, room, 16), -EINVAL);
	EXPECT_EQ(prism_gam_write(one.session, at, nullptr, 1), -EINVAL);
	EXPECT_EQ(prism_gam_write(nullptr, at, room, 1), -EINVAL);
	EXPECT_EQ(prism_gam_mfence(nullptr), -EINVAL);
	EXPECT_EQ(prism_gam_atomic(nullptr, at, 8, PRISM_GAM_ADD, 1, 0, &address), -EINVAL);
	EXPECT_EQ(prism_gam_rlock(nullptr, at, 1), -EINVAL);
	EXPECT_EQ(prism_gam_wlock(one.session, at, 0), -EINVAL);
	EXPECT_EQ(prism_gam_try_rlock(one.session, 0, 1), -EINVAL);
	EXPECT_EQ(prism_gam_unlock(one.session, at, SIZE_MAX), -EINVAL);
	EXPECT_EQ(one.read(std::uint64_t{63} << 48 | block, 1), std::to_string(-EHOSTUNREACH));
	EXPECT_EQ(one.read((std::uint64_t{1} << 40) + at, 1), std::to_string(-EFAULT)) << "beyond what it lends";
	EXPECT_EQ(one.write(at, "fine"), 0) << "nothing of this has done harm";
	EXPECT_EQ(one.read(at, 4), "fine");
}

TEST_F(GamInterface, LeavingWithASession)
{
	const prism_gam_options wanted = options();
	prism_gam *node = nullptr;
	prism_gam_session *session = nullptr;
	ASSERT_EQ(prism_gam_join(&node, address().c_str(), &wanted), 0);
	ASSERT_EQ(prism_gam_session_begin(node, &session), 0);
	EXPECT_EQ(prism_gam_leave(node), -EBUSY);
	expect_said("session");
	prism_gam_session_end(session);
	EXPECT_EQ(prism_gam_leave(node), 0);
	EXPECT_EQ(prism_gam_leave(nullptr), 0);
}

TEST_F(GamInterface, NodesOfTheLatchProtocol)
{
	prism_gam_options latch = options();
	latch.protocol = PRISM_GAM_LATCH;
	Node one(address(), latch), other(address(), latch);
	const std::uint64_t at = one.malloc(8);
	EXPECT_EQ(other.write(at, "hello"), 0);
	EXPECT_EQ(one.read(at, 5), "hello");
	EXPECT_EQ(prism_gam_wlock(one.session, at, 1), 0);
	EXPECT_EQ(prism_gam_try_rlock(other.session, at, 1), -EBUSY);
	EXPECT_EQ(prism_gam_unlock(one.session, at, 1), 0);
	std::uint64_t old = 0;
	EXPECT_EQ(prism_gam_atomic(other.session, at, 1, PRISM_GAM_ADD, 1, 0, &old), 0);
	EXPECT_EQ(old, static_cast<std::uint64_t>('h'));
	EXPECT_EQ(one.read(at, 5), "iello");
}

/** Checks that calls and the close of the node report it, and return in time. */
TEST_F(GamInterface, AMasterThatHasForgottenTheNode)
{
	const prism_gam_options wanted = options();
	prism_gam *node = nullptr;
	prism_gam_session *session = nullptr;
	std::uint64_t at = 0;
	ASSERT_EQ(prism_gam_join(&node, address().c_str(), &wanted), 0);
	ASSERT_EQ(prism_gam_session_begin(node, &session), 0);
	ASSERT_EQ(prism_gam_malloc(session, 8, nullptr, &at), 0);
	const std::uint16_t port = master->port();
	master.reset();
	master = std::make_unique<peers::MasterThread>(lease, port);
	EXPECT_TRUE(peers::wait_until([&] { return prism_gam_write(session, at, "x", 1) == -ESTALE; }));
	expect_said("join again");
	EXPECT_EQ(prism_gam_put(node, "k", "v", 1), -ESTALE);
	prism_gam_session_end(session);
	EXPECT_EQ(prism_gam_leave(node), -ESTALE);
	expect_said("another cluster");
}

/** A node takes the memory that it lent with it; its changes elsewhere stay. */
TEST_F(GamInterface, ANodeThatHasLeft)
{
	Node one(address());
	auto other = std::make_unique<Node>(address());
	const std::uint64_t here = one.malloc(8), there = other->malloc(8);
	EXPECT_EQ(other->write(here, "kept"), 0);
	EXPECT_EQ(one.write(there, "lost"), 0);
	other.reset();
	EXPECT_TRUE(peers::wait_until([&] { return one.read(there, 4) == std::to_string(-EHOSTUNREACH); }));
	expect_said("gone");
	EXPECT_EQ(one.read(here, 4), "kept");
}

} // namespace
