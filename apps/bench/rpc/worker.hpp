/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One thread of the driver: its connections, and what they measure. */
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <prism/result.hpp>

#include "bench/frame/worker_loop.hpp"
#include "bench/rpc/caller.hpp"
#include "bench/rpc/options.hpp"
#include "bench/rpc/outcome.hpp"

namespace prism::echo
{

/** Used only by the thread that made it. */
class Worker final : private bench::WorkerLoop, private Caller::Owner
{
public:
	/** All but @p number outlive the worker. @p number: 0 .. options.threads - 1. */
	Worker(const ServerPlace &server, const RunOptions &options, bench::RunState &shared, unsigned number);

	/** Connects, warms up and measures, together with all other workers of the run. */
	[[nodiscard]] Result<RunResult> run();

private:
	[[nodiscard]] Result<void> connect();
	[[nodiscard]] Result<void> begin_part(bench::Phase next, std::uint64_t count, double seconds);
	[[nodiscard]] Result<void> drive_part();
	[[nodiscard]] Result<void> warm_up();
	[[nodiscard]] Result<RunResult> measure();
	[[nodiscard]] Result<void> look(Figures &server, bench::ProcessUsage &client);
	[[nodiscard]] rpc::LinkCounters counters() const noexcept;

	void begin_due(Caller &caller);
	[[nodiscard]] EchoCall next_call() noexcept;
	void on_end(const EchoCall &call, bool right) noexcept override;
	std::size_t serve_clients() override;
	[[nodiscard]] std::size_t in_flight() const noexcept override;
	[[nodiscard]] std::uint64_t requests_ended() const noexcept override { return result_.calls; }
	/** Returns true for the first worker, which reads the processes' figures. */
	[[nodiscard]] bool looks() const noexcept { return number_ == 0; }

	const ServerPlace &server_;
	const RunOptions &options_;
	const unsigned number_;
	bench::Random random_;
	std::vector<std::unique_ptr<Caller>> callers_;
	std::uint64_t calls_begun_ = 0;
	std::uint64_t last_end_ = 0;
	int lost_ = 0; /* errno of a connection that ended */
	bench::ProcessUsage idle_;
	Figures first_;
	RunResult result_;
};

} // namespace prism::echo
