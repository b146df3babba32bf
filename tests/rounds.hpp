/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How long a test looks for what threads do to each other. */
#pragma once

namespace prism::test
{

/**
 * Of a loop that looks for races, @p plenty of rounds. The thread sanitizer tells a race by what orders two accesses,
 * and need not meet them at one moment; it has a fourth, at a tenth of the speed.
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
