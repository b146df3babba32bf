/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One thread of the driver: its clients, and the requests that they have under way. */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <boost/circular_buffer.hpp>
#include <prism/result.hpp>

#include "bench/frame/worker_loop.hpp"
#include "bench/frame/workload.hpp"
#include "bench/ycsb/options.hpp"
#include "bench/ycsb/outcome.hpp"
#include "common/store_client.hpp"

namespace prism::ycsb
{

/** Used by the thread that made it. */
class Worker final : private bench::WorkerLoop
{
public:
	/** @param options, run_state live longer. @param index 0 .. options.workers() - 1. */
	Worker(const RunOptions &options_, bench::RunState &run_state, unsigned index_);

	/** Connects the clients, then loads, warms up and measures, together with all other workers of the run.
	 */
	[[nodiscard]] Result<RunResult> run(const ClientFactory &factory);

private:
	/* A request and the memory of its operation. It does not move while a client has it. */
	struct Slot {
		apps::Operation operation;
		bench::Request request = bench::Request::read;
		std::uint64_t record = 0;
		std::uint64_t begun = 0; /* time from which latency counts */
		bool scheduled = false;  /* begun is set: when the request was due, or its second half follows */
		std::vector<std::byte> key;
		std::vector<std::byte> value;
		std::vector<std::byte> result;
	};

	struct Connection {
		std::vector<Slot> slots;
		std::vector<Slot *> idle;
		boost::circular_buffer<Slot *> pending; /* not taken by the client yet */
		std::size_t under_way = 0;
		bool has_ended = false;                    /* true if the client has ended */
		std::unique_ptr<apps::StoreClient> client; /* declared last: it may use the slots */
	};

	[[nodiscard]] Result<void> connect(const ClientFactory &factory);
	[[nodiscard]] Result<Connection> make_connection(std::unique_ptr<apps::StoreClient> client) const;
	[[nodiscard]] Result<void> load();
	[[nodiscard]] Result<void> warm_up();
	[[nodiscard]] Result<RunResult> measure();
	[[nodiscard]] Result<void> begin(bench::Phase next, std::uint64_t count, double seconds, double rate);

	[[nodiscard]] std::size_t turn(Connection &connection);
	void begin_due(Connection &connection);
	void take_due(Connection &connection, std::uint64_t now);
	void start_pending(Connection &connection);
	[[nodiscard]] std::size_t collect(Connection &connection);

	void prepare(Slot &slot);
	void prepare_get(Slot &slot);
	void prepare_put(Slot &slot, std::uint64_t version);
	void finish(Connection &connection, Slot &slot, std::uint64_t now);
	void count(const Slot &slot);
	void verify(const Slot &slot);
	void end_request(Connection &connection, Slot &slot, std::uint64_t now);
	[[nodiscard]] std::uint64_t next_version() noexcept;
	std::size_t serve_clients() override;
	[[nodiscard]] std::size_t in_flight() const noexcept override;
	[[nodiscard]] bool has_no_client() const noexcept override;
	[[nodiscard]] std::uint64_t requests_ended() const noexcept override { return result_.requests; }

	const RunOptions &options_;
	unsigned index_;
	bench::Random random_;
	bench::KeyChooser chooser_;
	std::vector<Connection> connections_;
	std::vector<apps::Operation *> completed_;

	RunResult result_;
	std::uint64_t last_end_ = 0;  /* end of the last request */
	std::uint64_t load_next_ = 0; /* next record to load */
	std::uint64_t versions_ = 0;
};

} // namespace prism::ycsb
