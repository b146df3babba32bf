/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "introduction.hpp"

#include <endian.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "kv/store/kind.hpp"

namespace prism::kv
{

namespace
{

struct Wire {
	HashKey secret;
	std::uint32_t bucket_count;
	std::uint32_t connection;
	std::uint64_t first_version;
	std::uint16_t shard;
	std::uint16_t shards;
	std::uint32_t reserved;
	std::array<char, ShardName::longest_store + 1> store;
};
static_assert(sizeof(Wire) == Introduction::size);

Error malformed(const std::string &who, const char *what)
{
	return make_error(EBADMSG, who + " describes " + what + " that cannot be");
}

} // namespace

std::vector<std::byte> Introduction::serialize() const
{
	Wire wire{secret, htobe32(bucket_count), htobe32(connection), htobe64(first_version), htobe16(shard.shard),
		htobe16(shard.shards), 0, {}};
	std::copy_n(shard.store.begin(), std::min(shard.store.size(), ShardName::longest_store), wire.store.begin());
	std::vector<std::byte> bytes(size);
	std::memcpy(bytes.data(), &wire, size);
	return bytes;
}

Result<Introduction> Introduction::parse(const ConnectionRecord &record, const std::string &who)
{
	const std::span<const std::byte> own = apps::Hello::own_part(record.private_data);
	if (own.size() < size)
		return make_error(EBADMSG, who + " does not say which shard of what it is, or wants");
	Wire wire;
	std::memcpy(&wire, own.data(), sizeof(wire));
	Introduction made{wire.secret, be32toh(wire.bucket_count), be32toh(wire.connection),
		be64toh(wire.first_version), {be16toh(wire.shard), be16toh(wire.shards), {}}};
	made.shard.store.assign(wire.store.begin(), std::ranges::find(wire.store, '\0'));
	if (!made.shard.is_valid())
		return malformed(who, "a shard");
	return made;
}

Result<ServerView> view_of(const ConnectionRecord &record, const std::string &who)
{
	Result<apps::Hello> hello = apps::Hello{prism_kind}.expect(record, who);
	if (!hello)
		return hello.error();
	Result<Introduction> theirs = Introduction::parse(record, who);
	if (!theirs)
		return theirs.error();
	const RegionInfo *const table = record.region(table_region);
	const RegionInfo *const scratch = record.region(scratch_region);
	ServerView view;
	view.secret = theirs->secret;
	view.geometry = Geometry(theirs->bucket_count);
	view.connection = theirs->connection;
	view.first_version = theirs->first_version;
	view.shard = theirs->shard;
	view.max_key_size = hello->max_key_size;
	view.max_value_size = hello->max_value_size;
	if (!table || view.geometry.bucket_count() < 2 || view.geometry.table_bytes() > table->region.length ||
		table->region.address % sizeof(Slot) != 0)
		return malformed(who, "a table");
	if (!scratch || scratch->region.length < sizeof(Slot) || scratch->region.address % sizeof(Slot) != 0)
		return malformed(who, "a scratch");
	if (record.free_lists.empty() || !view.connection || !view.max_key_size)
		return malformed(who, "limits");
	view.table = table->region.at();
	view.scratch = scratch->region.at();
	for (const FreeListInfo &list : record.free_lists)
		view.classes.push_back({list.number, list.buffer_size, list.buffers});
	std::ranges::sort(view.classes, {}, &SizeClass::buffer_size);
	const std::uint64_t largest = sizeof(ObjectHeader) + std::uint64_t{view.max_key_size} + view.max_value_size;
	if (view.classes.back().buffer_size < largest)
		return malformed(who, "size classes");
	return view;
}

} // namespace prism::kv
