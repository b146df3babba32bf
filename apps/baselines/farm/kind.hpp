/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "service/hello.hpp"

namespace prism::tx::farm
{

/** A shard of FaRM's protocol. */
constexpr apps::StoreKind store_kind{apps::Application::tx, 1, "farm", 1};

} // namespace prism::tx::farm
