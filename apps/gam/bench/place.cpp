/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/bench/place.hpp"

#include <string>

namespace prism::gam::micro
{

Result<void> Place::meet(const std::string &step, std::size_t nodes)
{
	const auto key = [&step](std::size_t node) { return "bench/" + step + "/" + std::to_string(node); };
	Result<void> told = put(key(node().self()), Address(1));
	for (std::size_t i = 0; i < nodes && told; i++) {
		if (const Result<Address> there = get(key(i)); !there)
			return there.error();
	}
	return told;
}

} // namespace prism::gam::micro
