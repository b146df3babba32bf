/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "dependencies.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace prism::serializability
{

namespace
{

constexpr std::string_view cycles_check = "cycles";

/* Edges to keep if each transaction of one group comes before each of another: otherwise a key would have as many edges
 * as the square of its transactions. */
constexpr std::size_t few = 16;

} // namespace

AccessReader::AccessReader(const Index &index, Findings &findings)
	: index_(index), operations_(index.history().operations()), findings_(findings), place_(index.keys()),
	  placed_by_(index.keys(), Index::nobody)
{
}

Access &AccessReader::access_to(std::uint32_t key)
{
	if (placed_by_[key] != transaction_) {
		placed_by_[key] = transaction_;
		place_[key] = static_cast<std::uint32_t>(accesses_.size());
		accesses_.push_back({.key = key});
	}
	return accesses_[place_[key]];
}

std::span<const Access> AccessReader::read(std::uint32_t transaction, bool report)
{
	for (const Access &access : accesses_)
		placed_by_[access.key] = Index::nobody;
	accesses_.clear();
	transaction_ = transaction;
	reports_ = report;
	const Transaction &of = index_.transaction(transaction);
	for (std::uint64_t i = of.first; i < of.first + of.count; i++) {
		Access &access = access_to(index_.key_of(i));
		if (operations_[i].action != Action::read) {
			access.written = index_.version_of(i);
			access.appended++;
		} else if (index_.lists()) {
			read_list(access, i);
		} else {
			read_register(access, i);
		}
	}
	return accesses_;
}

void AccessReader::read_register(Access &access, std::uint64_t operation)
{
	const std::uint32_t version = index_.version_of(operation);
	if (access.writes()) {
		if (version != access.written)
			report("own write not seen", operation, version);
		return;
	}
	if (version == Index::nobody)
		report("value from nowhere", operation);
	else
		look_at(access, version, operation);
	if (version >= Index::initial)
		return;
	const Version &read = index_.versions()[version];
	if (read.transaction == transaction_)
		report("own write seen too early", operation, version);
	else if (index_.transaction(read.transaction).outcome == Outcome::aborted)
		report("G1a (aborted read)", operation, version);
	else if (!read.last)
		report("G1b (intermediate read)", operation, version);
}

/* Notes a read: a key that was read before must show the same again. */
void AccessReader::look_at(Access &access, std::uint32_t seen, std::uint64_t operation)
{
	if (access.reads && access.seen != seen)
		report("unrepeatable read", operation);
	access.seen = seen;
	access.reads = true;
}

bool AccessReader::ends_with_own(std::uint64_t operation, std::uint32_t own) const
{
	const std::span<const Value> list = index_.history().list_of(operations_[operation]);
	if (list.size() < own)
		return false;
	std::size_t end = list.size();
	for (std::uint64_t i = operation; own > 0; i--) {
		if (operations_[i].action == Action::read || operations_[i].key != operations_[operation].key)
			continue;
		if (list[--end] != operations_[i].value)
			return false;
		own--;
	}
	return true;
}

void AccessReader::read_list(Access &access, std::uint64_t operation)
{
	if (!ends_with_own(operation, access.appended)) {
		report("own write not seen", operation);
		return;
	}
	const std::span<const Value> list = index_.history().list_of(operations_[operation]);
	const std::span<const Value> longest = index_.longest(access.key);
	if (list.size() > longest.size() || !std::ranges::equal(list, longest.first(list.size()))) {
		report_list(operation);
		return;
	}
	const auto length = static_cast<std::uint32_t>(list.size() - access.appended);
	look_at(access, length, operation);
	if (length == 0)
		return;
	const std::uint32_t version = index_.order(access.key)[length - 1];
	if (version == Index::nobody)
		return; /* the key is reported */
	const Version &last = index_.versions()[version];
	if (last.transaction == transaction_)
		report("own write seen too early", operation, version);
	else if (!last.last)
		report("G1b (intermediate read)", operation, version);
}

/* Reports two reads of a key neither of which is the beginning of the other. */
void AccessReader::report_list(std::uint64_t operation)
{
	const std::uint32_t key = index_.key_of(operation);
	std::uint32_t aborted = Index::nobody;
	bool nowhere = false;
	for (const Value value : index_.history().list_of(operations_[operation])) {
		const std::uint32_t version = index_.find(key, value);
		nowhere = nowhere || version == Index::nobody;
		if (version != Index::nobody &&
			index_.transaction(index_.versions()[version].transaction).outcome == Outcome::aborted)
			aborted = version;
	}
	if (nowhere)
		report("value from nowhere", operation);
	if (aborted != Index::nobody)
		report("G1a (aborted read)", operation, aborted);
	report("incompatible order", operation);
}

void AccessReader::report(std::string_view name, std::uint64_t operation, std::uint32_t version)
{
	if (!reports_)
		return;
	findings_.add(cycles_check, name, [&] {
		std::string text = fmt::format(
			"key {:#x} of {}", operations_[operation].key, index_.history().describe(transaction_));
		if (version < Index::initial)
			text += fmt::format("\nread {:#x} of {}", index_.versions()[version].value,
				index_.history().describe(index_.versions()[version].transaction));
		if (name == "incompatible order") {
			text += "\nthe longest list that was read of it:";
			for (const Value value : index_.longest(index_.key_of(operation))
							 .first(std::min<std::size_t>(
								 32, index_.longest(index_.key_of(operation)).size())))
				text += fmt::format(" {:#x}", value);
		}
		return text;
	});
}

DependencyFinder::DependencyFinder(const Index &index, Findings &findings)
	: index_(index), findings_(findings), reader_(index, findings)
{
}

void DependencyFinder::add(std::uint32_t from, std::uint32_t to, Dependency why, std::uint32_t key)
{
	if (from != to && from != Index::nobody && to != Index::nobody)
		edges_.push_back({from, to, key, why});
}

template <typename Function>
void DependencyFinder::for_each_visible(Function function)
{
	const auto count = static_cast<std::uint32_t>(index_.history().transactions().size());
	for (std::uint32_t i = 0; i < count; i++) {
		if (index_.visible(i))
			function(i);
	}
}

/* Returns the visible transaction that wrote @p version, or nobody. */
std::uint32_t DependencyFinder::writer_of(std::uint32_t version) const
{
	if (version >= Index::initial)
		return Index::nobody;
	const std::uint32_t writer = index_.versions()[version].transaction;
	return index_.visible(writer) ? writer : Index::nobody;
}

std::vector<Edge> DependencyFinder::find(const CycleOptions &options)
{
	nodes_ = static_cast<std::uint32_t>(index_.history().transactions().size());
	edges_.reserve(index_.history().operations().size() + nodes_);
	if (index_.lists()) {
		note_lists();
	} else {
		note_successors();
		report_lost_updates();
	}
	for_each_visible([&](std::uint32_t transaction) {
		for (const Access &access : reader_.read(transaction, true)) {
			if (index_.lists())
				add_list_edges(access, transaction);
			else
				add_register_edges(access, transaction);
		}
	});
	if (options.sessions)
		add_sessions();
	if (options.real_time)
		add_real_time();
	return std::move(edges_);
}

/* Lists --------------------------------------------------------------------------------------------------------- */

/* Notes the order of each key's elements, and the transactions that come after them. */
void DependencyFinder::note_lists()
{
	std::vector<bool> read(index_.versions().size());
	for (std::uint32_t key = 0; key < index_.keys(); key++) {
		std::uint32_t before = Index::nobody;
		for (const std::uint32_t version : index_.order(key)) {
			const auto text = [&] {
				std::string found = fmt::format("in key {:#x}", index_.name_of_key(key));
				if (version != Index::nobody)
					found += fmt::format(": {:#x} of {}", index_.versions()[version].value,
						index_.history().describe(index_.versions()[version].transaction));
				return found;
			};
			if (version == Index::nobody) {
				findings_.add(cycles_check, "value from nowhere", text);
				continue;
			}
			if (read[version])
				findings_.add(cycles_check, "duplicate element", text);
			read[version] = true;
			if (index_.transaction(index_.versions()[version].transaction).outcome == Outcome::aborted)
				findings_.add(cycles_check, "G1a (aborted read)", text);
			const std::uint32_t writer = writer_of(version);
			add(before, writer, Dependency::ww, key);
			before = writer;
		}
	}
	for (std::uint32_t version = 0; version < read.size(); version++) {
		const std::uint32_t writer = writer_of(version), key = index_.versions()[version].key;
		if (read[version] || writer == Index::nobody || unread_[key].size() >= few)
			continue;
		unread_[key].push_back(writer);
		if (!index_.order(key).empty())
			add(writer_of(index_.order(key).back()), writer, Dependency::ww, key);
	}
}

void DependencyFinder::add_list_edges(const Access &access, std::uint32_t transaction)
{
	if (!access.reads)
		return;
	const std::span<const std::uint32_t> order = index_.order(access.key);
	if (access.seen > 0)
		add(writer_of(order[access.seen - 1]), transaction, Dependency::wr, access.key);
	if (access.seen < order.size()) {
		add(transaction, writer_of(order[access.seen]), Dependency::rw, access.key);
		return;
	}
	const auto unread = unread_.find(access.key);
	if (unread == unread_.end())
		return;
	for (const std::uint32_t writer : unread->second)
		add(transaction, writer, Dependency::rw, access.key);
}

/* Registers ----------------------------------------------------------------------------------------------------- */

DependencyFinder::Slot DependencyFinder::slot_of(const Access &access) const
{
	return access.seen < Index::initial ? access.seen
					    : static_cast<std::uint32_t>(index_.versions().size()) + access.key;
}

/* Notes which transactions overwrote the version that they had read, so that nothing can have come in between. */
void DependencyFinder::note_successors()
{
	erased_.resize(index_.keys());
	const std::span<const Operation> operations = index_.history().operations();
	/* Includes transactions of unknown outcome: an erase cannot be attributed. */
	for (const Transaction &of : index_.history().transactions()) {
		for (std::uint64_t i = of.first; i < of.first + of.count; i++) {
			if (operations[i].action == Action::erase && of.outcome != Outcome::aborted)
				erased_[index_.key_of(i)] = true;
		}
	}
	successor_.resize(index_.versions().size() + index_.keys(), Index::nobody);
	for_each_visible([&](std::uint32_t transaction) {
		for (const Access &access : reader_.read(transaction, false)) {
			if (access.writes())
				note_successor(access, transaction);
		}
	});
}

void DependencyFinder::note_successor(const Access &access, std::uint32_t transaction)
{
	/* If a key was erased, it is unknown which absence was read. */
	if (access.seen == Index::initial && erased_[access.key])
		return;
	if (!access.reads) {
		std::vector<std::uint32_t> &writers = blind_writers_[access.key];
		if (!erased_[access.key] && writers.size() < few)
			writers.push_back(transaction);
		return;
	}
	std::uint32_t &first = successor_[slot_of(access)];
	if (first == Index::nobody)
		first = transaction;
	else if (std::vector<std::uint32_t> &more = more_successors_[slot_of(access)]; more.size() < few)
		more.push_back(transaction);
}

void DependencyFinder::report_lost_updates()
{
	for (const auto &[slot, more] : more_successors_) {
		findings_.add(cycles_check, "lost update", [&, first = slot, others = std::span(more)] {
			const auto versions = static_cast<std::uint32_t>(index_.versions().size());
			const std::uint32_t key = first < versions ? index_.versions()[first].key : first - versions;
			std::string text = fmt::format("these have read the same of key {:#x} and overwritten it:\n{}",
				index_.name_of_key(key), index_.history().describe(successor_[first]));
			for (const std::uint32_t other : others)
				text += "\n" + index_.history().describe(other);
			return text;
		});
	}
}

void DependencyFinder::add_register_edges(const Access &access, std::uint32_t transaction)
{
	if (!access.reads || (access.seen == Index::initial && erased_[access.key]))
		return;
	const Slot slot = slot_of(access);
	const std::uint32_t writer = writer_of(access.seen);
	add(writer, transaction, Dependency::wr, access.key);
	if (access.writes())
		add(writer, transaction, Dependency::ww, access.key);
	add(transaction, successor_[slot], Dependency::rw, access.key);
	if (const auto more = more_successors_.find(slot); more != more_successors_.end()) {
		for (const std::uint32_t other : more->second)
			add(transaction, other, Dependency::rw, access.key);
	}
	if (access.seen != Index::initial)
		return;
	if (const auto blind = blind_writers_.find(access.key); blind != blind_writers_.end()) {
		for (const std::uint32_t other : blind->second)
			add(transaction, other, Dependency::rw, access.key);
	}
}

/* Order ----------------------------------------------------------------------------------------------------------- */

/*
 * A transaction of unknown outcome may take effect at any time after its invocation, so it precedes nothing by session
 * order.
 */
void DependencyFinder::add_sessions()
{
	std::uint32_t before = Index::nobody;
	for (const std::uint32_t next : index_.history().sessions()) {
		if (!index_.visible(next))
			continue;
		if (before != Index::nobody && index_.transaction(before).client == index_.transaction(next).client)
			add(before, next, Dependency::session);
		if (index_.transaction(next).outcome == Outcome::committed)
			before = next;
	}
}

/* Adds a chain of all responses: each comes after its transaction and before all later invocations. */
void DependencyFinder::add_real_time()
{
	std::vector<std::uint32_t> responses;
	for_each_visible([&](std::uint32_t transaction) {
		if (index_.transaction(transaction).outcome == Outcome::committed)
			responses.push_back(transaction);
	});
	const auto responded = [&](std::uint32_t transaction) { return index_.transaction(transaction).responded; };
	std::ranges::sort(responses, {}, responded);
	const std::uint32_t first = nodes_;
	nodes_ += static_cast<std::uint32_t>(responses.size());
	for (std::uint32_t i = 0; i < responses.size(); i++) {
		add(responses[i], first + i, Dependency::real_time);
		if (i > 0)
			add(first + i - 1, first + i, Dependency::real_time);
	}
	std::uint32_t before = 0; /* responses before the invocation; transactions are by invocation */
	for_each_visible([&](std::uint32_t transaction) {
		while (before < responses.size() &&
			responded(responses[before]) < index_.transaction(transaction).invoked)
			before++;
		if (before > 0)
			add(first + before - 1, transaction, Dependency::real_time);
	});
}

} // namespace prism::serializability
