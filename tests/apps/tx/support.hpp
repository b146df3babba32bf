/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shards of a PRISM-TX store in this process, and their clients. */
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "../../rounds.hpp"
#include "../support/connections.hpp"
#include "../support/waiting.hpp"
#include "tx/store/prism_client.hpp"
#include "tx/store/prism_shard.hpp"

namespace tx_test
{

using namespace prism;
using namespace prism::tx;
using namespace std::chrono_literals;
using prism::test::connections_to;
using prism::test::cut;

inline Bytes bytes(std::string_view text)
{
	return std::as_bytes(std::span(text));
}

inline std::string text(std::optional<Bytes> value)
{
	return value ? std::string(reinterpret_cast<const char *>(value->data()), value->size()) : "-";
}

/** Returns the key of a numbered store. */
inline std::string numbered_key(std::uint64_t number)
{
	return {reinterpret_cast<const char *>(&number), sizeof(number)};
}

struct StoreOptions {
	std::uint16_t shards = 2;
	std::uint64_t cells = 4096;
	bool numbered = false;
	bool as_in_paper = false;
	std::uint32_t value_size = 512;
	std::uint32_t clients = 16;
	std::uint32_t lanes = 16;
	std::optional<StoreSecret> secret = StoreSecret::random();
	std::vector<apps::BufferClass> classes; /* empty: for as many keys as cells */
	apps::LogSink log = [](apps::LogLevel, const std::string &) {};
};

/** Store whose shards each serve on a thread and with a device context of their own, so that one can go alone. */
class Store
{
public:
	explicit Store(const StoreOptions &wanted = {}) : options(wanted), places_(wanted.shards)
	{
		for (std::uint16_t shard = 0; shard < options.shards; shard++)
			begin(shard);
	}
	~Store()
	{
		for (std::uint16_t shard = 0; shard < options.shards; shard++)
			end(shard);
	}
	Store(const Store &) = delete;
	Store &operator=(const Store &) = delete;

	void begin(std::uint16_t shard)
	{
		PrismShardOptions mine;
		mine.address = "127.0.0.1";
		mine.port = addresses.size() > shard ? addresses[shard].port : 0;
		mine.shard = shard;
		mine.shards = options.shards;
		mine.secret = options.secret;
		mine.cells = options.cells;
		mine.numbered = options.numbered;
		mine.as_in_paper = options.as_in_paper;
		mine.lanes = options.lanes;
		mine.max_connections = options.clients;
		mine.max_key_size = 64;
		mine.max_value_size = options.value_size;
		mine.classes = options.classes;
		if (mine.classes.empty())
			mine.classes = PrismShardOptions::classes_for(
				options.cells / 2, options.cells, options.numbered, 64, options.value_size);
		mine.log = options.log;
		Place &place = places_[shard];
		place.shard =
			PrismShard::create(Context::open("prism_lo", Progress::engine_thread).value(), mine).value();
		if (addresses.size() <= shard)
			addresses.push_back({"127.0.0.1", place.shard->port()});
		place.thread = std::thread([&place] { EXPECT_TRUE(place.shard->serve().ok()); });
	}

	/** Ends the shard; its memory is lost. */
	void end(std::uint16_t shard)
	{
		Place &place = places_[shard];
		if (!place.thread.joinable())
			return;
		place.shard->stop();
		place.thread.join();
		place.shard.reset();
	}

	/** Ends the shard once its clients have ended the transactions that they have begun. */
	void drain(std::uint16_t shard) { places_[shard].shard->drain(5s); }

	/**
	 * Waits until all clients are gone and all scans done. Returns the number of buffers still in use, on all
	 * shards.
	 */
	std::uint64_t buffers_in_use()
	{
		std::uint64_t used = 0;
		for (Place &place : places_) {
			for (int i = 0; i < 5000 && !place.shard->deserted(); i++)
				std::this_thread::sleep_for(1ms);
			place.shard->stop();
			place.thread.join();
			used += place.shard->buffers_in_use();
		}
		return used;
	}

	/**
	 * Returns the number of cells, on all shards, that hold an object, each in its own buffer. At most the number
	 * of keys: the hash has a secret of this store, and now and then two keys share a cell. Call after
	 * buffers_in_use().
	 */
	[[nodiscard]] std::uint64_t cells_in_use() const
	{
		std::uint64_t used = 0;
		for (const Place &place : places_) {
			const nlohmann::json stats = nlohmann::json::parse(place.shard->stats_json());
			used += stats["cells"]["written"].get<std::uint64_t>();
		}
		return used;
	}

	/** Returns the number of clients connected to @p shard a moment ago. */
	[[nodiscard]] std::uint64_t open_connections(std::uint16_t shard) const
	{
		std::vector<apps::Metric> metrics;
		static_cast<const apps::Service &>(*places_[shard].shard).collect(metrics);
		const auto found = std::ranges::find(metrics, "prism_connections_open", &apps::Metric::name);
		return static_cast<std::uint64_t>(found->value);
	}

