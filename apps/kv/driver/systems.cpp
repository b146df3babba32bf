/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "kv/driver/systems.hpp"

#include <algorithm>

namespace prism::kv
{

void Systems::add(System system)
{
	std::erase_if(systems, [&](const System &other) { return other.name == system.name; });
	systems.push_back(std::move(system));
}

const System *Systems::find(std::string_view name) const noexcept
{
	const auto found = std::find_if(
		systems.begin(), systems.end(), [name](const System &system) { return system.name == name; });
	return found == systems.end() ? nullptr : &*found;
}

} // namespace prism::kv
