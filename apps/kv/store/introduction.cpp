/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "introduction.hpp"

#include <endian.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace prism::kv
{

namespace
{

struct Wire {
	HashKey secret;
	std::uint32_t bucket_count;
	std::uint32_t connection;
	std::uint64_t first_version;
	std::uint64_t reserved;
};
static_assert(sizeof(Wire) == Introduction::size);

Error malformed(const char *what)
{
	return make_error(EBADMSG, std::string("the server describes ") + what + " that cannot be");
}

} // namespace

std::vector<std::byte> Introduction::serialize() const
{
	const Wire wire{secret, htobe32(bucket_count), htobe32(connection), htobe64(first_version), 0};
	std::vector<std::byte> bytes(size);
	std::memcpy(bytes.data(), &wire, size);
	return bytes;
}

apps::Hello prism_hello()
{
	apps::Hello hello;
	hello.kind = apps::StoreKind::prism;
	hello.version = 1;
	return hello;
}

Result<ServerView> view_of(const ConnectionRecord &record, const std::string &who, std::uint64_t &first_version)
{
	Result<apps::Hello> hello = prism_hello().expect(record, who);
	if (!hello)
		return hello.error();
	const std::span<const std::byte> own = apps::Hello::own_part(record.private_data);
	if (own.size() < Introduction::size)
		return malformed("a table");
	Wire wire;
	std::memcpy(&wire, own.data(), sizeof(wire));
	const RegionInfo *const table = record.region(table_region);
	const RegionInfo *const scratch = record.region(scratch_region);
	ServerView view;
	view.secret = wire.secret;
	view.geometry = Geometry(be32toh(wire.bucket_count));
	view.connection = be32toh(wire.connection);
	view.max_key_size = hello->max_key_size;
	view.max_value_size = hello->max_value_size;
	first_version = be64toh(wire.first_version);
	if (!table || view.geometry.bucket_count() < 2 || view.geometry.table_bytes() > table->region.length ||
		table->region.address % sizeof(Slot) != 0)
		return malformed("a table");
	if (!scratch || scratch->region.length < sizeof(Slot) || scratch->region.address % sizeof(Slot) != 0)
		return malformed("a scratch");
	if (record.free_lists.empty() || !view.connection || !view.max_key_size)
		return malformed("limits");
	view.table = table->region.at();
	view.scratch = scratch->region.at();
	for (const FreeListInfo &list : record.free_lists)
		view.classes.push_back({list.number, list.buffer_size, list.buffers});
	const auto smaller = [](const SizeClass &a, const SizeClass &b) { return a.buffer_size < b.buffer_size; };
	std::sort(view.classes.begin(), view.classes.end(), smaller);
	const std::uint64_t largest = sizeof(ObjectHeader) + std::uint64_t{view.max_key_size} + view.max_value_size;
	if (view.classes.back().buffer_size < largest)
		return malformed("size classes");
	return view;
}

} // namespace prism::kv
