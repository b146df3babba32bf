/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "service/hello.hpp"

namespace prism::kv
{

/** PRISM-KV: every operation by PRISM requests. */
constexpr apps::StoreKind prism_kind{apps::Application::kv, 0, "prism", 2};

} // namespace prism::kv
