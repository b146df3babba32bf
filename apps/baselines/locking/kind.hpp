/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "service/hello.hpp"

namespace prism::tx::locking
{

/** A shard of two-phase locking. */
constexpr apps::StoreKind store_kind{apps::Application::tx, 2, "locking", 1};

} // namespace prism::tx::locking
