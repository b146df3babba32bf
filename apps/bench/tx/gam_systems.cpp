/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/tx/gam_systems.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "bench/gam/driver/driver_nodes.hpp"
#include "gam/data/no_wait_client.hpp"

namespace prism::tx
{

namespace
{

using gam::DriverNodes;
using gam::Records;

constexpr std::uint64_t keys_a_bucket = 5; /* of ten that fit: few buckets overflow */

gam::DriverStore store_of(const SystemOptions &options, gam::Protocol protocol)
{
	/* Each key has a record, and a pair in the index. */
	const std::uint64_t pair = sizeof(gam::dht::RecordHeader) + options.key_size + sizeof(gam::Address);
	gam::DriverStore store;
	store.name = "prism-tx-bench/records";
	store.protocol = protocol;
	store.master = options.shards.front().text();
	store.device = options.device;
	store.timeout = options.timeout;
	store.loads = options.loads;
	store.bytes = options.objects * (gam::in_blocks(Records::bytes_for(options.value_size)) + pair +
						sizeof(gam::dht::Bucket) / keys_a_bucket);
	return store;
}

Result<gam::Address> make_records(
	gam::Session &session, const std::vector<gam::NodeId> &nodes, const SystemOptions &options)
{
	const std::uint64_t buckets = options.objects / (keys_a_bucket * nodes.size()) + 1;
	gam::RecordsOptions records;
	records.max_value_size = static_cast<std::uint32_t>(options.value_size);
	records.index.buckets =
		static_cast<std::uint32_t>(std::min<std::uint64_t>(buckets, gam::dht::Catalogue::most_buckets));
	records.index.nodes = nodes;
	const Result<Records> made = Records::create(session, records);
	if (!made)
		return made.error();
	return made->catalogue();
}

bool is_whole(gam::Session &session, gam::Address catalogue)
{
	Result<Records> records = Records::open(session, catalogue);
	return records && records->is_whole();
}

/** Returns EINVAL if the store is not made for values of that size. */
Result<void> check_store(DriverNodes &nodes, unsigned client, gam::Address catalogue, const SystemOptions &options)
{
	gam::Session session(nodes.node_of(client));
	const Result<Records> records = Records::open(session, catalogue);
	if (!records)
		return records.error();
	if (records->max_value_size() < options.value_size)
		return make_error(EINVAL,
			fmt::format("values of {} bytes: the store was made for {}", options.value_size,
				records->max_value_size()),
			"start another master and nodes");
	return {};
}

Result<std::unique_ptr<TransactionClient>> connect(
	DriverNodes &nodes, const SystemOptions &options, bool exclusive, unsigned number)
{
	const Result<gam::Address> catalogue = nodes.find(
		number,
		[&](gam::Session &session, const std::vector<gam::NodeId> &lenders) {
			return make_records(session, lenders, options);
		},
		is_whole);
	if (!catalogue)
		return catalogue.error();
	if (Result<void> checked = check_store(nodes, number, *catalogue, options); !checked)
		return checked.error();
	gam::NoWaitClientOptions client;
	client.depth = options.depth;
	client.exclusive_fetch = exclusive;
	client.retry = retry_of(options, number);
	Result<std::unique_ptr<gam::NoWaitClient>> opened =
		gam::NoWaitClient::open(nodes.node_of(number), *catalogue, client);
	if (!opened)
		return opened.error();
	return std::unique_ptr<TransactionClient>(*std::move(opened));
}

void add(Systems &systems, const char *name, const char *text, gam::Protocol protocol, bool exclusive)
{
	const auto open = [protocol, exclusive](const SystemOptions &options) -> Result<ClientFactory> {
		if (options.shards.size() != 1)
			return make_error(EINVAL, "a global memory has one master", "give its place as --shards");
		Result<std::shared_ptr<DriverNodes>> nodes =
			DriverNodes::join(options.gam, store_of(options, protocol));
		if (!nodes)
			return nodes.error();
		return ClientFactory([nodes = *std::move(nodes), options, exclusive](
					     unsigned number) { return connect(*nodes, options, exclusive, number); });
	};
	systems.add({name, text, open, true});
}

} // namespace

void add_gam_systems(Systems &systems)
{
	add(systems, "gam-directory", "GAM's transactions, by the directory protocol", gam::Protocol::directory, false);
	add(systems, "gam-latch", "GAM's transactions, by the latch protocol", gam::Protocol::latch, false);
	add(systems, "gam-directory-exclusive", "the same, with exclusive locks from the first fetch on",
		gam::Protocol::directory, true);
	add(systems, "gam-latch-exclusive", "the same, with exclusive locks from the first fetch on",
		gam::Protocol::latch, true);
}

} // namespace prism::tx