	/** Waits until @p shard has connections to @p count clients. Its count is up to 100 ms old. */
	[[nodiscard]] bool comes_to_connections(std::uint16_t shard, std::uint64_t count) const
	{
		return prism::test::wait_until([&] { return open_connections(shard) == count; });
	}

	StoreOptions options;
	Shards addresses;

private:
	struct Place {
		std::unique_ptr<PrismShard> shard;
		std::thread thread;
	};
	std::vector<Place> places_;
};

/** Client whose calls wait. */
class Client
{
public:
	explicit Client(const Store &store, std::uint32_t depth = 4, PrismClientOptions options = {})
	{
		options.depth = depth;
		api = PrismClient::connect(context, store.addresses, options).value();
	}

	Outcome run(Body body, unsigned attempts = 0)
	{
		last = {};
		last.body = std::move(body);
		last.max_attempts = attempts;
		return api->run(last);
	}

	Outcome put(std::string key, std::string value)
	{
		return run([=](Transaction &transaction) -> apps::Task<int> {
			co_return transaction.write(bytes(key), bytes(value));
		});
	}

	Outcome erase(std::string key)
	{
		return run(
			[=](Transaction &transaction) -> apps::Task<int> { co_return transaction.erase(bytes(key)); });
	}

	/** Returns the value; "-" if the key is not there, "?" if it could not be read. */
	std::string get(std::string key)
	{
		std::string found = "?";
		run([&found, key](Transaction &transaction) -> apps::Task<int> {
			const int error = co_await transaction.fetch(bytes(key));
			if (!error)
				found = text(transaction.value(bytes(key)));
			co_return error;
		});
		return last.outcome == Outcome::committed ? found : "?";
	}

	Context context = Context::open("prism_lo", Progress::caller).value();
	std::unique_ptr<PrismClient> api;
	Job last; /* with its outcome */
};

/** Returns one key of each shard, by number. */
inline std::vector<std::string> keys_of_all(Client &client, std::size_t shards = 2)
{
	std::vector<std::string> keys(shards);
	for (int number = 0; std::ranges::any_of(keys, &std::string::empty); number++) {
		const std::string key = "k" + std::to_string(number);
		KeyPlace place;
		EXPECT_EQ(client.api->place_of(bytes(key), place), 0);
		keys[place.shard] = key;
	}
	return keys;
}

/** Returns the number of cells of @p shard that are prepared. */
inline std::uint64_t prepared_on(Client &client, std::size_t shard)
{
	return nlohmann::json::parse(client.api->stats_of(shard).value())["cells"]["prepared"];
}

/** Returns the sum of @p member of the size classes of @p shard. */
inline std::uint64_t sum_of(Client &client, std::size_t shard, const char *member)
{
	const nlohmann::json stats = nlohmann::json::parse(client.api->stats_of(shard).value());
	std::uint64_t sum = 0;
	for (const nlohmann::json &size_class : stats["classes"])
		sum += size_class[member].get<std::uint64_t>();
	return sum;
}

/** Returns the number of buffers of @p shard that are not in its lists. */
inline std::uint64_t buffers_used_on(Client &client, std::size_t shard)
{
	return sum_of(client, shard, "buffers") - sum_of(client, shard, "available");
}

/**
 * Begins @p job of @p open, which has one lane: it writes all of @p keys, one of each shard, and will be decided on
 * shard 1. Returns when all are prepared and @p open does not know yet. @p other: used to look.
 */
inline void prepare_on_all(Client &open, Client &other, const std::vector<std::string> &keys, Job &job)
{
	job.body = [&keys](Transaction &transaction) -> apps::Task<int> {
		int error = transaction.write(bytes(keys[1]), bytes("2"));
		for (std::size_t shard = 0; shard < keys.size() && !error; shard++)
			error = shard == 1 ? 0 : transaction.write(bytes(keys[shard]), bytes("2"));
		co_return error;
	};
	const std::uint64_t requests = open.api->figures().requests + keys.size() /* reads */ + 3 * keys.size();
	std::array<Job *, 1> ended;
	ASSERT_EQ(open.api->start(job), 0);
	while (open.api->figures().requests < requests)
		ASSERT_EQ(open.api->poll(ended), 0u);
	(void)open.api->poll(ended); /* sends them; ignores the answers */
	const auto all_prepared = [&other, &keys] {
		for (std::size_t shard = 0; shard < keys.size(); shard++) {
			if (prepared_on(other, shard) != 1)
				return false;
		}
		return true;
	};
	bool prepared = all_prepared();
	for (int i = 0; i < 1000 && !prepared; i++) {
		std::this_thread::sleep_for(1ms);
		prepared = all_prepared();
	}
	ASSERT_TRUE(prepared);
}

} // namespace tx_test
