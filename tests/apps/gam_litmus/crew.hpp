/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Those who play the threads of a test: threads, or fibers that take turns in one. */
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace prism::gam::litmus
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

/** Runs all of @p players at the same time: @p in_turns: as fibers. */
void run_all(std::vector<std::function<void()>> players, bool in_turns);

} // namespace prism::gam::litmus
