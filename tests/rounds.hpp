/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Duration of tests that look for races between threads. */
#pragma once

namespace prism::test
{

/**
 * Returns the number of rounds of a loop that looks for races, @p plenty by default. The thread sanitizer finds a race
 * from the order of two accesses, and they need not happen at one moment; so it does a quarter, at a tenth of the
 * speed.
 */
constexpr int rounds(int plenty) noexcept
{
#ifdef __SANITIZE_THREAD__
	return (plenty + 3) / 4;
#else
	return plenty;
#endif
}

} // namespace prism::test
