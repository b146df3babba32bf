/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Store served by a thread of the test, and single operations. */
#pragma once

#include "../../rounds.hpp"
#include "../support/server_log.hpp"
#include "../support/text.hpp"
#include "../support/waiting.hpp"
#include "common/store_client.hpp"
#include "kv_calls/kind.hpp"
#include "kv_calls/rpc_store.hpp"
#include "pilaf/kind.hpp"
#include "pilaf/pilaf_client.hpp"
#include "pilaf/pilaf_server.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace rivals
{

using namespace prism;
using namespace prism::kv;
using namespace prism::rpc;
using namespace std::chrono_literals;
using apps::Operation;
using apps::OperationKind;
using apps::Outcome;

using test::bytes_of;
using test::ServerLog;
using test::text_of;
using test::wait_until;

/** Returns @p size bytes of all values, beginning with @p first. */
inline std::string binary(std::size_t size, unsigned first = 0)
{
	std::string text(size, '\0');
	for (std::size_t i = 0; i < size; i++)
		text[i] = static_cast<char>(first + i);
	return text;
}

inline Context open_context(Progress progress)
{
	return Context::open("prism_lo", progress).value();
}

inline rpc::ServerOptions small_server(ServerLog &log)
{
	rpc::ServerOptions options;
	options.address = "127.0.0.1";
	options.threads = 2;
	options.max_key_size = 64;
	options.max_value_size = 4096;
	options.max_depth = 16;
	options.max_connections = 16;
	options.receive_buffers = 128;
	options.setup_timeout = 10s;
	options.log = log.sink();
	return options;
}

/* Types of the two stores for the typed tests. */
struct Rpc {
	using Server = RpcStoreServer;
	using Client = RpcStoreClient;
	static constexpr apps::StoreKind kind = rpc_kind;
	static Result<std::unique_ptr<Server>> create(
		const Context &context, const rpc::ServerOptions &server, std::uint64_t objects, std::size_t memory)
	{
		RpcStoreOptions options;
		options.server = server;
		options.capacity = objects;
		options.memory = memory;
		return Server::create(context, options);
	}
	static std::uint64_t objects(const Server &server) { return server.stats().objects; }
};

struct Pilaf {
	using Server = PilafServer;
	using Client = PilafClient;
	static constexpr apps::StoreKind kind = pilaf::store_kind;
	static Result<std::unique_ptr<Server>> create(
		const Context &context, const rpc::ServerOptions &server, std::uint64_t objects, std::size_t memory)
	{
		PilafOptions options;
		options.server = server;
		options.table.entries = objects;
		options.table.memory = memory;
		return Server::create(context, options);
	}
	static std::uint64_t objects(const Server &server) { return server.stats().table.objects; }
};

/** Server, and the thread that runs it. */
template <typename Store>
class Served
{
public:
	explicit Served(std::uint64_t objects = 1024, std::size_t memory = 8 << 20,
		const std::function<void(rpc::ServerOptions &)> &adjust = {})
	{
		rpc::ServerOptions options = small_server(log);
		if (adjust)
			adjust(options);
		store_ = Store::create(context, options, objects, memory).value();
		thread_ = std::thread([this] { EXPECT_TRUE(store_->run()); });
	}
	~Served() { stop(); }
	Served(const Served &) = delete;
	Served &operator=(const Served &) = delete;

	void stop()
	{
		store_->stop();
		if (thread_.joinable())
			thread_.join();
	}
	typename Store::Server &server() { return *store_; }
	rpc::ServerStats stats() const { return store_->stats().server; }
	std::uint16_t port() const { return store_->port(); }

	std::unique_ptr<typename Store::Client> client(std::uint32_t depth = 1)
	{
		ClientOptions options;
		options.depth = depth;
		return Store::Client::connect(client_context, "127.0.0.1", port(), options).value();
	}

	ServerLog log;
	Context context = open_context(Progress::engine_thread);
	Context client_context = open_context(Progress::engine_thread);

private:
	std::unique_ptr<typename Store::Server> store_;
	std::thread thread_;
};

/** Result of one operation. */
struct Answer {
	Outcome outcome = Outcome::failed;
	int error = 0;
	std::string value;
	std::uint32_t length = 0;
	std::uint32_t round_trips = 0;
};

inline Answer run(apps::StoreClient &client, OperationKind kind, const std::string &key, const std::string &value = {},
	std::size_t room = 65536)
{
	std::string result(room, '\0');
	Operation operation;
	operation.kind = kind;
	operation.key = bytes_of(key);
	operation.value = bytes_of(value);
	operation.result = std::as_writable_bytes(std::span(result));
	Answer answer;
	answer.error = client.start(operation);
	if (answer.error)
		return answer;
	Operation *done = nullptr;
	const auto end = std::chrono::steady_clock::now() + test::patience;
	while (client.poll({&done, 1}) == 0) {
		if (std::chrono::steady_clock::now() > end) {
			ADD_FAILURE() << "an operation did not end";
			std::abort(); /* the client still knows the operation */
		}
	}
	EXPECT_EQ(done, &operation);
	result.resize(std::min<std::size_t>(operation.length, room));
	return {operation.outcome, operation.error, result, operation.length, operation.round_trips};
}

/**
 * Keeps as many operations under way as @p client may have, until @p total have ended. Each has a key of its own, so
 * every answer is known in advance. @p most: how many a poll may hand back.
 */
inline void keep_busy(apps::StoreClient &client, std::uint64_t total, std::size_t most)
{
	const std::size_t depth = client.depth();
	std::vector<std::string> keys(depth), values(depth), results(depth, std::string(4096, '\0'));
	std::vector<Operation> operations(depth);
	std::mt19937 random(1);
	const auto begin = [&](std::size_t i) {
		Operation &operation = operations[i];
		const bool was_put = operation.kind == OperationKind::put && !values[i].empty();
		operation.kind = was_put ? OperationKind::get : OperationKind::put;
		if (!was_put)
			values[i] = binary(1 + random() % 2000, random());
		operation.key = bytes_of(keys[i]);
		operation.value = bytes_of(values[i]);
		operation.result = std::as_writable_bytes(std::span(results[i]));
		operation.context = reinterpret_cast<void *>(i);
		ASSERT_EQ(client.start(operation), 0);
	};
	for (std::size_t i = 0; i < depth; i++) {
		keys[i] = "key" + std::to_string(i);
		begin(i);
	}
	Operation extra = operations[0];
	EXPECT_EQ(client.start(extra), EAGAIN);
	std::uint64_t ended = 0;
	std::vector<Operation *> done(most);
	const auto end = std::chrono::steady_clock::now() + test::patience;
	while (ended < total && std::chrono::steady_clock::now() < end) {
		const std::size_t count = client.poll(done);
		for (std::size_t n = 0; n < count; n++, ended++) {
			const auto i = reinterpret_cast<std::size_t>(done[n]->context);
			ASSERT_EQ(done[n]->outcome, Outcome::ok);
			ASSERT_TRUE(done[n]->kind == OperationKind::put ||
				    results[i].substr(0, done[n]->length) == values[i]);
			begin(i);
		}
	}
	EXPECT_GE(ended, total);
}

/** Begins four PUTs of @p key; both must outlive the operations. */
inline void start_puts(apps::StoreClient &client, const std::string &key, const std::string &value,
	std::array<Operation, 4> &operations)
{
	for (Operation &operation : operations) {
		operation.kind = OperationKind::put;
		operation.key = bytes_of(key);
		operation.value = bytes_of(value);
		ASSERT_EQ(client.start(operation), 0);
	}
}

inline Answer get(apps::StoreClient &client, const std::string &key)
{
	return run(client, OperationKind::get, key);
}
inline Outcome put(apps::StoreClient &client, const std::string &key, const std::string &value)
{
	return run(client, OperationKind::put, key, value).outcome;
}
inline Outcome erase(apps::StoreClient &client, const std::string &key)
{
	return run(client, OperationKind::erase, key).outcome;
}

} // namespace rivals
