/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <string>

#include "store.hpp"

namespace simulation
{

/** What a run has come to, or many of them; worlds add their own. */
struct Result {
	std::string finding;      /* empty: all is well */
	std::uint64_t others = 0; /* findings that were not expected */
	StoreFigures stores;
	std::uint64_t packets = 0;
	std::uint64_t crashes = 0; /* of clients */
	soft::Time time = 0;

	/** Sums up all but the finding. */
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
