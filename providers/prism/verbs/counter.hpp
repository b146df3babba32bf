/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <string_view>

#include "../prismdv.h"

namespace prism
{

/** Makes a counter; cuts a name that is too long. */
inline prismdv_counter make_counter(std::string_view name, std::uint64_t value)
{
	prismdv_counter counter{};
	name.copy(counter.name, sizeof(counter.name) - 1);
	counter.value = value;
	return counter;
}

} // namespace prism
