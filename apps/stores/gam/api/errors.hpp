/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

namespace prism::gam
{

/** Describes an error of a Session to a user; for other errors returns the system's text. Thread-safe. */
const char *describe(int error) noexcept;

} // namespace prism::gam
