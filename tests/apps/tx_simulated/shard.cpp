/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "shard.hpp"

#include <algorithm>
#include <cstring>

namespace tx_sim
{

using prism::tx::Cell;
using prism::tx::LogEntry;
using prism::tx::max_accesses;
using prism::tx::ShardGeometry;

namespace
{

simulation::StoreOptions store_options(const ShardOptions &options)
{
	simulation::StoreOptions store = options;
	store.collects = options.flaw != Flaw::no_collect;
	return store;
}

} // namespace

Shard::Shard(test::Node &node, simulation::Surroundings &around, const ShardOptions &options)
	: Store(node, around, store_options(options), options.geometry.bytes()), options_(options),
	  clients_(options.geometry.clients)
{
	for (unsigned char &byte : secret_)
		byte = static_cast<unsigned char>(around_.random().bits());
}

/* Clients: as prism::tx::PrismShard ------------------------------------------------------------------------------ */

bool Shard::number_client(Admission &client) const
{
	const auto is_free = [this](const Client &one) { return !one.connection || !is_open(one.connection); };
	const auto found = std::ranges::find_if(clients_, is_free);
	client.client = static_cast<std::uint32_t>(found - clients_.begin());
	client.incarnation = next_number();
	return found != clients_.end();
}

bool Shard::take_client(Admission &client)
{
	Client &one = clients_[client.client];
	if (one.incarnation >= client.incarnation)
		return false;
	client.used = one.connection != 0;
	drop_client(one.connection);
	one = {next_number(), client.incarnation};
	return true;
}

std::optional<Admission> Shard::admit(Pair &pair, const Admission *first)
{
	Admission admission;
	if (first) {
		admission.client = first->client;
		admission.incarnation = first->incarnation;
	} else if (!number_client(admission)) {
		return std::nullopt;
	}
	if (!take_client(admission))
		return std::nullopt;
	admission.connection = connect(pair, true).connection;
	admission.store = options_.store;
	admission.store.secret = secret_;
	admission.view.geometry = options_.geometry;
	admission.view.memory = {base_va, 0, key()};
	for (const simulation::List &list : lists()) {
		const std::uint64_t bytes = std::uint64_t{list.size()} * list.buffers();
		admission.view.classes.push_back({list.number(), list.size()});
		admission.lists.push_back({list.number(), {list.first(), bytes, key()}});
		admission.view.memory.length = list.first() + bytes - base_va;
	}
	return admission;
}

/* Buffers -------------------------------------------------------------------------------------------------------- */

std::uint64_t Shard::entry_slots() const noexcept
{
	return std::uint64_t{options_.geometry.places()} * max_accesses;
}

Cell Shard::cell(std::uint64_t number) const noexcept
{
	Cell cell;
	std::memcpy(&cell, memory() + ShardGeometry::cell_offset(number), sizeof(cell));
	return cell;
}

LogEntry Shard::entry(std::uint64_t index) const noexcept
{
	LogEntry entry;
	const auto place = static_cast<std::uint32_t>(index / max_accesses);
	std::memcpy(&entry,
		memory() + options_.geometry.place_offset(place) + offsetof(prism::tx::LogPlace, entries) +
			index % max_accesses * sizeof(entry),
		sizeof(entry));
	return entry;
}

bool Shard::is_over(std::uint64_t index) const
{
	const LogEntry one = entry(index);
	const std::uint32_t connection = clients_[index / max_accesses / options_.geometry.lanes].connection;
	if (connection && is_open(connection))
		return false;
	if (one.cell >= options_.geometry.cells)
		return true;
	const Cell at = cell(one.cell);
	return prism::tx::is_over(one.version.committed, at.version.committed, at.prepared.writer);
}

void Shard::look_at(std::uint64_t index)
{
	std::uint64_t address = 0;
	if (index >= entry_slots())
		address = cell(index - entry_slots()).version.object.ptr;
	else if (options_.flaw != Flaw::unscanned_logs && !is_over(index))
		address = entry(index).version.object.ptr;
	if (address)
		spare(address);
}

/**
 * Returns the buffer of a cell. When nothing is under way, an entry's buffer is a cell's or nobody's, so entries have
 * none.
 */
std::uint64_t Shard::buffer_of(std::uint64_t index) const
{
	return index < entry_slots() ? 0 : cell(index - entry_slots()).version.object.ptr;
}

std::uint64_t Shard::entries() const noexcept
{
	std::uint64_t left = 0;
	for (std::uint64_t index = 0; index < entry_slots(); index++) {
		const LogEntry one = entry(index);
		const bool nothing = one.version.committed == prism::tx::Timestamp{} || one.cell == LogEntry::no_cell;
		left += !nothing || one.version.object.ptr;
	}
	return left;
}

} // namespace tx_sim
