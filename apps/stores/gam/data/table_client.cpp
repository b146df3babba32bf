/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/data/table_client.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace prism::gam
{

TableClient::TableClient(Node &node, std::unique_ptr<Session> session, Table table, std::size_t depth)
	: node_(node), session_(std::move(session)), table_(std::move(table)), depth_(depth)
{
	ended_.reserve(depth);
}

Result<std::unique_ptr<TableClient>> TableClient::open(
	Node &node, Address catalogue, std::size_t depth, const TableCare &care)
{
	auto session = std::make_unique<Session>(node);
	Result<Table> table = Table::open(*session, catalogue, care);
	if (!table)
		return table.error();
	/* The constructor is private: no make_unique. */
	return std::unique_ptr<TableClient>(new TableClient(node, std::move(session), *std::move(table), depth));
}

int TableClient::start(apps::Operation &operation) noexcept
{
	if (ended_.size() == depth_)
		return EAGAIN;
	const bool puts = operation.kind == apps::OperationKind::put;
	if (!Table::possible(operation.key.size(), puts ? operation.value.size() : 0))
		return EINVAL;
	table_.run(operation);
	ended_.push_back(&operation);
	return 0;
}

std::size_t TableClient::poll(std::span<apps::Operation *> completed) noexcept
{
	if (ended_.empty())
		(void)session_->poll();
	const std::size_t count = std::min(completed.size(), ended_.size());
	std::copy_n(ended_.begin(), count, completed.begin());
	ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(count));
	return count;
}

} // namespace prism::gam
