/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One thread of the workload: its operations, one after the other. */
#pragma once

#include <cstdint>
#include <functional>

#include "bench/frame/clock.hpp"
#include "bench/gam/options.hpp"
#include "bench/gam/outcome.hpp"
#include "bench/gam/working_set.hpp"
#include "gam/api/session.hpp"

namespace prism::gam::micro
{

/** Used by the thread that made it. */
class Worker
{
public:
	/** Returns the node's counters so far. */
	using Look = std::function<CoherenceStats()>;

	/** @param look null: another thread of the node has it. All arguments outlive this object. */
	Worker(Session &session, const RunOptions &options, ItemChooser items, const bench::Clock &clock, Look look);

	/** Warms up, and measures from then on until the amount is done and the last write is performed. */
	[[nodiscard]] RunResult run();

private:
	void load(double seconds, std::uint64_t count);
	void operate(const ItemChooser::Item &item) noexcept;
	[[nodiscard]] int perform(const ItemChooser::Item &item) noexcept;
	[[nodiscard]] int access(const ItemChooser::Item &item) noexcept;
	[[nodiscard]] int under_lock(const ItemChooser::Item &item, bool tries) noexcept;
	void note(int error) noexcept;

	Session &session_;
	const RunOptions &options_;
	ItemChooser items_;
	const bench::Clock &clock_;
	const Look look_;
	std::uint64_t value_ = 0;
	bool has_ended_ = false; /* the node is no longer a member */
	RunResult result_;
};

} // namespace prism::gam::micro
