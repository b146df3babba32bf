/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "service/hello.hpp"

namespace prism::tx
{

/** A shard of PRISM-TX. */
constexpr apps::StoreKind prism_kind{apps::Application::tx, 0, "tx", 2};

} // namespace prism::tx
