/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* All of libprism-ext; docs/libprism-ext.md introduces it. */
#pragma once

#include <prism/chain.hpp>
#include <prism/completion.hpp>
#include <prism/connection.hpp>
#include <prism/device.hpp>
#include <prism/free_list.hpp>
#include <prism/queue_pair.hpp>
#include <prism/reclaim.hpp>
#include <prism/result.hpp>
