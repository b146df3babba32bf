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
	double hot_share = 0.9;            /**< of the transactions, that go to hot customers */
	std::uint64_t hot_accounts = 4000; /**< how many of them there are */
	bool numbered = false; /**< keys are numbers in host order: twice the customer, plus 1 for savings */
};

/**
 * SmallBank (Alomari et al., ICDE '08): Balance, DepositChecking, TransactSavings, Amalgamate, WriteCheck and
 * SendPayment, 15 % each but 25 % of the last one. A customer is known by number: there is no table of names to look
 * into, as in other measurements of stores in remote memory (FaSST, DrTM), from which the usual hot spot also is.
 * The sum of all balances changes only by what comes in or goes out of the bank.
 * Errors: EINVAL, options that make no sense.
 */
[[nodiscard]] Result<std::unique_ptr<Workload>> make_smallbank(const SmallBankOptions &options);

} // namespace prism::tx
