/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "lane.hpp"

namespace prism::kv
{

LaneMemory LaneMemory::divide(std::byte *bytes, std::size_t object_room, std::uint32_t lkey)
{
	LaneMemory memory;
	memory.out = {bytes, object_room};
	memory.in = {bytes + object_room, object_room};
	Slot *const first = reinterpret_cast<Slot *>(bytes + 2 * object_room);
	memory.buckets = {first, slots};
	memory.old = first + slots;
	memory.allocated = reinterpret_cast<std::uint64_t *>(first + slots + 1);
	memory.lkey = lkey;
	return memory;
}

} // namespace prism::kv
