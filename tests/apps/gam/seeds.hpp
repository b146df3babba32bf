/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <cstdlib>

namespace prism::gam::test
{

/** Returns the number of seeds for a test: @p usual, or the value of PRISM_SEEDS in the environment. */
[[nodiscard]] inline std::uint64_t simulated_seeds(std::uint64_t usual)
{
	const char *const wanted = std::getenv("PRISM_SEEDS");
	return wanted ? std::strtoull(wanted, nullptr, 10) : usual;
}

} // namespace prism::gam::test
