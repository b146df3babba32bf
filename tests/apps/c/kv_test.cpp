/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* <prism/kv.h> with servers in this process. */
#include "../kv/support.hpp"

#include <prism/kv.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <thread>

#include "base/descriptor.hpp"

namespace
{

using namespace std::chrono_literals;

/** Server that hangs: the kernel accepts its connections. */
class Silent
{
public:
	Silent() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		sockaddr_in address{};
		address.sin_family = AF_INET;
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		socklen_t size = sizeof(address);
		EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr *>(&address), size), 0);
		EXPECT_EQ(::listen(socket_.get(), 8), 0);
		EXPECT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr *>(&address), &size), 0);
		port_ = ntohs(address.sin_port);
	}

	[[nodiscard]] std::uint16_t port() const noexcept { return port_; }

private:
	const prism::Descriptor socket_;
	std::uint16_t port_ = 0;
};

class KvInterface : public testing::Test
{
protected:
	KvInterface() : server(std::make_unique<kv_test::Server>()), port(server->store->port()) {}
	~KvInterface() override { prism_kv_close(store); }

	[[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port); }

	static prism_kv_options options()
	{
		prism_kv_options options{};
		options.size = sizeof(options);
		return options;
	}

	void open(const prism_kv_options &wanted = options())
	{
		prism_kv_close(store);
		ASSERT_EQ(prism_kv_open(&store, address().c_str(), &wanted), 0) << prism_store_message();
		ASSERT_NE(store, nullptr);
	}

	int put(const std::string &key, const std::string &value)
	{
		return prism_kv_put(store, key.data(), key.size(), value.data(), value.size());
	}
	int put_if(const std::string &key, const std::string &value, std::uint64_t version)
	{
		return prism_kv_put_if(store, key.data(), key.size(), value.data(), value.size(), version);
	}
	int remove(const std::string &key) { return prism_kv_remove(store, key.data(), key.size()); }
	int remove_if(const std::string &key, std::uint64_t version)
	{
		return prism_kv_remove_if(store, key.data(), key.size(), version);
	}

	/** Returns the value, or "-errno". */
	std::string get(const std::string &key, std::uint64_t *version = nullptr, std::size_t room = 8192)
	{
		std::string value(room, '.');
		std::size_t size = room;
		const int failed = prism_kv_get(store, key.data(), key.size(), value.data(), &size, version);
		if (failed)
			return std::to_string(failed);
		value.resize(size);
		return value;
	}

	static std::string error(int number) { return std::to_string(-number); }

	/** Ends the server, whose memory is lost; begin_server() starts another in its place. */
	void end_server() { server.reset(); }
	void begin_server()
	{
		prism::kv::PrismServerOptions again = kv_test::small_store();
		again.port = port;
		server = std::make_unique<kv_test::Server>(again);
	}

	std::unique_ptr<kv_test::Server> server;
	const std::uint16_t port;
	prism_kv *store = nullptr;
};

/* Opening ---------------------------------------------------------------------------------------------------------- */

TEST_F(KvInterface, OpensAndTellsTheLimits)
{
	open();
	EXPECT_EQ(prism_kv_max_key_size(store), 256u);
	EXPECT_EQ(prism_kv_max_value_size(store), 4096u);
	prism_kv_close(store);
	store = nullptr;
	ASSERT_EQ(prism_kv_open(&store, address().c_str(), nullptr), 0) << "no options: the defaults";
	prism_kv_options wanted = options();
	wanted.max_value_size = 100;
	open(wanted);
	EXPECT_EQ(prism_kv_max_value_size(store), 100u);
	EXPECT_EQ(put("k", std::string(101, 'v')), -EINVAL);
}

