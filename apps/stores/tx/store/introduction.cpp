/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "introduction.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/wire.hpp"
#include "tx/store/object.hpp"

namespace prism::tx
{

using apps::load;
using apps::store;

std::vector<std::byte> Introduction::serialize() const
{
	std::vector<std::byte> bytes(size);
	apps::store(&bytes[0], store);
	apps::store(&bytes[8], identity);
	apps::store(&bytes[16], geometry.cells);
	std::memcpy(&bytes[24], view.secret.data(), view.secret.size());
	apps::store(&bytes[40], client);
	apps::store(&bytes[44], incarnation);
	apps::store(&bytes[48], geometry.clients);
	apps::store(&bytes[52], geometry.lanes);
	apps::store(&bytes[56], shard);
	apps::store(&bytes[58], shards);
	apps::store(&bytes[60], static_cast<std::uint8_t>(view.numbered));
	apps::store(&bytes[61], static_cast<std::uint8_t>(view.as_in_paper));
	apps::store(&bytes[62], static_cast<std::uint8_t>(used));
	apps::store(&bytes[64], signature);
	return bytes;
}

Result<Introduction> Introduction::parse(const ConnectionRecord &record, const std::string &who)
{
	const std::span<const std::byte> bytes = apps::Hello::own_part(record.private_data);
	if (bytes.size() < size)
		return make_error(EBADMSG, who + " does not say which shard of what it is");
	Introduction made;
	made.store = load<std::uint64_t>(&bytes[0]);
	made.identity = load<std::uint64_t>(&bytes[8]);
	made.geometry.cells = load<std::uint64_t>(&bytes[16]);
	std::memcpy(made.view.secret.data(), &bytes[24], made.view.secret.size());
	made.client = load<std::uint32_t>(&bytes[40]);
	made.incarnation = load<std::uint32_t>(&bytes[44]);
	made.geometry.clients = load<std::uint32_t>(&bytes[48]);
	made.geometry.lanes = load<std::uint32_t>(&bytes[52]);
	made.shard = load<std::uint16_t>(&bytes[56]);
	made.shards = load<std::uint16_t>(&bytes[58]);
	made.view.numbered = load<std::uint8_t>(&bytes[60]) == 1;
	made.view.as_in_paper = load<std::uint8_t>(&bytes[61]) == 1;
	made.used = load<std::uint8_t>(&bytes[62]) == 1;
	made.signature = load<std::uint64_t>(&bytes[64]);
	return made;
}

Result<ShardView> view_of(const ConnectionRecord &record, const Introduction &theirs, const std::string &who)
{
	const auto wrong = [&who](const char *what) {
		return make_error(EBADMSG, who + " describes " + what + " that cannot be");
	};
	const RegionInfo *const memory = record.region(shard_region);
	const ShardGeometry &geometry = theirs.geometry;
	constexpr std::uint64_t most_places = std::uint64_t{1} << Writer::place_bits;
	if (!memory || memory->region.address % sizeof(Cell) || !geometry.cells || !geometry.lanes ||
		std::uint64_t{geometry.clients} * geometry.lanes > most_places ||
		geometry.cells > memory->region.length / sizeof(Cell) || geometry.bytes() > memory->region.length)
		return wrong("memory");
	if (theirs.client >= geometry.clients || !theirs.incarnation)
		return wrong("a number for its client");
	ShardView view;
	view.memory = memory->region;
	view.geometry = geometry;
	for (const FreeListInfo &list : record.free_lists)
		view.classes.push_back({list.number, list.buffer_size});
	std::ranges::sort(view.classes, {}, &SizeClass::buffer_size);
	if (view.classes.empty() || view.classes.back().buffer_size < object_header_size + Record::header_size)
		return wrong("buffers");
	return view;
}

} // namespace prism::tx
