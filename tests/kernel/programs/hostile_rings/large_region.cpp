/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A region of more than 1 GiB: the table of its pages is larger than what the kernel allocates in one piece. */
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "rings.hpp"
#include "wire_peer.hpp"

namespace prism::hostile
{

using namespace prism::conformance;

/** Maps the same 2 MiB again and again, so that no machine is too small for it. */
void large_regions_are_taken(const Device &device)
{
	constexpr std::size_t piece = 2 << 20, size = (std::size_t{1} << 30) + piece;
	const Descriptor memory(memfd_create("prism", 0));
	check(ftruncate(memory.get(), piece) ? errno : 0, "ftruncate");
	auto *start = static_cast<std::uint8_t *>(
		mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	check(start == MAP_FAILED ? errno : 0, "mmap");
	for (std::size_t at = 0; at < size; at += piece)
		check(mmap(start + at, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory.get(), 0) ==
					MAP_FAILED
				? errno
				: 0,
			"mmap");
	/* An integer: ibv_reg_mr(), a macro, combines it with a value of another enumeration. */
	ibv_mr *region = ibv_reg_mr(device.pd(), start, size, int{IBV_ACCESS_LOCAL_WRITE});
	const int error = region ? 0 : errno;
	if (region)
		ibv_dereg_mr(region);
	munmap(start, size);
	check(error, "a region of more than 1 GiB");
}

} // namespace prism::hostile
