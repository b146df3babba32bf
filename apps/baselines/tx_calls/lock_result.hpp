/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>

namespace prism::tx
{

/** Outcome of a lock, or of a call that takes locks, where it is the detail of the response. */
enum class LockResult : std::uint8_t {
	ok = 0,
	conflict = 1, /**< somebody else holds it, or what it was to protect has changed */
	full = 2,     /**< there is no room for another object */
};

} // namespace prism::tx
