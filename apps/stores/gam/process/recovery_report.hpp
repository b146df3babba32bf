/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>

namespace prism::gam
{

/** What has become of the blocks of a node that has come back with its log (docs/gam-recovery.md). */
struct RecoveryReport {
	std::uint64_t recovered = 0; /**< have the value that others have seen */
	std::uint64_t waiting = 0;   /**< EOWNERDEAD, until the node that alone can know the value is back */
	std::uint64_t lost = 0;      /**< have an older value */
	std::uint64_t damaged = 0;   /**< gaps in the log */
};

} // namespace prism::gam
