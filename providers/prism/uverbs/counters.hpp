/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <string>
#include <vector>

#include "../prismdv.h"

namespace prism::uverbs
{

/** The counters of a device, which the kernel keeps for all its users, from the moment at which this is made. */
class Counters
{
public:
	explicit Counters(const std::string &device_path);

	/** By name. */
	[[nodiscard]] std::vector<prismdv_counter> read() const;

private:
	std::string folder_;
	std::vector<prismdv_counter> before_;
};

} // namespace prism::uverbs
