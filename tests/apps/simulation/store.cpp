/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "store.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>

#include <fmt/core.h>

namespace simulation
{

namespace
{

constexpr std::uint32_t domain = 1;
constexpr std::uint32_t all_rights =
	soft::access_local_write | soft::access_remote_read | soft::access_remote_write | soft::access_remote_atomic;
constexpr std::uint64_t line = 64;
constexpr std::uint64_t scratch_bytes = line;

std::uint64_t aligned(std::uint64_t bytes)
{
	return (bytes + line - 1) / line * line;
}

template <typename T>
std::uint32_t add_region(test::Node &node, std::vector<T> &memory, std::uint64_t va, std::uint32_t rights)
{
	return node.engine.memory.add_region(
		reinterpret_cast<std::uint8_t *>(memory.data()), va, memory.size() * sizeof(T), rights, domain);
}

} // namespace

std::size_t Store::lines(const StoreOptions &options, std::uint64_t slot_bytes)
{
	std::uint64_t bytes = aligned(slot_bytes) + scratch_bytes * options.max_connections;
	for (const auto &size_class : options.classes)
		bytes += std::uint64_t{size_class.buffer_size} * size_class.count;
	return aligned(bytes) / line;
}

Store::Store(test::Node &node, Surroundings &around, const StoreOptions &options, std::uint64_t slot_bytes)
	: around_(around), node_(node), options_(options), scratch_offset_(aligned(slot_bytes)),
	  memory_(lines(options, slot_bytes)), key_(add_region(node, memory_, base_va, all_rights)), inbox_(node),
	  self_(node, {}), word_(1),
	  word_key_(add_region(node, word_, reinterpret_cast<std::uintptr_t>(word_.data()), soft::access_local_write)),
	  recovery_(*this, options.recovery)
{
	std::uint64_t va = base_va + scratch_offset_ + scratch_bytes * options_.max_connections;
	for (const auto &size_class : options_.classes) {
		lists_.emplace_back(node_.engine, va, key_, size_class.buffer_size, size_class.count, options_.grace);
		va += std::uint64_t{size_class.buffer_size} * size_class.count;
	}
	self_.connect(self_.endpoint, connect_options());
}

Store::~Store()
{
	connections_.clear();
}

/* Connections ---------------------------------------------------------------------------------------------------- */

std::uint32_t Store::free_scratch() const
{
	std::uint32_t scratch = 0;
	const auto used = [&](const Connection &connection) { return connection.scratch == scratch; };
	while (std::any_of(connections_.begin(), connections_.end(), used))
		scratch++;
	return scratch;
}

test::ConnectOptions Store::connect_options() const
{
	test::ConnectOptions options;
	options.mtu = options_.mtu;
	options.ack_timeout = options_.ack_timeout;
	options.send_psn = static_cast<std::uint32_t>(around_.random().bits()) & PRISM_PSN_MASK;
	options.recv_psn = static_cast<std::uint32_t>(around_.random().bits()) & PRISM_PSN_MASK;
	return options;
}

Store::Place Store::connect(Pair &pair, bool on_its_way)
{
	Connection connection;
	connection.number = next_number_++;
	connection.scratch = free_scratch();
	connection.on_its_way = on_its_way;
	if (connection.scratch >= options_.max_connections)
		around_.find("one client too many");
	connection.endpoint = std::make_unique<test::Endpoint>(node_, test::EndpointOptions{});
	inbox_.serve(*connection.endpoint);
	pair.connect(*connection.endpoint, connect_options());
	const Place place{connection.number, base_va + scratch_offset_ + scratch_bytes * connection.scratch};
	if (!on_its_way)
		recovery_.entered(connection.number);
	connections_.push_back(std::move(connection));
	return place;
}

Store::Connection *Store::find_connection(std::uint32_t number)
{
	const auto is_it = [number](const Connection &connection) { return connection.number == number; };
	const auto found = std::find_if(connections_.begin(), connections_.end(), is_it);
	return found == connections_.end() ? nullptr : &*found;
}

bool Store::is_open(std::uint32_t number) const
{
	const auto is_it = [number](const Connection &connection) { return connection.number == number; };
	return std::any_of(connections_.begin(), connections_.end(), is_it);
}

void Store::enter(std::uint32_t connection)
{
	Connection *const found = find_connection(connection);
	if (!found || !found->on_its_way)
		return;
	found->on_its_way = false;
	recovery_.entered(connection);
}

void Store::end_of(std::uint32_t connection)
{
	if (Connection *const found = find_connection(connection))
		found->dead = true;
}

void Store::hear_settled(std::uint32_t connection, std::uint64_t value)
{
	recovery_.settled(connection, value);
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
	const auto dead = [](const Connection &connection) { return connection.dead; };
	for (Connection &connection : connections_) {
		if (!connection.dead)
			continue;
		connection.endpoint.reset();
		recovery_.left(connection.number);
	}
	std::erase_if(connections_, dead);
}

void Store::serve()
{
	reclaim();
	destroy_disconnected();
	recovery_.go_on(now());
}

/* Reports -------------------------------------------------------------------------------------------------------- */

/** Handles a few reports, and says how many there were. */
std::size_t Store::reclaim()
{
	if (inbox_.empty())
		return 0;
	for (List &list : lists_)
		list.refresh();
	const std::size_t got = inbox_.take([this](const prism::FreeReport *report) { judge(report); });
	for (List &list : lists_)
		list.post_released();
	return got;
}

void Store::judge(const prism::FreeReport *report)
{
	if (!report) {
		around_.find("a report does not parse");
		return;
	}
	reports_++;
	for (List &list : lists_) {
		if (list.number() != report->free_list)
			continue;
		for (std::uint32_t i = 0; i < report->count; i++)
			list.release(report->addresses[i]);
		return;
	}
	around_.find("a report names a list that is not there");
}

/* RecoveryHost --------------------------------------------------------------------------------------------------- */

bool Store::can_ask_all() const
{
	const auto on_its_way = [](const Connection &connection) { return connection.on_its_way; };
	return std::none_of(connections_.begin(), connections_.end(), on_its_way);
}

bool Store::wait_for_self(prism::Completion &completion)
{
	bool there = false;
	around_.go_on_until([&] { return there || (there = self_.poll(completion)); });
	if (!there || completion.failed())
		around_.find("the server's own requests do not end");
	return there && completion.ok();
}

bool Store::run_on_self(const prism::Chain &chain)
{
	prism::Completion completion;
	return !self_.post(chain, 0) && wait_for_self(completion);
}

/** As FreeList::drain(): one ALLOCATE after another, until nothing is left. */
void Store::drain(List &list)
{
	drained_++;
	const prism::LocalSlice answer{
		reinterpret_cast<std::uintptr_t>(word_.data()), sizeof(std::uint64_t), word_key_};
	const std::uint32_t most = 16 * list.buffers(); /* clients give buffers back meanwhile */
	for (std::uint32_t taken = 0; taken < most && list.available(); taken++) {
		prism::Chain chain;
		chain.allocate(list.number(), std::span<const std::byte>{}).result(answer);
		word_[0] = 0;
		if (run_on_self(chain))
			list.taken_by_owner(word_[0]);
	}
	list.refresh();
}

prism::Result<void> Store::note_handed_out()
{
	taken_back_.clear();
	for (List &list : lists_) {
		list.refresh();
		const bool drains = !list.exact();
		if (drains)
			drain(list);
		if (!list.exact())
			return prism::make_error(EBUSY, "the device took buffers back");
		list.mark();
		taken_back_.push_back(list.taken_back());
		if (drains)
			list.post_released();
	}
	return {};
}

void Store::ask_to_settle(std::uint32_t client, std::uint64_t value)
{
	around_.tell_to_settle(client, value);
}

void Store::spare(std::uint64_t address)
{
	for (List &list : lists_)
		list.spare(address);
}

bool Store::take_reports()
{
	while (reclaim() && options_.takes_all_reports)
		;
	return true;
}

std::optional<std::uint64_t> Store::collect()
{
	for (std::size_t i = 0; i < lists_.size(); i++) {
		if (lists_[i].taken_back() != taken_back_[i] && options_.minds_taken_back)
			return std::nullopt;
	}
	std::uint64_t recovered = 0;
	for (List &list : lists_)
		recovered += options_.collects ? list.collect() : 0;
	return recovered;
}

/* The end -------------------------------------------------------------------------------------------------------- */

const std::byte *Store::at(std::uint64_t va, std::uint64_t length) const noexcept
{
	const std::uint64_t size = memory_.size() * sizeof(Line);
	if (va < base_va || va - base_va > size || length > size - (va - base_va))
		return nullptr;
	return memory() + (va - base_va);
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
	for (List &list : lists_) {
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
