/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "pilaf_client.hpp"

#include "base/wire.hpp"
#include "pilaf/kind.hpp"
#include "service/key_hash.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace prism::kv
{

using apps::OperationKind;
using pilaf::Entry;

namespace
{

std::size_t read_size(const apps::Hello &server)
{
	return std::max<std::size_t>(sizeof(Entry), std::size_t{server.max_key_size} + server.max_value_size);
}

} // namespace

PilafClient::PilafClient(
	std::unique_ptr<rpc::TwoSidedLink> connected, RemoteRegion table, RemoteRegion extents, std::uint64_t seed)
	: RpcClient(std::move(connected)), reads_(static_cast<rpc::TwoSidedLink &>(link())), table_memory_(table),
	  extent_memory_(extents), hash_seed_(seed), entries_(table.length / sizeof(Entry)), lookups_(link().depth())
{
}

Result<std::unique_ptr<PilafClient>> PilafClient::connect(
	const Context &context, const std::string &host, std::uint16_t port, const rpc::ClientOptions &options)
{
	const apps::Hello wanted{pilaf::store_kind};
	Result<std::unique_ptr<rpc::TwoSidedLink>> connected = rpc::TwoSidedLink::connect(context, host, port, wanted,
		options,
		[](const ConnectionRecord &, const apps::Hello &server) { return measure(server, read_size(server)); });
	if (!connected)
		return connected.error();
	const ConnectionRecord &record = (*connected)->record();
	const RegionInfo *table = record.region(pilaf::table_region);
	const RegionInfo *extents = record.region(pilaf::extent_region);
	const std::span<const std::byte> own = apps::Hello::own_part(record.private_data);
	if (!table || !extents || table->region.length < sizeof(Entry) || own.size() != pilaf::own_part_size)
		return make_error(EBADMSG, "the server at " + host + " does not say where its table is");
	/* The constructor is private: no make_unique. */
	return std::unique_ptr<PilafClient>(new PilafClient(
		*std::move(connected), table->region, extents->region, apps::load<std::uint64_t>(own.data())));
}

void PilafClient::begin(std::uint32_t slot) noexcept
{
	if (operation(slot).kind != OperationKind::get) {
		call(slot);
		return;
	}
	Lookup &lookup = lookups_[slot];
	lookup.places = pilaf::candidates(apps::hash_key(operation(slot).key, hash_seed_), entries_);
	lookup.way = 0;
	lookup.torn = 0;
	read_entry(slot);
}

void PilafClient::read_entry(std::uint32_t slot) noexcept
{
	Lookup &lookup = lookups_[slot];
	lookup.has_entry = false;
	operation(slot).round_trips++;
	counted_.reads++;
	reads_.read(slot, table_memory_.at(lookup.places[lookup.way] * sizeof(Entry)), sizeof(Entry));
}

void PilafClient::read_extent(std::uint32_t slot) noexcept
{
	Lookup &lookup = lookups_[slot];
	const Entry &entry = lookup.entry;
	/* An intact entry that makes no sense is not torn: the server is not to be trusted. */
	if (entry.key_size > limits().max_key_size || entry.value_size > limits().max_value_size ||
		!extent_memory_.contains(entry.address, entry.extent_size())) {
		link().break_off(EBADMSG);
		return;
	}
	lookup.has_entry = true;
	operation(slot).round_trips++;
	counted_.reads++;
	reads_.read(slot, {entry.address, extent_memory_.rkey}, static_cast<std::uint32_t>(entry.extent_size()));
}

/* Reads again: a torn state is over by the next READ, or the place has other contents. */
void PilafClient::retry(std::uint32_t slot) noexcept
{
	Lookup &lookup = lookups_[slot];
	if (++lookup.torn < torn_limit) {
		read_entry(slot);
		return;
	}
	counted_.gave_up++;
	call(slot);
}

void PilafClient::next_place(std::uint32_t slot) noexcept
{
	Lookup &lookup = lookups_[slot];
	if (++lookup.way < pilaf::ways) {
		read_entry(slot);
		return;
	}
	counted_.misses++;
	call(slot);
}

void PilafClient::check_entry(std::uint32_t slot) noexcept
{
	Lookup &lookup = lookups_[slot];
	std::memcpy(&lookup.entry, reads_.read_memory(slot), sizeof(Entry));
	if (!lookup.entry.intact()) {
		counted_.torn_entries++;
		retry(slot);
	} else if (lookup.entry.empty()) {
		next_place(slot);
	} else {
		read_extent(slot);
	}
}

void PilafClient::check_extent(std::uint32_t slot) noexcept
{
	const Entry &entry = lookups_[slot].entry;
	const std::span<const std::byte> key = operation(slot).key;
	const std::span<const std::byte> extent(reads_.read_memory(slot), entry.extent_size());
	if (pilaf::crc64(extent) != entry.extent_crc) {
		counted_.torn_extents++;
		retry(slot);
	} else if (entry.key_size != key.size() || std::memcmp(extent.data(), key.data(), key.size()) != 0) {
		next_place(slot);
	} else {
		finish_get(slot, extent.subspan(entry.key_size));
	}
}

void PilafClient::on_read(std::uint32_t slot) noexcept
{
	if (lookups_[slot].has_entry)
		check_extent(slot);
	else
		check_entry(slot);
}

} // namespace prism::kv
