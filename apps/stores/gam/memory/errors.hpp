/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

namespace prism::gam
{

/** What an error of a Session means, for people; the system's text for one that is none. Thread-safe. */
const char *describe(int error) noexcept;

} // namespace prism::gam
