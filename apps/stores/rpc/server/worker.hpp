/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One thread of the server, with a completion queue of its own and the connections that were assigned to it. */
#pragma once

#include "rpc/server/connection.hpp"
#include "rpc/server/rota.hpp"
#include "rpc/server/server_options.hpp"
#include "service/histogram.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace prism::rpc
{

/** State of a server that all its workers share. Outlives them. */
struct ServerState {
	explicit ServerState(ServerOptions options) : settings(std::move(options)) {}

	const ServerOptions settings;
	mutable apps::LimitedLog log{settings.log}; /* of events caused by clients */
	std::atomic<bool> stopping{false};
};

class Worker
{
public:
	using ConnectionPointer = std::shared_ptr<Connection>;

	/** @p device: the one that @p way uses. */
	Worker(const ServerState &server, std::unique_ptr<CallDevice> device, std::unique_ptr<Transport> way);
	Worker(const Worker &) = delete;
	Worker &operator=(const Worker &) = delete;

	[[nodiscard]] Transport &transport() noexcept { return *transport_; }

	/** For the thread in Server::run(): add() before the client may send anything, remove() after it has gone. */
	void add(const ConnectionPointer &connection);
	void remove(const ConnectionPointer &connection);
	/** Returns the number of connections that this worker still holds. */
	[[nodiscard]] std::size_t load() const noexcept { return assigned_.load(std::memory_order_relaxed); }

	/** Does all work that is ready. Returns false if there was none. run() calls it again and again. */
	bool turn() noexcept;
	/** The thread's body, until the server stops. Afterwards no connection is left. */
	void run();

	std::atomic<std::uint64_t> requests{0};
	std::atomic<std::uint64_t> malformed{0};
	std::atomic<std::uint64_t> vanished{0};
	std::atomic<std::uint64_t> repeated{0};
	apps::Histogram handling{apps::buckets::durations}; /* if ServerOptions::timed */

private:
	friend class Connection;
	using Clock = CallDevice::Clock;
	static constexpr std::size_t batch = 32;
	struct Letter {
		ConnectionPointer connection;
		bool arrives; /* false: it is to be closed */
	};

	bool look() noexcept;
	void handle(const Completion &completion) noexcept;
	void give_up(Connection &connection, std::atomic<std::uint64_t> &count, const std::string &reason) noexcept;
	Connection *find(std::uint32_t number) noexcept;
	void read_mail() noexcept;
	void post_mail(Letter letter);
	void arrive(ConnectionPointer connection) noexcept;
	void bury() noexcept;
	void nap(Clock::duration idle) noexcept;
	void finish() noexcept;

	const ServerState &server_;
	std::unique_ptr<CallDevice> device_;
	std::unique_ptr<Transport> transport_; /* declared before the connections, whose channels it outlives */
	std::unordered_map<std::uint32_t, ConnectionPointer> connections_;
	Rota<Connection> rota_; /* of these, if its way looks for calls */
	std::vector<Connection *> touched_;
	Departed gone_;          /* clients that may come back */
	std::size_t graves_ = 0; /* closed connections whose completions may still come */
	std::chrono::nanoseconds next_nap_{0};
	bool finishing_ = false; /* executes no more calls */

	std::atomic<std::size_t> assigned_{0};
	std::atomic<bool> has_mail_{false};
	std::mutex mail_lock_;
	std::vector<Letter> mail_;
};

} // namespace prism::rpc
