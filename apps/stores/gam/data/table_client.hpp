/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "common/store_client.hpp"
#include "gam/data/table.hpp"

namespace prism::gam
{

/**
 * A hash table as a store for workloads. Its sessions wait for their blocks, so each operation has ended when start()
 * returns; poll() returns it to the caller, and answers other nodes.
 */
class TableClient final : public apps::StoreClient
{
public:
	/** Opens the table of @p catalogue. Errors: those of Table::open(). */
	static Result<std::unique_ptr<TableClient>> open(
		Node &node, Address catalogue, std::size_t depth = 1, const TableCare &care = {});

	[[nodiscard]] std::size_t depth() const noexcept override { return depth_; }
	int start(apps::Operation &operation) noexcept override;
	std::size_t poll(std::span<apps::Operation *> completed) noexcept override;
	/** Returns true if the node is no longer a member. */
	[[nodiscard]] bool has_ended() const noexcept override { return node_.lease_is_over(); }

private:
	TableClient(Node &node, std::unique_ptr<Session> session, Table table, std::size_t depth);

	Node &node_;
	const std::unique_ptr<Session> session_;
	Table table_;
	const std::size_t depth_;
	std::vector<apps::Operation *> ended_;
};

} // namespace prism::gam
