/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "farm_client.hpp"

#include "farm/kind.hpp"
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

} // namespace

FarmClient::FarmClient(Links links, std::vector<Memory> memories, const FarmClientOptions &options)
	: CallingClient(std::move(links), options, options.parallel_reads), options_(options),
	  memories_(std::move(memories))
{
	for (std::uint32_t lane = 0; lane < options.depth; lane++)
		add(std::make_unique<FarmTransaction>(*this, lane));
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
	const apps::Hello wanted{farm::store_kind};
	std::vector<Memory> memories;
	const auto measure = [&](std::size_t shard, const ConnectionRecord &record,
				     const apps::Hello &hello) -> Result<rpc::SlotSizes> {
		Result<farm::Geometry> geometry = farm::Geometry::parse(record, hello);
		if (!geometry)
			return geometry.error();
		if (Result<void> right = check_place(geometry->shard, geometry->shards, shard, shards.size()); !right)
			return right.error();
		memories.push_back({*geometry, record.region(farm::index_region)->region,
			record.region(farm::object_region)->region});
		return rpc::SlotSizes{geometry->message_size, geometry->message_size,
			std::max<std::size_t>(sizeof(farm::Bucket), geometry->object_size)};
	};
	Result<Links> links = connect_all(context, shards, wanted, options, options.parallel_reads, measure);
	if (!links)
		return links.error();
	/* The constructor is private: no make_unique. */
	return std::unique_ptr<FarmClient>(new FarmClient(*std::move(links), std::move(memories), options));
}

} // namespace prism::tx
