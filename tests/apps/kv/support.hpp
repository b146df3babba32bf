/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* PRISM-KV server in this process, and its clients. */
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../../rounds.hpp"
#include "../support/connections.hpp"
#include "kv/store/prism_client.hpp"
#include "kv/store/prism_server.hpp"

namespace kv_test
{

using namespace prism;
using namespace prism::kv;
using apps::Operation;
using apps::OperationKind;
using apps::Outcome;
using test::connections_to;

inline std::span<const std::byte> bytes_of(const std::string &text)
{
	return std::as_bytes(std::span(text));
}

inline PrismServerOptions small_store()
{
	PrismServerOptions options;
	options.address = "127.0.0.1";
	options.slots = 512;
	options.classes = {{128, 600}, {4480, 64}};
	options.log = [](apps::LogLevel, const std::string &) {};
	return options;
}

/** Server on a thread of its own. */
class Server
{
public:
	explicit Server(const PrismServerOptions &options = small_store())
		: store(PrismServer::create(Context::open("prism_lo", Progress::engine_thread).value(), options)
				  .value())
	{
		begin();
	}
	~Server() { end(); }

	void begin()
	{
		thread_ = std::thread([this] { EXPECT_TRUE(store->serve().ok()); });
	}
	/** Stops the server; afterwards the store may be examined. */
	void end()
	{
		store->stop();
		wait();
	}
	/** Waits until the server ends by itself. */
	void wait()
	{
		if (thread_.joinable())
			thread_.join();
	}

	/** Returns true if the server's metrics count clients. Any thread. */
	[[nodiscard]] bool has_clients() const
	{
		std::vector<apps::Metric> metrics;
		store->collect(metrics);
		const auto open = [](const apps::Metric &metric) { return metric.name == "prism_connections_open"; };
		const auto found = std::find_if(metrics.begin(), metrics.end(), open);
		return found != metrics.end() && found->value > 0;
	}

	std::unique_ptr<PrismServer> store;

private:
	std::thread thread_;
};

/** Client whose calls wait. */
class Client
{
public:
	explicit Client(const Server &server, std::uint32_t depth = 1,
		std::chrono::milliseconds patience = PrismClientOptions{}.patience)
	{
		PrismClientOptions options;
		options.depth = depth;
		options.patience = patience;
		connect(server, options);
	}
	Client(const Server &server, const PrismClientOptions &options) { connect(server, options); }

	Outcome run(Operation &operation)
	{
		EXPECT_EQ(api->start(operation), 0);
		Operation *ended = nullptr;
		const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
		while (!api->poll({&ended, 1}) && std::chrono::steady_clock::now() < deadline)
			;
		EXPECT_EQ(ended, &operation);
		last = operation;
		return operation.outcome;
	}

	Outcome put(const std::string &key, const std::string &value)
	{
		Operation operation;
		operation.kind = OperationKind::put;
		operation.key = bytes_of(key);
		operation.value = bytes_of(value);
		return run(operation);
	}

	Outcome get(const std::string &key, std::string &value)
	{
		value.resize(8192);
		Operation operation = getting(key, value);
		const Outcome outcome = run(operation);
		value.resize(outcome == Outcome::ok ? operation.length : 0);
		return outcome;
	}

	/** Returns the value, or the outcome in angle brackets. */
	std::string get(const std::string &key)
	{
		std::string value;
		switch (get(key, value)) {
		case Outcome::ok:
			return value;
		case Outcome::not_found:
			return "<not found>";
		default:
			return "<failed>";
		}
	}

	Outcome erase(const std::string &key)
	{
		Operation operation;
		operation.kind = OperationKind::erase;
		operation.key = bytes_of(key);
		return run(operation);
	}

	static Operation getting(const std::string &key, std::string &value)
	{
		Operation operation;
		operation.key = bytes_of(key);
		operation.result = std::as_writable_bytes(std::span(value));
		return operation;
	}

	void connect(const Server &server, const PrismClientOptions &options)
	{
		api = PrismClient::connect(context, "127.0.0.1", server.store->port(), options).value();
	}

	Context context = Context::open("prism_lo", Progress::caller).value();
	std::unique_ptr<PrismClient> api;
	Operation last; /* with its outcome */
};

} // namespace kv_test