TEST_F(KvInterface, BadArgumentsOfOpen)
{
	const auto expect = [this](int wanted, const char *servers, const prism_kv_options &wrong, const char *why) {
		prism_kv *other = reinterpret_cast<prism_kv *>(this);
		EXPECT_EQ(prism_kv_open(&other, servers, &wrong), wanted) << (servers ? servers : "NULL");
		EXPECT_EQ(other, nullptr);
		EXPECT_NE(std::string(prism_store_message()).find(why), std::string::npos) << prism_store_message();
	};
	EXPECT_EQ(prism_kv_open(nullptr, address().c_str(), nullptr), -EINVAL);
	for (const char *servers : {"", ",", ":1", "host:0", "127.0.0.1:1,", "127.0.0.1:1,,127.0.0.1:2"})
		expect(
			servers == std::string("127.0.0.1:1,") ? -ECONNREFUSED : -EINVAL, servers,
			[] {
				prism_kv_options fast = options();
				fast.timeout_ms = 50;
				return fast;
			}(),
			"");
	expect(-EINVAL, nullptr, options(), "NULL");
	prism_kv_options wrong = options();
	wrong.size = 0;
	expect(-EINVAL, address().c_str(), wrong, "sizeof");
	wrong.size = sizeof(wrong) - 1;
	expect(-EINVAL, address().c_str(), wrong, "sizeof");
	wrong = options();
	wrong.depth = 4097;
	expect(-EINVAL, address().c_str(), wrong, "4096");
	wrong = options();
	wrong.device = "none";
	expect(-ENODEV, address().c_str(), wrong, "none");
}

TEST_F(KvInterface, OptionsOfALaterVersion)
{
	struct Later {
		prism_kv_options known;
		std::uint64_t more;
	} later{options(), 0};
	later.known.size = sizeof(later);
	ASSERT_EQ(prism_kv_open(&store, address().c_str(), &later.known), 0) << prism_store_message();
	prism_kv *other = nullptr;
	later.more = 1;
	EXPECT_EQ(prism_kv_open(&other, address().c_str(), &later.known), -EINVAL);
}

TEST_F(KvInterface, NobodyThere)
{
	end_server();
	prism_kv_options wanted = options();
	wanted.timeout_ms = 100;
	EXPECT_EQ(prism_kv_open(&store, address().c_str(), &wanted), -ECONNREFUSED);
	EXPECT_NE(std::string(prism_store_message()).find(address()), std::string::npos) << prism_store_message();
}

/* Calls that wait -------------------------------------------------------------------------------------------------- */

