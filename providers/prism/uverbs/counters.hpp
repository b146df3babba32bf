/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <string>
#include <vector>

#include "../prismdv.h"

namespace prism::uverbs
{

/** The counters of a device, counted from the construction of this object; the kernel keeps them for all its users. */
class Counters
{
public:
	explicit Counters(const std::string &device_path);

	/** Returns the counters by name. */
	[[nodiscard]] std::vector<prismdv_counter> read() const;

private:
	std::string folder_;
	std::vector<prismdv_counter> before_;
};

} // namespace prism::uverbs
