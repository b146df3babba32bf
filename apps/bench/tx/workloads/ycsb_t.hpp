/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>

#include <prism/result.hpp>

#include "bench/tx/workloads/workload.hpp"

namespace prism::tx
{

struct YcsbTOptions {
	std::uint64_t records = 100'000;
	std::size_t value_size = 512; /**< bytes, at least 16 */
	unsigned keys = 1;            /**< keys of a transaction, all different */
	double theta = 0;             /**< exponent of a Zipf distribution; 0: uniform */
	double read_only = 0;         /**< share of transactions that change nothing */
	bool numbered = false;        /**< a key is the record's number in host order, as numbered stores require */
};

/** Most keys of one transaction. */
constexpr unsigned most_ycsb_keys = 32;

/**
 * Makes YCSB-T as the PRISM paper has it: short transactions that read some objects, change them and write them back.
 * The version of each value counts its changes: the sum of all versions in the store is the number of committed
 * changes. Values are checked whenever they are read.
 * Errors: EINVAL, options that make no sense.
 */
[[nodiscard]] Result<std::unique_ptr<Workload>> make_ycsb_t(const YcsbTOptions &options);

} // namespace prism::tx
