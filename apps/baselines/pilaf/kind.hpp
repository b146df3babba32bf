/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "service/hello.hpp"

namespace prism::kv::pilaf
{

/** Pilaf: GET by READs, the rest by calls. */
constexpr apps::StoreKind store_kind{apps::Application::kv, 2, "pilaf", 1};

} // namespace prism::kv::pilaf
