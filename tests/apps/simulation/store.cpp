/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "store.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include <fmt/core.h>

namespace simulation
{

Store::Store(test::Node &node, Surroundings &around, const StoreOptions &options, std::uint64_t slot_bytes)
	: StoreCore(device_, {slot_bytes, options.max_connections, options.classes}, options.recovery), around_(around),
	  takes_all_reports_(options.takes_all_reports), device_(node, around, layout(), options)
{
}

Store::~Store() = default;

Store::Place Store::connect(Pair &pair, bool on_its_way)
{
	const std::optional<ConnectionPlace> next = next_place();
	if (!next) {
		around_.find("one client too many");
		return {};
	}
	connections_.push_back({next->number, device_.connect(pair)});
	admit();
	if (!on_its_way)
		enter(next->number);
	return {next->number, base_va + next->scratch};
}

Store::Connection *Store::find_connection(std::uint32_t number)
{
	const auto is_it = [number](const Connection &connection) { return connection.number == number; };
	const auto found = std::ranges::find_if(connections_, is_it);
	return found == connections_.end() ? nullptr : &*found;
}

void Store::end_of(std::uint32_t connection)
{
	if (Connection *const found = find_connection(connection))
		found->dead = true;
}

void Store::drop_clients(std::uint32_t except)
{
	for (Connection &connection : connections_) {
		if (connection.number != except)
			drop(connection);
	}
}

void Store::drop_client(std::uint32_t number)
{
	if (Connection *const found = find_connection(number))
		drop(*found);
}

void Store::drop(Connection &connection)
{
	if (!connection.endpoint)
		return;
	connection.endpoint.reset();
	connection.dead = true;
	around_.tell_ended(connection.number);
}

void Store::destroy_disconnected()
{
	for (Connection &connection : connections_) {
		if (!connection.dead)
			continue;
		connection.endpoint.reset();
		leave(connection.number);
	}
	std::erase_if(connections_, [](const Connection &connection) { return connection.dead; });
}

void Store::serve()
{
	(void)device_.take_reports();
	destroy_disconnected();
	recovery().go_on(std::chrono::nanoseconds(around_.time()));
}

void Store::ask_to_settle(std::uint32_t client, std::uint64_t value)
{
	around_.tell_to_settle(client, value);
}

bool Store::take_reports()
{
	if (takes_all_reports_)
		return StoreCore::take_reports();
	(void)device_.take_reports();
	return true;
}

void Store::account()
{
	struct Places {
		unsigned slots = 0;
		unsigned listed = 0;
	};
	std::map<std::uint64_t, Places> places;
	for (std::uint64_t index = 0; index < slots(); index++) {
		if (const std::uint64_t buffer = buffer_of(index))
			places[buffer].slots++;
	}
	std::uint64_t refused = 0, buffers = 0;
	for (List &list : device_.free_lists()) {
		refused += list.refused();
		buffers += list.buffers();
		for (const std::uint64_t address : list.take_all())
			places[address].listed++;
	}
	for (const auto &[address, at] : places) {
		if (at.slots + at.listed != 1)
			around_.find(fmt::format(
				"a buffer is {} times in the table and {} times in a list", at.slots, at.listed));
	}
	if (places.size() != buffers)
		around_.find(fmt::format("{} of {} buffers are in the table or in a list", places.size(), buffers));
	if (refused)
		around_.find(fmt::format("{} reports of buffers that nobody held", refused));
}

} // namespace simulation
