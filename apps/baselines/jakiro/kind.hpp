/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "service/hello.hpp"

namespace prism::kv::jakiro
{

/** Every operation is a call to the thread that owns the key; pairs may be evicted. */
constexpr apps::StoreKind store_kind{apps::Application::kv, 3, "jakiro", 1};

} // namespace prism::kv::jakiro
