/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Litmus tests: short programs of a few threads, with the outcome that tells memory models apart. */
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "gam/node/node.hpp"

namespace prism::gam::litmus
{

constexpr std::size_t most_threads = 4;
constexpr std::size_t most_variables = 2;
constexpr std::size_t most_registers = 4;

enum class StepKind : std::uint8_t {
	read,  /* a variable into a register */
	write, /* a value to a variable */
};

struct Step {
	StepKind kind;
	std::uint8_t variable;
	std::uint8_t operand; /* the register, or the value */
};

/** Result of one run of a program. */
struct Outcome {
	std::array<std::uint64_t, most_registers> registers{};
	std::array<std::uint64_t, most_variables> variables{}; /* final values */
};

struct Test {
	std::string_view name;
	std::string_view question; /* the outcome in words */
	std::vector<std::vector<Step>> threads;
	bool (*seen)(const Outcome &outcome);
	/* True if the outcome may be seen without fences in the model */
	bool by_pso;
	bool by_tso;

	[[nodiscard]] bool allowed(Consistency consistency, bool fenced) const noexcept
	{
		return !fenced &&
		       ((consistency == Consistency::pso && by_pso) || (consistency == Consistency::tso && by_tso));
	}
};

/** Returns the tests of the table in docs/prism-gam.md. */
[[nodiscard]] std::span<const Test> tests();

} // namespace prism::gam::litmus
