/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gam/node/node.hpp"
#include "litmus.hpp"

namespace prism::gam::litmus
{

struct RunOptions {
	std::uint64_t rounds = 2000; /* runs of a test's program */
	bool fenced = false;         /* a fence after each write */
	bool one_block = false;      /* all variables are in one block */
	bool one_home = false;       /* all variables have one home */
	bool one_node = false;       /* all threads run on one node, which is no variable's home */
	bool in_turns = false;       /* all threads are fibers of one thread */
	std::uint64_t seed = 1;
};

struct Count {
	std::uint64_t rounds = 0;
	std::uint64_t seen = 0;   /* rounds with the outcome that the test asks for */
	std::uint64_t failed = 0; /* calls that returned an error */
};

/** Runs @p test on @p nodes, which form one cluster and do not serve by themselves. */
[[nodiscard]] Count run(const Test &test, std::span<Node *const> nodes, const RunOptions &options);

} // namespace prism::gam::litmus
