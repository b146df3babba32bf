/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>

#include "gam/coherence/access.hpp"

namespace prism::gam
{

/** Returns true if @p access stays within its block and has a length that its kind allows. */
[[nodiscard]] bool is_well_formed(const Access &access) noexcept;

/**
 * Executes a read, write or atomic on the bytes of @p block, which is held as the kind needs it; ignores other kinds.
 * Other threads may read the bytes meanwhile (words.hpp).
 */
void execute(Access &access, std::byte *block) noexcept;

} // namespace prism::gam
