/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Store of several shards, each served by a thread of the test, and transactions on it. */
#pragma once

#include "../support/server_log.hpp"
#include "../support/text.hpp"
#include "../support/waiting.hpp"
#include "farm/farm_client.hpp"
#include "farm/farm_server.hpp"
#include "farm/kind.hpp"
#include "locking/kind.hpp"
#include "locking/locking_client.hpp"
#include "locking/locking_server.hpp"
#include "tx/transaction/key_set.hpp"
#include "tx/transaction/shards.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tx_rivals
{

using namespace prism;
using namespace prism::tx;
using namespace std::chrono_literals;

constexpr std::uint32_t longest_key = 64;

using test::bytes_of;
using test::ServerLog;
using test::text_of;
using test::wait_until;

/* Types of the two stores for the typed tests. */
struct Farm {
	using Server = FarmServer;
	using Client = FarmClient;
	using ClientOptions = FarmClientOptions;
	static constexpr apps::StoreKind kind = farm::store_kind;
};

struct Locking {
	using Server = LockingServer;
	using Client = LockingClient;
	using ClientOptions = LockingClientOptions;
	static constexpr apps::StoreKind kind = locking::store_kind;
};

template <typename Store>
class Served
{
public:
	using Adjust = std::function<void(CalledShardOptions &)>;

	explicit Served(std::uint32_t shards = 1, std::uint64_t objects = 1024, const Adjust &adjust = {})
	{
		for (std::uint32_t shard = 0; shard < shards; shard++) {
			CalledShardOptions options;
			options.server.address = "127.0.0.1";
			options.server.threads = 2;
			options.server.max_key_size = longest_key;
			options.server.max_depth = 16;
			options.server.max_connections = 16;
			options.server.receive_buffers = 128;
			options.server.setup_timeout = 10s;
			options.server.log = log.sink();
			options.objects = objects;
			options.value_size = 1024;
			options.shard = shard;
			options.shards = shards;
			if (adjust)
				adjust(options);
			servers_.push_back(Store::Server::create(context, options).value());
			addresses.push_back({"127.0.0.1", servers_.back()->port()});
			threads_.emplace_back([server = servers_.back().get()] { EXPECT_TRUE(server->run()); });
		}
	}
	~Served()
	{
		for (std::uint32_t shard = 0; shard < servers_.size(); shard++)
			stop(shard);
		if (testing::Test::HasFailure())
			std::fprintf(stderr, "the servers said:\n%s", log.text().c_str());
	}
	Served(const Served &) = delete;
	Served &operator=(const Served &) = delete;

	void stop(std::uint32_t shard)
	{
		servers_[shard]->stop();
		if (threads_[shard].joinable())
			threads_[shard].join();
	}
	typename Store::Server &server(std::uint32_t shard = 0) { return *servers_[shard]; }

	std::unique_ptr<typename Store::Client> client(typename Store::ClientOptions options = {})
	{
		const Context own = Context::open("prism_lo", Progress::caller).value();
		return Store::Client::connect(own, addresses, options).value();
	}

	ServerLog log;
	Context context = Context::open("prism_lo", Progress::engine_thread).value();
	std::vector<apps::ServerAddress> addresses;

private:
	std::vector<std::unique_ptr<typename Store::Server>> servers_;
	std::vector<std::thread> threads_;
};

inline Outcome run(TransactionClient &client, Body body, unsigned attempts = 0, Job *told = nullptr)
{
	Job job;
	job.body = std::move(body);
	job.max_attempts = attempts;
	const Outcome outcome = client.run(job);
	if (told)
		*told = job;
	return outcome;
}

inline Outcome put(TransactionClient &client, const std::string &key, const std::string &value, Job *told = nullptr)
{
	return run(
		client, [&](Transaction &t) -> apps::Task<int> { co_return t.write(bytes_of(key), bytes_of(value)); },
		0, told);
}

inline Outcome erase(TransactionClient &client, const std::string &key)
{
	return run(client, [&](Transaction &t) -> apps::Task<int> { co_return t.erase(bytes_of(key)); });
}

/** Returns a body that reads and writes these keys. */
inline Body rmw(const std::vector<std::string> &names)
{
	return [names](Transaction &t) -> apps::Task<int> {
		std::vector<Bytes> keys;
		for (const std::string &name : names)
			keys.push_back(bytes_of(name));
		if (const int error = co_await t.fetch(keys))
			co_return error;
		for (const Bytes key : keys) {
			if (const int error = t.write(key, bytes_of("written")))
				co_return error;
		}
		co_return 0;
	};
}

/** Returns one key of each of two shards. */
inline std::array<std::string, 2> keys_of_two_shards()
{
	std::array<std::string, 2> keys;
	for (unsigned i = 0; keys[0].empty() || keys[1].empty(); i++)
		keys[shard_of(bytes_of(std::to_string(i)), 2)] = std::to_string(i);
	return keys;
}

inline std::optional<std::string> get(TransactionClient &client, const std::string &key, Job *told = nullptr)
{
	std::optional<std::string> found;
	const Body body = [&](Transaction &t) -> apps::Task<int> {
		if (const int error = co_await t.fetch(bytes_of(key)))
			co_return error;
		const std::optional<Bytes> value = t.value(bytes_of(key));
		found = value ? std::optional(text_of(*value)) : std::nullopt;
		co_return 0;
	};
	EXPECT_EQ(run(client, body, 0, told), Outcome::committed);
	return found;
}

/**
 * Returns true if @p served has @p count objects in all, now or soon: operations that are not waited for may still be
 * under way (aborts, releases, FaRM's updates after the first answer).
 */
template <typename Store>
bool comes_to_objects(Served<Store> &served, std::uint64_t count)
{
	return wait_until([&] {
		std::uint64_t sum = 0;
		for (std::uint32_t shard = 0; shard < served.addresses.size(); shard++)
			sum += served.server(shard).stats().objects;
		return sum == count;
	});
}

/** Returns a value of a number in 8 bytes and some more bytes that belong to it. */
inline std::string number_value(std::uint64_t number)
{
	std::string text(200, static_cast<char>('a' + number % 26));
	std::memcpy(text.data(), &number, sizeof(number));
	return text;
}

inline std::uint64_t number_of(std::optional<Bytes> value)
{
	std::uint64_t number = 0;
	if (value && value->size() >= sizeof(number))
		std::memcpy(&number, value->data(), sizeof(number));
	return number;
}

} // namespace tx_rivals
