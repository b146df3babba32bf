/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One thread of the server, with a completion queue of its own and the connections that were assigned to it. */
#pragma once

#include "rpc/server.hpp"
#include "service/histogram.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace prism::rpc
{

/**
 * A client. The worker alone touches it, but for @ref link, which the thread in run() watches, and what is const.
 *
 * Responses are built in a ring: requests are answered in their order, and the sends of a queue pair complete in
 * theirs.
 */
struct Server::Connection {
	/* A request that waits for room in the ring. */
	struct Waiting {
		std::uint32_t slot = 0;
		std::uint32_t length = 0;
	};

	Connection(apps::Reception::Link rendezvous, QueuePair pair, Buffer memory,
		std::unique_ptr<CallSession> store_part, std::uint32_t ring, std::uint32_t calls_at_once);

	[[nodiscard]] bool has_room() const noexcept { return built - done < depth; }
	[[nodiscard]] std::uint32_t number() const noexcept { return qp.raw()->qp_num; }

	const apps::Reception::Link link;
	Buffer responses; /* declared first: freed only after the queue pair is gone */
	QueuePair qp;
	std::unique_ptr<CallSession> session; /* until it is closed */
	const std::uint32_t depth;            /* of the ring */
	const std::uint32_t calls; /* that the client has announced to have under way; receive buffers it may hold */
	Worker *worker = nullptr;  /* of the thread in run() */
	std::vector<ibv_send_wr> requests; /* the ring */
	std::vector<ibv_sge> pieces;
	std::uint64_t built = 0;      /* responses so far */
	std::uint64_t posted = 0;     /* of these, given to the device */
	std::uint64_t done = 0;       /* of these, complete */
	std::vector<Waiting> waiting; /* a ring as well */
	std::uint64_t waiting_begin = 0;
	std::uint64_t waiting_end = 0;
	bool touched = false; /* has responses that are not posted yet */
	bool closed = false;
	std::chrono::steady_clock::time_point closed_at;
};

class Worker
{
public:
	using Connection = Server::Connection;
	using ConnectionPointer = std::shared_ptr<Connection>;

	Worker(Server &owner, CompletionQueue queue);

	[[nodiscard]] const CompletionQueue &completion_queue() const noexcept { return cq_; }

	/** For the thread in run(): before the client may send anything; and when it has gone. */
	void add(const ConnectionPointer &connection);
	void remove(const ConnectionPointer &connection);
	/** Connections that this worker has not let go of. */
	[[nodiscard]] std::size_t load() const noexcept { return assigned_.load(std::memory_order_relaxed); }

	/** The thread's body, until the server stops. Afterwards no connection is left. */
	void run();

	std::atomic<std::uint64_t> requests{0};
	std::atomic<std::uint64_t> malformed{0};
	std::atomic<std::uint64_t> vanished{0};
	apps::Histogram handling{apps::buckets::durations}; /* if ServerOptions::timed */

private:
	using Clock = std::chrono::steady_clock;
	static constexpr std::size_t batch = 32;

	bool turn() noexcept;
	void handle(const Completion &completion) noexcept;
	void handle_receive(const Completion &completion) noexcept;
	void handle_send(const Completion &completion) noexcept;
	void accept_request(Connection &connection, std::uint32_t slot, std::uint32_t length) noexcept;
	void execute(Connection &connection, std::uint32_t slot, std::uint32_t length) noexcept;
	const char *respond(Connection &connection, std::span<const std::byte> request) noexcept;
	void resume_waiting(Connection &connection) noexcept;
	void touch(Connection &connection) noexcept;
	void post_responses() noexcept;
	void post_chain(Connection &connection) noexcept;
	void recycle(std::uint32_t slot) noexcept;
	void flush_receives() noexcept;
	void close(Connection &connection) noexcept;
	void give_up(Connection &connection, std::atomic<std::uint64_t> &count, const std::string &reason) noexcept;
	Connection *find(std::uint32_t number) noexcept;
	void read_mail() noexcept;
	void bury() noexcept;
	void nap(Clock::duration idle) noexcept;
	void finish() noexcept;

	Server &server_;
	CompletionQueue cq_;
	std::unordered_map<std::uint32_t, ConnectionPointer> connections_;
	std::vector<Connection *> touched_;
	std::vector<std::uint32_t> free_slots_; /* receives to post again */
	std::size_t graves_ = 0;                /* closed connections whose completions may still come */
	std::chrono::nanoseconds next_nap_{0};
	bool finishing_ = false; /* executes no more calls */

	std::atomic<std::size_t> assigned_{0};
	std::atomic<bool> has_mail_{false};
	std::mutex mail_lock_;
	std::vector<ConnectionPointer> arrived_;
	std::vector<ConnectionPointer> departed_;
};

} // namespace prism::rpc
