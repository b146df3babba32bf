/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Fibers that play the threads of a test. If a node's `rest` is yield() and the messages' clock now(), a run can be
 * repeated. */
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gam/memory/node.hpp"

namespace prism::gam::test
{

/**
 * Fibers of the thread that runs them. One goes on until it calls yield(), or ends; then the next one does. So nobody
 * waits for the scheduler of the system, which takes most of the time if others want the processors too.
 */
class Fibers
{
public:
	Fibers();
	~Fibers();
	Fibers(const Fibers &) = delete;
	Fibers &operator=(const Fibers &) = delete;

	void add(std::function<void()> play);
	/** Until all have ended. */
	void run();
	/** Lets the next one go on; nothing if no fiber runs. */
	static void yield();
	/** Of this thread: goes on by a step with each yield(), so whoever waits for long costs little. */
	static std::chrono::steady_clock::time_point now();

private:
	struct Fiber;

	std::vector<std::unique_ptr<Fiber>> fibers_;
};

/** Plays @p players until all have ended: as threads or, @p as_fibers, as these, beside which each of @p nodes answers.
 */
void play(std::vector<std::function<void()>> players, std::span<Node *const> nodes, bool as_fibers);

/** How many seeds a test tries: @p usual, or what the environment's PRISM_SEEDS says. */
[[nodiscard]] std::uint64_t simulated_seeds(std::uint64_t usual);

} // namespace prism::gam::test
