/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/memory_use.hpp"

#include "gam/directory/home.hpp"
#include "gam/directory/lines.hpp"
#include "gam/one_sided/layout.hpp"
#include "gam/one_sided/line.hpp"

namespace prism::gam::micro
{

MemoryUse memory_use(Protocol protocol) noexcept
{
	switch (protocol) {
	case Protocol::directory:
		return {sizeof(directory::Entry), directory::Lines::line_size};
	case Protocol::latch:
		return {latch::entry_size, sizeof(latch::Line) + latch::slot_size};
	}
	return {};
}

} // namespace prism::gam::micro
