/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "pairs.hpp"

#include <cerrno>

#include "../simulation/value.hpp"
#include "../support/recorded_operation.hpp"

namespace gam_history
{

using prism::apps::OperationKind;
using prism::test::Outcome;

Pairs::Pairs(Node &node, unsigned thread, prism::test::HistoryWriter writer)
	: node_(node), writer_(std::move(writer)), client_(node.life() * node.options().threads + thread),
	  random_(node.options().seed * 1000 + client_)
{
	prism::gam::TableCare care;
	care.writes_back = node.options().flaw != Flaw::early;
	auto table = prism::gam::TableClient::open(node.memory(), node.catalogue(), 1, care);
	if (table)
		table_ = *std::move(table);
	else
		node_.expects(table.error().code, "opening the table");
}

bool Pairs::act()
{
	if (!table_)
		return false;
	const std::uint64_t key = 1 + random_() % keys;
	prism::apps::Operation operation;
	operation.kind = random_() % 100 < node_.options().reads ? OperationKind::get
			 : random_() % 3                         ? OperationKind::put
								 : OperationKind::erase;
	const std::span value = std::span(value_).first(least_words + random_() % (most_words - least_words + 1));
	simulation::fill_value(simulation::name_of_value(client_, ++values_, value.size()), value);
	operation.key = std::as_bytes(std::span(&key, 1));
	operation.value = std::as_bytes(value);
	operation.result = std::as_writable_bytes(std::span(result_));
	const auto record = writer_.begin(prism::test::record_of(operation, client_));
	if (record == prism::test::HistoryWriter::none)
		return false;
	std::array<prism::apps::Operation *, 1> completed{};
	if (table_->start(operation) || table_->poll(completed) != 1)
		node_.fail("the table takes no operation");
	end(operation, record);
	return true;
}

/** Records the end. A failed operation may have happened. */
void Pairs::end(const prism::apps::Operation &operation, prism::test::HistoryWriter::Handle record)
{
	if (operation.outcome == prism::apps::Outcome::not_found) {
		writer_.end(record, Outcome::not_found);
	} else if (operation.outcome == prism::apps::Outcome::full) {
		node_.fail("the table is full");
	} else if (operation.outcome != prism::apps::Outcome::ok) {
		if (operation.error == EBADMSG || operation.error == EFAULT)
			node_.find("an entry that names no record of its key");
		else
			node_.expects(operation.error, "an operation on the table");
	} else {
		writer_.end(record, Outcome::ok, result_.front());
		const bool is_get = operation.kind == OperationKind::get;
		if (is_get && (operation.length > sizeof(result_) ||
				      !simulation::is_whole(std::as_bytes(std::span(result_)).first(operation.length))))
			node_.find("a value that nobody has put");
	}
}

} // namespace gam_history
