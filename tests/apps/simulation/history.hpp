/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../linearizability/history.hpp"

namespace simulation
{

/**
 * Operations of all clients during one life of a server, in the order in which they happened: this order, not the
 * clock, is the history's time.
 */
class History
{
public:
	/**
	 * Records the start of @p operation (kind, key, client, and as much of value and expected as is known); end()
	 * records its answer.
	 */
	std::size_t begin(prism::test::Operation operation)
	{
		operation.invoked = ++moment_;
		operations_.push_back(operation);
		return operations_.size() - 1;
	}

	/** Records the answer. Not called for an operation of unknown outcome. @p value: value that a get returned. */
	void end(std::size_t record, prism::test::Outcome outcome, prism::test::Value value = prism::test::absent)
	{
		prism::test::Operation &operation = operations_[record];
		operation.responded = ++moment_;
		operation.outcome = outcome;
		if (operation.kind == prism::test::Kind::get)
			operation.value = value;
	}

	/**
	 * Makes the operation a conditional put that expected @p found. For a conditional operation that found another
	 * value, and for a swap after the fact.
	 */
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