/** Checks that the timeout is that of opening, not of each server. */
TEST_F(KvInterface, NoneOfManyAnswers)
{
	constexpr unsigned servers = 8;
	std::vector<Silent> silent(servers);
	std::string all;
	for (const Silent &one : silent)
		all += (all.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(one.port());
	prism_kv_options wanted = options();
	wanted.timeout_ms = 1000;
	const auto began = std::chrono::steady_clock::now();
	EXPECT_EQ(prism_kv_open(&store, all.c_str(), &wanted), -ETIMEDOUT) << prism_store_message();
	EXPECT_LT(std::chrono::steady_clock::now() - began, servers / 2 * 1s);
}

TEST_F(KvInterface, PutGetRemove)
{
	open();
	EXPECT_EQ(get("k"), error(ENOENT));
	EXPECT_EQ(put("k", "value"), 0);
	EXPECT_EQ(get("k"), "value");
	EXPECT_EQ(put("k", ""), 0);
	EXPECT_EQ(get("k"), "");
	EXPECT_EQ(prism_kv_put(store, "n", 1, nullptr, 0), 0);
	EXPECT_EQ(get("n"), "");
	const std::string binary("\0\xff\0", 3);
	EXPECT_EQ(put(binary, binary), 0);
	EXPECT_EQ(get(binary), binary);
	EXPECT_EQ(put("long", std::string(4096, 'v')), 0);
	EXPECT_EQ(get("long"), std::string(4096, 'v'));
	EXPECT_EQ(remove("k"), 0);
	EXPECT_EQ(remove("k"), -ENOENT);
	EXPECT_EQ(get("k"), error(ENOENT));
}

TEST_F(KvInterface, AValueThatIsLongerThanTheRoom)
{
	open();
	ASSERT_EQ(put("k", "0123456789"), 0);
	char room[4] = {'x', 'x', 'x', 'x'};
	std::size_t size = 3;
	EXPECT_EQ(prism_kv_get(store, "k", 1, room, &size, nullptr), -EMSGSIZE);
	EXPECT_EQ(size, 10u);
	EXPECT_EQ(std::string(room, 4), "012x");
	std::uint64_t version = 0;
	size = 0;
	EXPECT_EQ(prism_kv_get(store, "k", 1, nullptr, &size, &version), -EMSGSIZE) << "no room at all";
	EXPECT_EQ(size, 10u);
	EXPECT_NE(version, 0u);
}

/** Other clients may put longer values, also in places where this client looks for its keys. */
TEST_F(KvInterface, ValuesThatAreLongerThanTheClientHandles)
{
	constexpr unsigned keys = 50;
	open();
	for (unsigned key = 0; key < keys; key++) {
		ASSERT_EQ(put("long " + std::to_string(key), std::string(1000, 'v')), 0);
		ASSERT_EQ(put("short " + std::to_string(key), "s"), 0);
	}
	prism_kv_options wanted = options();
	wanted.max_value_size = 8;
	open(wanted);
	for (unsigned key = 0; key < keys; key++) {
		EXPECT_EQ(get("short " + std::to_string(key)), "s");
		EXPECT_EQ(get("none " + std::to_string(key)), error(ENOENT));
	}
	std::array<char, 4000> room{};
	std::size_t size = room.size();
	std::uint64_t version = 0;
	EXPECT_EQ(prism_kv_get(store, "long 1", 6, room.data(), &size, &version), -EMSGSIZE);
	EXPECT_NE(std::string(prism_store_message()).find("max_value_size"), std::string::npos);
	EXPECT_EQ(size, 1000u);
	EXPECT_NE(version, 0u);
	EXPECT_EQ(put("long 1", "short"), 0);
	EXPECT_EQ(get("long 1"), "short");
}

/** Checks that each value may be as long as the server of its key allows. */
TEST_F(KvInterface, ServersThatTakeValuesOfDifferentSizes)
{
	constexpr std::uint32_t few = 16;
	prism::kv::PrismServerOptions first = kv_test::small_store(), second = first;
	first.shard = {0, 2, "one"};
	first.max_value_size = few;
	second.shard = {1, 2, "one"};
	kv_test::Server one(first), other(second);
	const std::string servers =
		"127.0.0.1:" + std::to_string(one.store->port()) + ",127.0.0.1:" + std::to_string(other.store->port());
	ASSERT_EQ(prism_kv_open(&store, servers.c_str(), nullptr), 0) << prism_store_message();
	EXPECT_EQ(prism_kv_max_value_size(store), few) << "each key can have such a value";
	const std::string value(few + 1, 'v');
	unsigned taken = 0;
	for (unsigned number = 0; number < 20; number++) {
		const std::string key = "key " + std::to_string(number);
		const int result = put(key, value);
		if (result == -EINVAL) {
			EXPECT_EQ(get(key), error(ENOENT));
			continue;
		}
		ASSERT_EQ(result, 0) << prism_store_message();
		std::uint64_t version = 0;
		EXPECT_EQ(get(key, &version), value);
		EXPECT_EQ(put_if(key, value, version), 0) << prism_store_message();
		taken++;
	}
	EXPECT_GT(taken, 0u);
	EXPECT_LT(taken, 20u);
}

TEST_F(KvInterface, Conditions)
{
	open();
	std::uint64_t first = 7, second = 0;
	EXPECT_EQ(get("k", &first), error(ENOENT));
	EXPECT_EQ(first, 0u);
	EXPECT_EQ(put_if("k", "one", 99), -ENOENT);
	EXPECT_EQ(put_if("k", "one", 0), 0);
	EXPECT_EQ(put_if("k", "two", 0), -EEXIST);
	EXPECT_EQ(get("k", &first), "one");
	EXPECT_NE(first, 0u);
	EXPECT_EQ(put_if("k", "two", first), 0);
	EXPECT_EQ(put_if("k", "three", first), -ESTALE);
	EXPECT_EQ(get("k", &second), "two");
	EXPECT_NE(second, first);
	EXPECT_EQ(remove_if("k", first), -ESTALE);
	EXPECT_EQ(remove_if("k", second), 0);
	EXPECT_EQ(remove_if("k", second), -ENOENT);
	EXPECT_EQ(remove_if("k", 0), -EINVAL);
}

TEST_F(KvInterface, BadArgumentsOfCalls)
{
	open();
	char room[8];
	std::size_t size = sizeof(room);
	const auto get_with = [&](prism_kv *from, const void *key, std::size_t key_size, void *value,
				      std::size_t *length) {
		return prism_kv_get(from, key, key_size, value, length, nullptr);
	};
	EXPECT_EQ(get_with(nullptr, "k", 1, room, &size), -EINVAL);
	EXPECT_EQ(get_with(store, nullptr, 1, room, &size), -EINVAL);
	EXPECT_EQ(get_with(store, "k", 0, room, &size), -EINVAL);
	EXPECT_EQ(get_with(store, "k", 1, nullptr, &size), -EINVAL);
	EXPECT_EQ(get_with(store, "k", 1, room, nullptr), -EINVAL);
	EXPECT_EQ(get_with(store, "k", SIZE_MAX, room, &size), -EINVAL);
	size = SIZE_MAX;
	EXPECT_EQ(get_with(store, "k", 1, room, &size), -EINVAL);
	const std::string long_key(257, 'k'), long_value(4097, 'v');
	EXPECT_EQ(get(long_key), error(EINVAL));
	EXPECT_EQ(put(long_key, "v"), -EINVAL);
	EXPECT_EQ(put("k", long_value), -EINVAL);
	EXPECT_NE(std::string(prism_store_message()), "");
	EXPECT_EQ(put_if("k", long_value, 0), -EINVAL);
	EXPECT_EQ(put_if("k", long_value, 5), -EINVAL);
	EXPECT_EQ(remove(long_key), -EINVAL);
	EXPECT_EQ(remove_if(long_key, 1), -EINVAL);
	EXPECT_EQ(prism_kv_put(store, "k", 1, nullptr, 1), -EINVAL);
	EXPECT_EQ(prism_kv_put(store, "k", 1, "v", SIZE_MAX), -EINVAL);
	EXPECT_EQ(prism_kv_put(nullptr, "k", 1, "v", 1), -EINVAL);
	EXPECT_EQ(prism_kv_put_if(nullptr, "k", 1, "v", 1, 0), -EINVAL);
	EXPECT_EQ(prism_kv_put_if(store, nullptr, 0, "v", 1, 0), -EINVAL);
	EXPECT_EQ(prism_kv_remove(nullptr, "k", 1), -EINVAL);
	EXPECT_EQ(prism_kv_remove(store, nullptr, 0), -EINVAL);
	EXPECT_EQ(prism_kv_remove_if(nullptr, "k", 1, 1), -EINVAL);
	EXPECT_EQ(prism_kv_max_key_size(nullptr), 0u);
	EXPECT_EQ(prism_kv_max_value_size(nullptr), 0u);
	prism_kv_close(nullptr);
	EXPECT_EQ(put("k", "v"), 0) << "nothing of this has done harm";
}

TEST_F(KvInterface, AFullStore)
{
	open();
	int result = 0;
	unsigned stored = 0;
	for (unsigned i = 0; i < 600 && !result; i++, stored += !result)
		result = put("key " + std::to_string(i), std::string(4000, 'v'));
	EXPECT_EQ(result, -ENOSPC);
	EXPECT_GT(stored, 30u);
}

TEST_F(KvInterface, MessagesAreEachThreadsOwn)
{
	open();
	EXPECT_EQ(remove("k"), -ENOENT);
	const std::string mine = prism_store_message();
	EXPECT_NE(mine, "");
	std::thread([this] {
		EXPECT_STREQ(prism_store_message(), "");
		EXPECT_EQ(put(std::string(300, 'k'), ""), -EINVAL);
	}).join();
	EXPECT_EQ(prism_store_message(), mine);
}

/* Submitted operations --------------------------------------------------------------------------------------------- */

struct Submitted {
	std::string key;
	std::string value;
	prism_kv_operation operation{};

	Submitted(prism_kv_kind kind, std::string of, std::string with) : key(std::move(of)), value(std::move(with))
	{
		operation.kind = kind;
		operation.key = key.data();
		operation.key_size = key.size();
		operation.value = value.data();
		operation.value_size = value.size();
		operation.cookie = this;
	}
};

TEST_F(KvInterface, ManyAtOnce)
{
	prism_kv_options wanted = options();
	wanted.depth = 8;
	open(wanted);
	for (const prism_kv_kind kind : {PRISM_KV_PUT, PRISM_KV_GET, PRISM_KV_REMOVE}) {
		std::vector<std::unique_ptr<Submitted>> all;
		for (unsigned i = 0; i < 100; i++)
			all.push_back(std::make_unique<Submitted>(kind, "key " + std::to_string(i),
				kind == PRISM_KV_GET ? std::string(64, '.') : "value " + std::to_string(i)));
		unsigned ended = 0, refused = 0;
		for (std::size_t next = 0; ended < all.size();) {
			if (next < all.size()) {
				const int result = prism_kv_submit(store, &all[next]->operation);
				ASSERT_TRUE(result == 0 || result == -EAGAIN) << result;
				next += !result;
				refused += result != 0;
				if (!result)
					continue;
			}
			prism_kv_operation *some[3];
			const int count = prism_kv_poll(store, some, 3, 10000);
			ASSERT_GT(count, 0);
			for (int i = 0; i < count; i++) {
				const Submitted &one = *static_cast<Submitted *>(some[i]->cookie);
				ASSERT_EQ(&one.operation, some[i]);
				EXPECT_EQ(some[i]->result, 0);
				if (kind == PRISM_KV_GET) {
					EXPECT_EQ(
						one.value.substr(0, some[i]->value_size), "value" + one.key.substr(3));
				}
			}
			ended += static_cast<unsigned>(count);
		}
		EXPECT_GT(refused, 0u) << "more than depth were under way";
		prism_kv_operation *none = nullptr;
		EXPECT_EQ(prism_kv_poll(store, &none, 1, 10000), 0) << "nothing is under way: this does not wait";
	}
}

TEST_F(KvInterface, WhatSubmittedOperationsEndWith)
{
	open();
	Submitted absent(PRISM_KV_GET, "k", std::string(8, '.')), put(PRISM_KV_PUT, "long", "0123456789"),
		small(PRISM_KV_GET, "long", "...");
	prism_kv_operation *ended = nullptr;
	for (Submitted *one : {&absent, &put, &small}) {
		ASSERT_EQ(prism_kv_submit(store, &one->operation), 0);
		ASSERT_EQ(prism_kv_poll(store, &ended, 1, 10000), 1);
		ASSERT_EQ(ended, &one->operation);
	}
	EXPECT_EQ(absent.operation.result, -ENOENT);
	EXPECT_EQ(put.operation.result, 0);
	EXPECT_EQ(small.operation.result, -EMSGSIZE);
	EXPECT_EQ(small.operation.value_size, 10u);
	EXPECT_EQ(small.value, "012");
}

TEST_F(KvInterface, BadArgumentsOfSubmittedOperations)
{
	open();
	Submitted fine(PRISM_KV_PUT, "k", "v");
	prism_kv_operation wrong = fine.operation;
	EXPECT_EQ(prism_kv_submit(nullptr, &wrong), -EINVAL);
	EXPECT_EQ(prism_kv_submit(store, nullptr), -EINVAL);
	wrong.kind = 3;
	EXPECT_EQ(prism_kv_submit(store, &wrong), -EINVAL);
	wrong = fine.operation;
	wrong.key = nullptr;
	EXPECT_EQ(prism_kv_submit(store, &wrong), -EINVAL);
	wrong = fine.operation;
	wrong.key_size = 0;
	EXPECT_EQ(prism_kv_submit(store, &wrong), -EINVAL);
	wrong = fine.operation;
	wrong.value = nullptr;
	EXPECT_EQ(prism_kv_submit(store, &wrong), -EINVAL);
	wrong = fine.operation;
	wrong.value_size = 5000;
	std::string large(5000, 'v');
	wrong.value = large.data();
	EXPECT_EQ(prism_kv_submit(store, &wrong), -EINVAL);
	prism_kv_operation *ended = nullptr;
	EXPECT_EQ(prism_kv_poll(nullptr, &ended, 1, 0), -EINVAL);
	EXPECT_EQ(prism_kv_poll(store, nullptr, 1, 0), -EINVAL);
	EXPECT_EQ(prism_kv_poll(store, &ended, 0, 0), -EINVAL);
	EXPECT_EQ(prism_kv_poll(store, &ended, UINT_MAX, 0), -EINVAL);
	EXPECT_EQ(get("k"), error(ENOENT)) << "nothing of this was done";
}

TEST_F(KvInterface, ClosedWithOperationsUnderWay)
{
	for (unsigned round = 0; round < 20; round++) {
		open();
		auto one = std::make_unique<Submitted>(PRISM_KV_PUT, "k", std::string(4000, 'v'));
		ASSERT_EQ(prism_kv_submit(store, &one->operation), 0);
		prism_kv_close(store);
		store = nullptr;
		one.reset(); /* the caller's again */
	}
}

/* Threads ---------------------------------------------------------------------------------------------------------- */

TEST_F(KvInterface, ThreadsShareAStore)
{
	constexpr unsigned threads = 4, rounds = 50;
	prism_kv_options wanted = options();
	wanted.depth = 2; /* fewer than threads */
	open(wanted);
	ASSERT_EQ(put("sum", "0"), 0);
	std::vector<std::thread> all;
	std::atomic<unsigned> conflicts = 0;
	for (unsigned number = 0; number < threads; number++)
		all.emplace_back([&, number] {
			const std::string own = "own " + std::to_string(number);
			for (unsigned round = 1; round <= rounds; round++) {
				EXPECT_EQ(put(own, std::to_string(round)), 0) << prism_store_message();
				EXPECT_EQ(get(own), std::to_string(round));
				for (;;) {
					std::uint64_t version = 0;
					const unsigned long sum = std::stoul(get("sum", &version));
					const int result = put_if("sum", std::to_string(sum + 1), version);
					if (!result)
						break;
					ASSERT_EQ(result, -ESTALE) << prism_store_message();
					conflicts++;
				}
			}
		});
	for (std::thread &one : all)
		one.join();
	EXPECT_EQ(get("sum"), std::to_string(threads * rounds));
	RecordProperty("conflicts", static_cast<int>(conflicts));
}

/* Lost servers ----------------------------------------------------------------------------------------------------- */

TEST_F(KvInterface, AServerThatVanishesAndComesBack)
{
	prism_kv_options wanted = options();
	wanted.patience_ms = 100;
	open(wanted);
	ASSERT_EQ(put("k", "before"), 0);
	end_server();
	int result = 0;
	for (unsigned i = 0; i < 100 && result != -ENOTCONN; i++) {
		result = put("k", "meanwhile");
		EXPECT_TRUE(result == -ENOTCONN || result == -EINPROGRESS) << result << prism_store_message();
	}
	EXPECT_EQ(result, -ENOTCONN) << "nothing was done";
	EXPECT_NE(std::string(prism_store_message()).find(address()), std::string::npos) << prism_store_message();
	EXPECT_EQ(get("k"), error(ENOTCONN));
	EXPECT_EQ(put_if("k", "meanwhile", 1), -ENOTCONN);
	EXPECT_EQ(remove("k"), -ENOTCONN);
	begin_server();
	std::string found = error(ENOTCONN);
	for (unsigned i = 0; i < 1000 && found == error(ENOTCONN); i++) {
		found = get("k");
		std::this_thread::sleep_for(10ms);
	}
	EXPECT_EQ(found, error(ENOENT)) << "it has come back empty";
	EXPECT_EQ(put("k", "after"), 0);
	EXPECT_EQ(get("k"), "after");
}

/** Programs may keep versions for longer than a server lives. */
TEST_F(KvInterface, VersionsFromBeforeARestartAreNoneOfTheNewValues)
{
	std::uint64_t before = 0, after = 0;
	open();
	ASSERT_EQ(put("k", "before"), 0);
	ASSERT_EQ(get("k", &before), "before");
	end_server();
	begin_server();
	open();
	ASSERT_EQ(put("k", "after"), 0);
	EXPECT_EQ(put_if("k", "lost", before), -ESTALE);
	EXPECT_EQ(remove_if("k", before), -ESTALE);
	EXPECT_EQ(get("k", &after), "after");
	EXPECT_NE(before, after);
}

TEST_F(KvInterface, CallsEndInTimeThoughNobodyAnswers)
{
	prism_kv_options wanted = options();
	wanted.timeout_ms = 200;
	wanted.patience_ms = 600000;
	open(wanted);
	ASSERT_EQ(put("k", "v"), 0);
	end_server();
	for (unsigned i = 0; i < 3; i++)
		EXPECT_EQ(get("k"), error(ETIMEDOUT));
	const int result = put("k", "w");
	EXPECT_EQ(result, -EINPROGRESS) << "it waits for a connection, and may be done later";
	Submitted one(PRISM_KV_GET, "k", "...");
	ASSERT_EQ(prism_kv_submit(store, &one.operation), 0);
	prism_kv_operation *ended = nullptr;
	EXPECT_EQ(prism_kv_poll(store, &ended, 1, 50), 0);
	prism_kv_close(store); /* with operations that nobody waits for any more */
	store = nullptr;
}

/**
 * Servers cut off clients that do not answer their scans: a program that is busy with other things must not be cut off.
 */
TEST_F(KvInterface, AnswersItsServerWhileNoCallIsMade)
{
	open();
	ASSERT_EQ(put("k", "v"), 0);
	{
		prism_kv *other = nullptr;
		ASSERT_EQ(prism_kv_open(&other, address().c_str(), nullptr), 0);
		prism_kv_close(other); /* a client leaves: the server looks for lost buffers, and asks the others */
	}
	std::this_thread::sleep_for(500ms);
	server->end();
	EXPECT_GE(server->store->recovery_stats().scans, 1u);
}

} // namespace
