/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <string>

#include "store.hpp"

namespace simulation
{

/** Result of one run, or the sum of many; worlds add their own figures. */
struct Result {
	std::string finding;      /* empty if there is none */
	std::uint64_t others = 0; /* unexpected findings */
	StoreFigures stores;
	std::uint64_t packets = 0;
	std::uint64_t crashes = 0; /* of clients */
	soft::Time time = 0;

	/** Adds all but the finding. */
	void add(const Result &other) noexcept
	{
		others += other.others;
		stores.add(other.stores);
		packets += other.packets;
		crashes += other.crashes;
		time += other.time;
	}
};

} // namespace simulation
