/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>

#include "gam/coherence/access.hpp"

namespace prism::gam
{

/** Whether @p access stays in its block and has a length that its kind allows. */
[[nodiscard]] bool is_well_formed(const Access &access) noexcept;

/** Reads, writes or changes the bytes of @p block, which is held as the kind needs it. Of others: nothing. Others may
 * read the bytes meanwhile (words.hpp). */
void execute(Access &access, std::byte *block) noexcept;

} // namespace prism::gam
