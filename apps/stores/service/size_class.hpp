/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace prism::apps
{

/** Most bytes of an object: every device takes a READ through a pointer of that length (docs/semantics.md). */
constexpr std::uint32_t longest_object = std::uint32_t{1} << 20;

/** Returns the classes of @p classes, by ascending buffer_size, whose buffers hold @p size bytes. */
template <typename Class>
std::span<const Class> classes_for(const std::vector<Class> &classes, std::uint64_t size) noexcept
{
	const auto holds = [size](const Class &size_class) { return size <= size_class.buffer_size; };
	const auto first = std::find_if(classes.begin(), classes.end(), holds);
	return {first, classes.end()};
}

/**
 * Returns the class of @p fitting, which is not empty, to take a buffer from after @p misses attempts that found none:
 * the smallest, then each larger one, and so on from the beginning.
 */
template <typename Class>
const Class &class_after(std::span<const Class> fitting, std::size_t misses) noexcept
{
	return fitting[misses % fitting.size()];
}

} // namespace prism::apps
