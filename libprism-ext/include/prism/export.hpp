/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

/** Marks what the shared library offers; all else is built with hidden visibility. */
#define PRISM_EXPORT __attribute__((visibility("default")))
