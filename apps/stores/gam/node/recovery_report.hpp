/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>

namespace prism::gam
{

/** The state of the blocks of a node that has returned with its log (docs/gam-recovery.md). */
struct RecoveryReport {
	std::uint64_t recovered = 0; /**< blocks with the value that others have seen */
	std::uint64_t waiting = 0;   /**< blocks with EOWNERDEAD until the only node that can know the value returns */
	std::uint64_t lost = 0;      /**< blocks with an older value */
	std::uint64_t damaged = 0;   /**< gaps in the log */
};

} // namespace prism::gam
