/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/ycsb/gam_systems.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "bench/gam/driver/driver_nodes.hpp"
#include "gam/data/table_client.hpp"
#include "service/server_address.hpp"

namespace prism::ycsb
{

namespace
{

using gam::DriverNodes;

constexpr std::uint64_t pairs_a_bucket = 5; /* of the ten that fit, so that few buckets overflow */

gam::DriverStore store_of(const SystemOptions &options, gam::Protocol protocol)
{
	const std::uint64_t record = sizeof(gam::dht::RecordHeader) + options.key_size + options.value_size;
	gam::DriverStore store;
	store.name = "prism-ycsb/table";
	store.protocol = protocol;
	store.master = apps::ServerAddress{options.host, options.port}.text();
	store.device = options.device;
	store.timeout = options.timeout;
	store.loads = options.loads;
	store.bytes = options.records * (gam::in_blocks(record) + sizeof(gam::dht::Bucket) / pairs_a_bucket);
	return store;
}

Result<gam::Address> make_table(gam::Session &session, const std::vector<gam::NodeId> &nodes, std::uint64_t records)
{
	const std::uint64_t buckets = records / (pairs_a_bucket * nodes.size()) + 1;
	gam::TableOptions table;
	table.buckets = static_cast<std::uint32_t>(std::min<std::uint64_t>(buckets, gam::dht::Catalogue::most_buckets));
	table.nodes = nodes;
	const Result<gam::Table> made = gam::Table::create(session, table);
	if (!made)
		return made.error();
	return made->catalogue();
}

bool is_whole(gam::Session &session, gam::Address table)
{
	Result<gam::Table> opened = gam::Table::open(session, table);
	return opened && opened->is_whole();
}

Result<std::unique_ptr<apps::StoreClient>> connect(DriverNodes &nodes, const SystemOptions &options, unsigned client)
{
	const Result<gam::Address> table = nodes.find(
		client,
		[&](gam::Session &session, const std::vector<gam::NodeId> &lenders) {
			return make_table(session, lenders, options.records);
		},
		is_whole);
	if (!table)
		return table.error();
	Result<std::unique_ptr<gam::TableClient>> opened =
		gam::TableClient::open(nodes.node_of(client), *table, options.depth);
	if (!opened)
		return opened.error();
	return std::unique_ptr<apps::StoreClient>(*std::move(opened));
}

void add(Systems &systems, const char *name, const char *text, gam::Protocol protocol)
{
	const auto open = [protocol](const SystemOptions &options) -> Result<ClientFactory> {
		if (!gam::Table::possible(options.key_size, options.value_size))
			return make_error(EINVAL,
				fmt::format(
					"keys of {} bytes with values of {}: the hash table has pairs of at most {}",
					options.key_size, options.value_size, gam::Table::max_pair_bytes),
				"give a smaller --size");
		Result<std::shared_ptr<DriverNodes>> nodes =
			DriverNodes::join(options.gam, store_of(options, protocol));
		if (!nodes)
			return nodes.error();
		return ClientFactory([nodes = *std::move(nodes), options](
					     unsigned client) { return connect(*nodes, options, client); });
	};
	systems.add({name, text, gam::default_master_port, open, false, true});
}

} // namespace

void add_gam_systems(Systems &systems)
{
	add(systems, "gam-directory", "GAM's hash table, by the directory protocol", gam::Protocol::directory);
	add(systems, "gam-latch", "GAM's hash table, by the latch protocol", gam::Protocol::latch);
}

} // namespace prism::ycsb
