/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Fibers in the roles of a test's threads. A run can be repeated if the nodes' `rest` is yield() and the messages'
 * clock is now().
 */
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gam/node/node.hpp"

namespace prism::gam::test
{

/**
 * Fibers of the thread that calls run(). Each runs until it calls yield() or ends; then the next one runs. This avoids
 * waiting for the system's scheduler, which takes most of the time if others use the processors too.
 */
class Fibers
{
public:
	Fibers();
	~Fibers();
	Fibers(const Fibers &) = delete;
	Fibers &operator=(const Fibers &) = delete;

	void add(std::function<void()> play);
	/** Runs until all fibers have ended. */
	void run();
	/** Lets the next fiber run; does nothing outside fibers. */
	static void yield();
	/** Returns this thread's clock, which advances by one step with each yield(): a long wait costs little. */
	static std::chrono::steady_clock::time_point now();

private:
	struct Fiber;

	std::vector<std::unique_ptr<Fiber>> fibers_;
};

/**
 * Plays @p players until all have ended, as threads or, with @p as_fibers, as fibers; then fibers poll each of @p nodes
 * meanwhile.
 */
void play(std::vector<std::function<void()>> players, std::span<Node *const> nodes, bool as_fibers);

} // namespace prism::gam::test
