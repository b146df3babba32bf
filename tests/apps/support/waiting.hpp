/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <chrono>
#include <thread>

namespace prism::test
{

constexpr std::chrono::seconds patience{30};

/** Waits until @p done. Returns false if that takes too long. */
template <typename Done>
bool wait_until(Done done)
{
	const auto end = std::chrono::steady_clock::now() + patience;
	while (!done()) {
		if (std::chrono::steady_clock::now() > end)
			return false;
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	}
	return true;
}

} // namespace prism::test
