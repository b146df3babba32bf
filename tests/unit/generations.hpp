/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The module's count of running requests, for C++: no library of the userspace device uses it. */
#pragma once

extern "C" {
#include "prism_freelist.h"
#include "prism_generations.h"
}
