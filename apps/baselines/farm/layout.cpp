/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "layout.hpp"

#include "base/wire.hpp"
#include "rpc/protocol/header.hpp"
#include "service/key_hash.hpp"
#include "service/self_verifying.hpp"
#include "tx_calls/body.hpp"

#include <cerrno>
#include <limits>

namespace prism::tx::farm
{

std::uint64_t Bucket::compute_crc() const noexcept
{
	const auto *bytes = reinterpret_cast<const std::byte *>(this);
	const std::uint64_t version = apps::crc64({bytes, sizeof(mark.word)});
	return apps::crc64({bytes + sizeof(mark), sizeof(Bucket) - sizeof(mark)}, version);
}

std::uint64_t ObjectHeader::compute_crc(std::span<const std::byte> key, std::span<const std::byte> value) const noexcept
{
	ObjectHeader checked = *this;
	checked.mark = {mark.word & ~locked, 0};
	const std::uint64_t crc = apps::crc64({reinterpret_cast<const std::byte *>(&checked), sizeof(checked)});
	return apps::crc64(value, apps::crc64(key, crc));
}

void Geometry::serialize(std::span<std::byte, size> to) const noexcept
{
	BodyWriter writer(to.data());
	writer.put(home_buckets);
	writer.put(buckets);
	writer.put(objects);
	writer.put(object_size);
	writer.put(message_size);
	writer.put(shard);
	writer.put(shards);
}

Result<Geometry> Geometry::parse(const ConnectionRecord &record, const apps::Hello &hello)
{
	const auto wrong = [] { return make_error(EBADMSG, "does not say what its memory is like"); };
	Geometry told;
	BodyReader reader(apps::Hello::own_part(record.private_data));
	if (!reader.take(told.home_buckets) || !reader.take(told.buckets) || !reader.take(told.objects) ||
		!reader.take(told.object_size) || !reader.take(told.message_size) || !reader.take(told.shard) ||
		!reader.take(told.shards) || !reader.empty())
		return wrong();
	const RegionInfo *index = record.region(index_region);
	const RegionInfo *objects = record.region(object_region);
	const std::uint64_t longest = sizeof(ObjectHeader) + std::uint64_t{hello.max_key_size} + hello.max_value_size;
	const bool sensible = index && objects && told.home_buckets && told.home_buckets <= told.buckets &&
			      told.buckets <= index->region.length / sizeof(Bucket) && told.objects &&
			      told.objects < std::numeric_limits<std::uint32_t>::max() && told.object_size >= longest &&
			      told.objects <= objects->region.length / told.object_size &&
			      told.message_size >= least_message_size && told.message_size <= rpc::max_message_size &&
			      hello.max_key_size && hello.max_key_size <= std::numeric_limits<std::uint16_t>::max() &&
			      longest <= told.message_size && told.shard < told.shards;
	if (!sensible)
		return wrong();
	return told;
}

std::uint64_t Geometry::home_of(std::uint64_t hash) const noexcept
{
	return apps::reduce(hash, home_buckets);
}

} // namespace prism::tx::farm
