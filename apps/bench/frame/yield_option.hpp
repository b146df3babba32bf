/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* --yield and --no-yield, which the command lines of the drivers share. */
#pragma once

#include "base/command_line.hpp"

namespace prism::bench
{

struct YieldOption {
	bool yield = false;
	bool no_yield = false;

	/** Adds both. They are written while @p app parses. */
	void add_to(cli::CommandLine &app);
	/** @param threads of the driver; the server needs one more. */
	[[nodiscard]] bool wanted(unsigned threads) const;
};

} // namespace prism::bench
