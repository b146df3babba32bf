/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prism::bench
{

/**
 * The systems that a driver can measure, by their member name. Filled before the command line is read, not changed
 * afterwards.
 */
template <typename System>
class Registry
{
public:
	/** Adds a system. It replaces an earlier one of the same name. */
	void add(System system)
	{
		std::erase_if(systems_, [&](const System &other) { return other.name == system.name; });
		systems_.push_back(std::move(system));
	}

	/** Returns the system of that name; null if there is none. It lives as long as this object. */
	[[nodiscard]] const System *find(std::string_view name) const noexcept
	{
		const auto found = std::find_if(
			systems_.begin(), systems_.end(), [name](const System &system) { return system.name == name; });
		return found == systems_.end() ? nullptr : &*found;
	}

	[[nodiscard]] std::span<const System> all() const noexcept { return systems_; }

	/** Lists the systems for a help, a line each: its name and what @p describe returns of it, in columns. */
	template <typename Describe>
	[[nodiscard]] std::string list(const Describe &describe) const
	{
		std::size_t width = 0;
		for (const System &system : systems_)
			width = std::max(width, system.name.size());
		std::string text;
		for (const System &system : systems_)
			text += "  " + system.name + std::string(width + 2 - system.name.size(), ' ') +
				describe(system) + "\n";
		return text;
	}

	[[nodiscard]] std::vector<std::string> names() const
	{
		std::vector<std::string> all_names;
		for (const System &system : systems_)
			all_names.push_back(system.name);
		return all_names;
	}

private:
	std::vector<System> systems_;
};

} // namespace prism::bench
