/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "service/control.hpp"
#include "store/introduction.hpp"

namespace kv_sim
{

using prism::apps::RecoveryScan;
using prism::kv::Slot;

namespace
{

constexpr std::uint32_t domain = 1;
constexpr std::uint32_t all_rights =
	soft::access_local_write | soft::access_remote_read | soft::access_remote_write | soft::access_remote_atomic;
/* Not an address of the process: a run is the same wherever its memory lies. */
constexpr std::uint64_t base_va = 0x1000'0000;
constexpr std::uint32_t scratch_bytes = 64;
/* Reports that may wait, and how many of them are handled at a time, as Reclaimer::poll() does */
constexpr std::uint32_t report_slots = 64;
constexpr std::size_t reports_a_poll = 16;
constexpr std::uint32_t max_key_size = 8;

std::uint64_t scratch_offset(const ServerOptions &options)
{
	return prism::kv::Geometry(options.buckets).table_bytes();
}

std::uint64_t buffers_offset(const ServerOptions &options)
{
	return scratch_offset(options) + std::uint64_t{scratch_bytes} * options.max_connections;
}

std::size_t slots_of_memory(const ServerOptions &options)
{
	std::uint64_t bytes = buffers_offset(options);
	for (const auto &size_class : options.classes)
		bytes += std::uint64_t{size_class.buffer_size} * size_class.count;
	return bytes / sizeof(Slot);
}

std::uint8_t *bytes_of(std::vector<Slot> &memory)
{
	return reinterpret_cast<std::uint8_t *>(memory.data());
}

template <typename T>
std::uint32_t local_region(test::Node &node, std::vector<T> &memory)
{
	auto *const bytes = reinterpret_cast<std::uint8_t *>(memory.data());
	return node.engine.memory.add_region(bytes, reinterpret_cast<std::uintptr_t>(bytes), memory.size() * sizeof(T),
		soft::access_local_write, domain);
}

} // namespace

Server::Server(test::Node &node, Surroundings &around, const ServerOptions &options)
	: node_(node), around_(around), options_(options), memory_(slots_of_memory(options)),
	  key_(node.engine.memory.add_region(
		  bytes_of(memory_), base_va, memory_.size() * sizeof(Slot), all_rights, domain)),
	  table_(memory_.data(), prism::kv::Geometry(options.buckets)), slots_(report_slots),
	  slots_key_(local_region(node, slots_)), reports_(node.engine.take_srqn(), domain, report_slots, 1, false),
	  report_cq_(2 * report_slots, [] {}), self_(node, {}), word_(1), word_key_(local_region(node, word_))
{
	for (unsigned char &byte : secret_)
		byte = static_cast<unsigned char>(around_.random().bits());
	std::uint64_t va = base_va + buffers_offset(options_);
	for (const auto &size_class : options_.classes) {
		lists_.emplace_back(node_.engine, va, key_, size_class.buffer_size, size_class.count,
			options_.flaw != Flaw::no_grace);
		va += std::uint64_t{size_class.buffer_size} * size_class.count;
	}
	node_.engine.add_srq(reports_);
	for (std::uint32_t slot = 0; slot < report_slots; slot++)
		post_slot(slot);
	self_.connect(self_.endpoint, connect_options());
}

Server::~Server()
{
	connections_.clear();
	node_.engine.remove_srq(reports_);
}

/* Connections ---------------------------------------------------------------------------------------------------- */

std::uint32_t Server::free_scratch() const
{
	std::uint32_t scratch = 0;
	const auto used = [&](const Connection &connection) { return connection.scratch == scratch; };
	while (std::any_of(connections_.begin(), connections_.end(), used))
		scratch++;
	return scratch;
}

test::ConnectOptions Server::connect_options() const
{
	test::ConnectOptions options;
	options.mtu = options_.mtu;
	options.ack_timeout = options_.ack_timeout;
	options.send_psn = static_cast<std::uint32_t>(around_.random().bits()) & PRISM_PSN_MASK;
	options.recv_psn = static_cast<std::uint32_t>(around_.random().bits()) & PRISM_PSN_MASK;
	return options;
}

Admission Server::admit(Pair &pair)
{
	Connection connection;
	connection.number = next_number_++;
	connection.scratch = free_scratch();
	if (connection.scratch >= options_.max_connections)
		around_.find("one client too many");
	connection.endpoint = std::make_unique<test::Endpoint>(node_, test::EndpointOptions{});
	connection.endpoint->qp.srq = &reports_;
	connection.endpoint->qp.recv_cq = &report_cq_;
	pair.connect(*connection.endpoint, connect_options());

	Admission admission;
	/* Shared: a client may outlive its server. */
	admission.lease = [next = next_version_] { return std::exchange(*next, *next + prism::kv::versions_a_lease); };
	prism::kv::ServerView &view = admission.view;
	view.secret = secret_;
	view.geometry = table_.geometry();
	view.table = {base_va, key_};
	view.scratch = {base_va + scratch_offset(options_) + scratch_bytes * connection.scratch, key_};
	for (const List &list : lists_)
		view.classes.push_back({list.number(), list.size(),
			{list.first(), std::uint64_t{list.size()} * list.buffers(), key_}});
	view.connection = connection.number;
	view.max_key_size = max_key_size;
	view.max_value_size = options_.max_value_size;
	connections_.push_back(std::move(connection));
	return admission;
}

Server::Connection *Server::find_connection(std::uint32_t number)
{
	const auto is_it = [number](const Connection &connection) { return connection.number == number; };
	const auto found = std::find_if(connections_.begin(), connections_.end(), is_it);
	return found == connections_.end() ? nullptr : &*found;
}

void Server::end_of(std::uint32_t connection)
{
	if (Connection *const found = find_connection(connection))
		found->dead = true;
}

void Server::hear_settled(std::uint32_t connection, std::uint64_t value)
{
	if (Connection *const found = find_connection(connection))
		found->settled = value;
}

void Server::serve()
{
	reclaim(reports_a_poll);
	bury_dead();
	if (recovery_) {
		go_on_recovering();
	} else if (recovery_wanted_) {
		recovery_wanted_ = false;
		prism::apps::RecoveryOptions options;
		options.slots_a_step = options_.slots_a_step;
		RecoveryHost &host = *this; /* the base is private */
		recovery_.emplace(host, options);
		if (recovery_->begin(std::chrono::nanoseconds(around_.time()))) {
			figures_.put_off++;
			recovery_wanted_ = true;
			recovery_.reset();
		}
	}
}

void Server::bury_dead()
{
	const auto dead = [](const Connection &connection) { return connection.dead; };
	if (std::erase_if(connections_, dead))
		recovery_wanted_ = true;
}

/* Reports -------------------------------------------------------------------------------------------------------- */

void Server::post_slot(std::uint64_t slot)
{
	const soft::Sge place{
		reinterpret_cast<std::uintptr_t>(slots_[slot].data()), prism::FreeReport::max_size, slots_key_};
	reports_.queue.post(slot, {&place, 1});
}

/** Handles at most @p most reports, and says how many there were. */
std::size_t Server::reclaim(std::size_t most)
{
	std::array<ibv_wc, reports_a_poll> arrived;
	const int got = report_cq_.poll(static_cast<int>(std::min(most, arrived.size())), arrived.data());
	if (got <= 0)
		return 0;
	for (List &list : lists_)
		list.refresh();
	for (const ibv_wc &wc : std::span(arrived).first(static_cast<std::size_t>(got))) {
		prism::FreeReport report;
		const bool good = wc.status == IBV_WC_SUCCESS;
		if (good && !report.parse(std::span(slots_[wc.wr_id]).first(wc.byte_len)))
			around_.find("a report does not parse");
		else if (good)
			judge(report);
		post_slot(wc.wr_id);
	}
	for (List &list : lists_)
		list.post_released();
	return static_cast<std::size_t>(got);
}

void Server::judge(const prism::FreeReport &report)
{
	figures_.reports++;
	for (List &list : lists_) {
		if (list.number() != report.free_list)
			continue;
		for (std::uint32_t i = 0; i < report.count; i++)
			list.release(report.addresses[i]);
		return;
	}
	around_.find("a report names a list that is not there");
}

/* RecoveryHost --------------------------------------------------------------------------------------------------- */

void Server::go_on_recovering()
{
	const RecoveryScan::Stage stage = recovery_->go_on(std::chrono::nanoseconds(around_.time()));
	if (stage != RecoveryScan::Stage::ended && stage != RecoveryScan::Stage::put_off)
		return;
	figures_.scans += stage == RecoveryScan::Stage::ended;
	figures_.put_off += stage == RecoveryScan::Stage::put_off;
	figures_.recovered += recovery_->recovered();
	recovery_.reset();
}

bool Server::wait_for_self(prism::Completion &completion)
{
	bool there = false;
	around_.go_on_until([&] { return there || (there = self_.poll(completion)); });
	if (!there || completion.failed())
		around_.find("the server's own requests do not end");
	return there && completion.ok();
}

/** As FreeList::drain(): one ALLOCATE after another, until nothing is left. */
void Server::drain(List &list)
{
	figures_.drained++;
	const prism::LocalSlice answer{
		reinterpret_cast<std::uintptr_t>(word_.data()), sizeof(std::uint64_t), word_key_};
	const std::uint32_t most = 16 * list.buffers(); /* clients give buffers back meanwhile */
	for (std::uint32_t taken = 0; taken < most && list.available(); taken++) {
		prism::Chain chain;
		chain.allocate(list.number(), std::span<const std::byte>{}).result(answer);
		prism::Completion completion;
		word_[0] = 0;
		if (!self_.post(chain, 0) && wait_for_self(completion))
			list.taken_by_owner(word_[0]);
	}
	list.refresh();
}

int Server::note_handed_out()
{
	taken_back_.clear();
	for (List &list : lists_) {
		list.refresh();
		const bool drains = !list.exact();
		if (drains)
			drain(list);
		if (!list.exact())
			return EBUSY;
		list.mark();
		taken_back_.push_back(list.taken_back());
		if (drains)
			list.post_released();
	}
	return 0;
}

void Server::ask_to_settle()
{
	const std::uint64_t value = next_settle_++;
	for (Connection &connection : connections_) {
		connection.asked = value;
		around_.tell_to_settle(connection.number, value);
	}
}

bool Server::settled() const
{
	return std::all_of(connections_.begin(), connections_.end(),
		[](const Connection &connection) { return connection.settled == connection.asked; });
}

bool Server::is_open(std::uint32_t number) const
{
	return options_.flaw == Flaw::claims_stay ||
	       std::any_of(connections_.begin(), connections_.end(),
		       [number](const Connection &connection) { return connection.number == number; });
}

bool Server::empty_claim(std::uint64_t index, const Slot &claim)
{
	prism::Chain chain;
	chain.cas({base_va + index * sizeof(Slot), key_}, prism::Cas::bytes(prism::CasMode::equal, claim, Slot{}));
	prism::Completion completion;
	return !self_.post(chain, 0) && wait_for_self(completion);
}

void Server::look_at(std::uint64_t index)
{
	const Slot slot = table_.at(index);
	if (slot.is_claim() && !is_open(slot.object.bound) && empty_claim(index, slot))
		figures_.claims++;
	if (!slot.object.ptr)
		return;
	for (List &list : lists_)
		list.spare(slot.object.ptr);
}

bool Server::take_reports()
{
	while (reclaim(reports_a_poll) && options_.flaw != Flaw::few_reports)
		;
	return true;
}

std::optional<std::uint64_t> Server::collect()
{
	for (std::size_t i = 0; i < lists_.size(); i++) {
		if (lists_[i].taken_back() != taken_back_[i] && options_.flaw != Flaw::collect_anyway)
			return std::nullopt;
	}
	std::uint64_t recovered = 0;
	for (List &list : lists_)
		recovered += options_.flaw == Flaw::no_collect ? 0 : list.collect();
	return recovered;
}

/* The end -------------------------------------------------------------------------------------------------------- */

const std::byte *Server::at(std::uint64_t va, std::uint64_t length) const noexcept
{
	const std::uint64_t size = memory_.size() * sizeof(Slot);
	if (va < base_va || va - base_va > size || length > size - (va - base_va))
		return nullptr;
	return reinterpret_cast<const std::byte *>(memory_.data()) + (va - base_va);
}

void Server::account()
{
	struct Places {
		unsigned slots = 0;
		unsigned listed = 0;
	};
	std::map<std::uint64_t, Places> places;
	for (std::uint64_t index = 0; index < table_.geometry().slot_count(); index++) {
		if (const Slot slot = table_.at(index); slot.object.ptr)
			places[slot.object.ptr].slots++;
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

} // namespace kv_sim
