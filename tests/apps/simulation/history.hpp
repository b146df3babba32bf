/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../linearizability/history.hpp"

namespace simulation
{

/** What all clients of one life of a server did, in the order in which it happened: that, not the clock, is its time.
 */
class History
{
public:
	/** @p operation: kind, key, client, and what is known of value and expected. The answer is for end(). */
	std::size_t begin(prism::test::Operation operation)
	{
		operation.invoked = ++moment_;
		operations_.push_back(operation);
		return operations_.size() - 1;
	}

	/** Never for an operation whose outcome is not known. @p value: what a get returned. */
	void end(std::size_t record, prism::test::Outcome outcome, prism::test::Value value = prism::test::absent)
	{
		prism::test::Operation &operation = operations_[record];
		operation.responded = ++moment_;
		operation.outcome = outcome;
		if (operation.kind == prism::test::Kind::get)
			operation.value = value;
	}

	/** What a conditional operation has found there, which was not its condition: a swap is one after the fact. */
	void expect(std::size_t record, prism::test::Value found)
	{
		operations_[record].kind = prism::test::Kind::conditional_put;
		operations_[record].expected = found;
	}

	[[nodiscard]] const std::vector<prism::test::Operation> &operations() const noexcept { return operations_; }

private:
	std::vector<prism::test::Operation> operations_;
	std::uint64_t moment_ = 0;
};

} // namespace simulation
