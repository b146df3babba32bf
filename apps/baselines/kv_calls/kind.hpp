/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "service/hello.hpp"

namespace prism::kv
{

/** Every operation is a call. */
constexpr apps::StoreKind rpc_kind{apps::Application::kv, 1, "rpc", 1};

} // namespace prism::kv
