/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "base/events.hpp"

namespace prism::rpc::model
{

using Time = double; /**< microseconds */
using Events = apps::Events<Time>;
using Station = apps::Server<Time>;
using Processor = apps::Processor<Time>;

} // namespace prism::rpc::model
