/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>

#include <prism/result.hpp>

#include "bench/tx/workloads/workload.hpp"

namespace prism::tx
{

struct TpccOptions {
	std::uint32_t warehouses = 1;
	std::uint32_t items = 100'000;
	std::uint32_t customers = 3000; /**< of each district, of which a warehouse has ten */
	double remote_items = 0.01;     /**< share of an order's lines that another warehouse supplies */
	double remote_payments = 0.15;  /**< share of payments by customers of another warehouse */
	double rollbacks = 0.01;        /**< share of orders with an item that does not exist */
};

/**
 * Makes TPC-C's NewOrder and Payment, 45 to 43 as in the standard's mix (clauses 2.4, 2.5, 5.2.3), with the tables that
 * they use. It differs from the standard:
 * - a customer's last name is looked up in records of an index, one for each name and district, which has the numbers
 * of those customers in the order of their first names. Loading makes them, as nobody changes names. Payment by name
 * reads this record with the warehouse and the district, then the customer: one round trip more than by number;
 * - a history record has a key: the customer and the number of the payment, so that checks find all of them;
 * - no orders are there at first, as neither transaction reads them; the items of an order differ from each other;
 * - a client is a terminal of one warehouse, its number modulo the warehouses, which neither thinks nor types.
 * Errors: EINVAL, options that make no sense.
 */
[[nodiscard]] Result<std::unique_ptr<Workload>> make_tpcc(const TpccOptions &options);

} // namespace prism::tx
