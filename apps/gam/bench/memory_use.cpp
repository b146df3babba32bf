/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/bench/memory_use.hpp"

#include "gam/directory/home.hpp"
#include "gam/directory/lines.hpp"

namespace prism::gam::micro
{

MemoryUse memory_use(Protocol protocol) noexcept
{
	switch (protocol) {
	case Protocol::directory:
		return {sizeof(directory::Entry), directory::Lines::line_size};
	case Protocol::latch:
		break;
	}
	return {};
}

} // namespace prism::gam::micro
