/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "litmus.hpp"

namespace prism::gam::litmus
{

namespace
{

constexpr std::uint8_t x = 0, y = 1;

constexpr Step R(std::uint8_t variable, std::uint8_t into) noexcept
{
	return {StepKind::read, variable, into};
}
constexpr Step W(std::uint8_t variable, std::uint8_t value = 1) noexcept
{
	return {StepKind::write, variable, value};
}

using Threads = std::vector<std::vector<Step>>;

bool registers_are(const Outcome &outcome, std::uint64_t r0, std::uint64_t r1)
{
	return outcome.registers[0] == r0 && outcome.registers[1] == r1;
}

} // namespace

std::span<const Test> tests()
{
	static const std::vector<Test> all = {
		{"MP", "y=1, x=0", Threads{{W(x), W(y)}, {R(y, 0), R(x, 1)}},
			[](const Outcome &o) { return registers_are(o, 1, 0); }, true, false},
		{"SB", "both 0", Threads{{W(x), R(y, 0)}, {W(y), R(x, 1)}},
			[](const Outcome &o) { return registers_are(o, 0, 0); }, true, true},
		{"2+2W", "x=1, y=1 at last", Threads{{W(x, 1), W(y, 2)}, {W(y, 1), W(x, 2)}},
			[](const Outcome &o) { return o.variables[x] == 1 && o.variables[y] == 1; }, true, false},
		{"S", "y=1, x=2 at last", Threads{{W(x, 2), W(y, 1)}, {R(y, 0), W(x, 1)}},
			[](const Outcome &o) { return o.registers[0] == 1 && o.variables[x] == 2; }, true, false},
		{"R", "x=0, y=2 at last", Threads{{W(x, 1), W(y, 1)}, {W(y, 2), R(x, 0)}},
			[](const Outcome &o) { return o.registers[0] == 0 && o.variables[y] == 2; }, true, true},
		{"LB", "both 1", Threads{{R(x, 0), W(y)}, {R(y, 1), W(x)}},
			[](const Outcome &o) { return registers_are(o, 1, 1); }, false, false},
		{"WRC", "y=1, x=0", Threads{{W(x)}, {R(x, 0), W(y)}, {R(y, 1), R(x, 2)}},
			[](const Outcome &o) { return registers_are(o, 1, 1) && o.registers[2] == 0; }, false, false},
		{"IRIW", "readers disagree", Threads{{W(x)}, {W(y)}, {R(x, 0), R(y, 1)}, {R(y, 2), R(x, 3)}},
			[](const Outcome &o) {
				return registers_are(o, 1, 0) && o.registers[2] == 1 && o.registers[3] == 0;
			},
			false, false},
		{"CoRR", "1, then 0", Threads{{W(x)}, {R(x, 0), R(x, 1)}},
			[](const Outcome &o) { return registers_are(o, 1, 0); }, false, false},
		{"CoWW", "1 at last", Threads{{W(x, 1), W(x, 2)}, {R(x, 0)}},
			[](const Outcome &o) { return o.variables[x] == 1; }, false, false},
		{"CoWR", "the other's, which is not the last", Threads{{W(x, 1), R(x, 0)}, {W(x, 2)}},
			[](const Outcome &o) {
				return o.registers[0] == 0 || (o.registers[0] == 2 && o.variables[x] == 1);
			},
			false, false},
		{"CoRW", "its own, before it", Threads{{R(x, 0), W(x, 1)}, {W(x, 2)}},
			[](const Outcome &o) {
				return o.registers[0] == 1 || (o.registers[0] == 2 && o.variables[x] == 2);
			},
			false, false},
	};
	return all;
}

} // namespace prism::gam::litmus
