/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

/** Exports a symbol from the shared library; all others have hidden visibility. */
#define PRISM_EXPORT __attribute__((visibility("default")))
