/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gam/memory/node.hpp"
#include "litmus.hpp"

namespace prism::gam::litmus
{

struct RunOptions {
	std::uint64_t rounds = 2000; /* how often the program of a test runs */
	bool fenced = false;         /* a fence behind each write */
	bool one_block = false;      /* all variables are in one */
	bool one_home = false;       /* all variables have one */
	bool one_node = false;       /* all threads are of one, and so are no variables */
	bool in_turns = false;       /* all threads are fibers of one */
	std::uint64_t seed = 1;
};

struct Count {
	std::uint64_t rounds = 0;
	std::uint64_t seen = 0;   /* of these with the outcome that the test asks for */
	std::uint64_t failed = 0; /* calls that returned an error */
};

/** Runs @p test on @p nodes, which are one cluster and do not serve by themselves. */
[[nodiscard]] Count run(const Test &test, std::span<Node *const> nodes, const RunOptions &options);

} // namespace prism::gam::litmus
