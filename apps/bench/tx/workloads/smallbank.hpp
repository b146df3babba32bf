/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>

#include <prism/result.hpp>

#include "bench/tx/workloads/workload.hpp"

namespace prism::tx
{

struct SmallBankOptions {
	std::uint64_t accounts = 100'000;  /**< customers: each has a savings and a checking account */
	double hot_share = 0.9;            /**< share of the transactions that go to hot customers */
	std::uint64_t hot_accounts = 4000; /**< number of hot customers */
	bool numbered = false; /**< keys are numbers in host order: twice the customer, plus 1 for savings */
};

/**
 * Makes SmallBank (Alomari et al., ICDE '08): Balance, DepositChecking, TransactSavings, Amalgamate, WriteCheck and
 * SendPayment, 15 % each but 25 % of the last one. A customer is known by number: there is no table of names to search.
 * Other measurements of stores in remote memory (FaSST, DrTM) do the same; the usual hot spot also is from them. The
 * sum of all balances changes only by money that comes into or goes out of the bank.
 * Errors: EINVAL, options that make no sense.
 */
[[nodiscard]] Result<std::unique_ptr<Workload>> make_smallbank(const SmallBankOptions &options);

} // namespace prism::tx
