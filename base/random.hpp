/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <sys/random.h>

#include <cstdint>

namespace prism
{

/** Returns a random number, never 0, that cannot be predicted from earlier ones. Any thread. */
[[nodiscard]] inline std::uint64_t random_number() noexcept
{
	std::uint64_t number = 0;
	while (!number)
		(void)!::getrandom(&number, sizeof(number), 0);
	return number;
}

} // namespace prism
