/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "farm_client.hpp"

#include "farm_transaction.hpp"

#include <algorithm>
#include <cerrno>

namespace prism::tx
{

namespace
{

constexpr std::uint32_t max_parallel_reads = 64;

Result<void> check(const FarmClientOptions &options)
{
	if (options.parallel_reads < 1 || options.parallel_reads > max_parallel_reads ||
		options.validating_reads > options.parallel_reads)
		return make_error(EINVAL,
			std::to_string(options.parallel_reads) + " READs at once, and comparisons by " +
				std::to_string(options.validating_reads),
			"at once are 1 to 64; comparisons at most as many");
	return {};
}

Result<farm::Geometry> check_place(const farm::Geometry &geometry, std::size_t shard, std::size_t shards)
{
	if (geometry.shard != shard || geometry.shards != shards)
		return make_error(EBADMSG, "is shard " + std::to_string(geometry.shard) + " of " +
						   std::to_string(geometry.shards) + ", and was named as shard " +
						   std::to_string(shard) + " of " + std::to_string(shards));
	return geometry;
}

} // namespace

FarmClient::FarmClient(Links links, std::vector<Memory> memories, const FarmClientOptions &options)
	: CallingClient(std::move(links), options, options.parallel_reads), options_(options),
	  memories_(std::move(memories))
{
	for (std::uint32_t lane = 0; lane < options.depth; lane++)
		transactions_.push_back(std::make_unique<FarmTransaction>(*this, lane));
}

FarmClient::~FarmClient()
{
	finish();
}

Result<std::unique_ptr<FarmClient>> FarmClient::connect(
	const Context &context, std::span<const apps::ServerAddress> shards, const FarmClientOptions &options)
{
	if (Result<void> checked = check(options); !checked)
		return checked.error();
	apps::Hello wanted;
	wanted.kind = apps::StoreKind::farm;
	wanted.version = farm::protocol_version;
	std::vector<Memory> memories;
	const auto measure = [&](std::size_t shard, const ConnectionRecord &record,
				     const apps::Hello &hello) -> Result<kv::SlotSizes> {
		Result<farm::Geometry> geometry = farm::Geometry::parse(record, hello);
		if (geometry)
			geometry = check_place(*geometry, shard, shards.size());
		if (!geometry)
			return geometry.error();
		memories.push_back({*geometry, record.region(farm::index_region)->region,
			record.region(farm::object_region)->region});
		return kv::SlotSizes{geometry->message_size, geometry->message_size,
			std::max<std::size_t>(sizeof(farm::Bucket), geometry->object_size)};
	};
	Result<Links> links = connect_all(context, shards, wanted, options, options.parallel_reads, measure);
	if (!links)
		return links.error();
	/* The constructor is private: no make_unique. */
	return std::unique_ptr<FarmClient>(new FarmClient(*std::move(links), std::move(memories), options));
}

bool FarmClient::answered(std::uint32_t lane, std::uint32_t shard, std::span<const std::byte> response) noexcept
{
	return transactions_[lane]->answered(shard, response);
}

Transaction &FarmClient::transaction(std::uint32_t lane) noexcept
{
	return *transactions_[lane];
}

} // namespace prism::tx
