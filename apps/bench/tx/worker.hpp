/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One thread of the driver: its clients, and the transactions that they have under way. */
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <prism/result.hpp>

#include "bench/frame/worker_loop.hpp"
#include "bench/tx/run.hpp"

namespace prism::tx
{

/** Used only by the thread that made it. */
class Worker final : private bench::WorkerLoop
{
public:
	/** @param options, workload, run_state outlive the worker. @param index 0 .. options.threads - 1. */
	Worker(const RunOptions &options_, const Workload &workload_, bench::RunState &run_state, unsigned index_);

	/** Connects and loads its part of the store, together with all other workers of the run. */
	[[nodiscard]] Result<RunResult> load(const ClientFactory &factory);

	/** Connects, warms up and measures, together with all others. */
	[[nodiscard]] Result<RunResult> measure(const ClientFactory &factory);

private:
	/* A transaction and its program. It does not move while a client has a pointer to it. */
	struct Slot {
		Job job;
		std::unique_ptr<Program> program;
		std::uint64_t begun = 0;
	};

	struct Connection {
		std::vector<Slot> slots;
		std::vector<Slot *> idle;
		bool has_ended = false; /* the client */
		std::unique_ptr<Terminal> terminal;
		std::unique_ptr<TransactionClient> client; /* destroyed before the slots that it may point to */

		[[nodiscard]] std::size_t under_way() const noexcept { return slots.size() - idle.size(); }
	};

	[[nodiscard]] Result<void> connect(const ClientFactory &factory);
	[[nodiscard]] Result<Connection> make_connection(
		std::unique_ptr<TransactionClient> client, unsigned number) const;
	[[nodiscard]] Result<void> begin(bench::Phase next, std::uint64_t count, double seconds);
	[[nodiscard]] Error loading_failed(std::uint64_t count) const;

	[[nodiscard]] std::size_t turn(Connection &connection);
	void start_due(Connection &connection);
	void start(Connection &connection, Slot &slot);
	[[nodiscard]] std::size_t collect(Connection &connection);
	void finish(Connection &connection, Slot &slot, std::uint64_t now);
	[[nodiscard]] std::unique_ptr<Program> next_program(Connection &connection);
	std::size_t serve_clients() override;
	[[nodiscard]] std::size_t in_flight() const noexcept override;
	[[nodiscard]] bool has_no_client() const noexcept override;
	[[nodiscard]] std::uint64_t requests_ended() const noexcept override { return ended_; }

	const RunOptions &options_;
	const Workload &workload_;
	unsigned index_;
	bench::Random random_; /* for the pace, which draws nothing in a closed loop */
	std::vector<Connection> connections_;
	std::vector<Job *> completed_;

	RunResult result_;
	std::uint64_t ended_ = 0; /* transactions of this phase */
	std::uint64_t last_end_ = 0;
	std::uint64_t load_next_ = 0;
};

} // namespace prism::tx
