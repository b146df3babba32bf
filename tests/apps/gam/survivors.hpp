/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Part of a history that must be explained after nodes have died: docs/prism-gam.md, "Deaths". A dead node's writes
 * that nobody has fetched are lost: a write of it that no other node has seen happened at some time or never, and its
 * reads of its own values do not count. All else counts: operations of live nodes, what these saw of the dead, and what
 * the dead got from others.
 */
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "../../linearizability/history.hpp"

namespace gam_test
{

/**
 * @p node_of: returns the life of the node that a client is a thread of.  @p has_died: returns true if that life has
 * ended. @p kept: values that their writers wrote back before they died; they count as seen.
 */
template <typename NodeOf, typename HasDied>
class Survivors
{
public:
	using Operation = prism::test::Operation;
	using Kind = prism::test::Kind;
	using Outcome = prism::test::Outcome;
	using Value = prism::test::Value;

	Survivors(const std::vector<Operation> &history, const NodeOf &node_of, const HasDied &has_died,
		const std::unordered_set<Value> &kept)
		: node_of_(node_of), has_died_(has_died)
	{
		for (const Operation &operation : history) {
			if (operation.kind != Kind::get)
				writes_.emplace(operation.value, operation);
		}
		for (const Operation &operation : history) {
			if (!is_lost(operation))
				see(looked_at(operation));
		}
		for (const Value value : kept)
			see(value);
	}

	/** Returns the part of @p operation that counts, if any. */
	[[nodiscard]] std::optional<Operation> survivor(Operation operation) const
	{
		if (!is_lost(operation) || seen_.contains(operation.value))
			return operation;
		if (operation.kind == Kind::get || operation.outcome == Outcome::mismatch ||
			operation.outcome == Outcome::no_effect)
			return std::nullopt;
		operation.kind = Kind::put; /* the value that it found is lost, too */
		operation.outcome = Outcome::unknown;
		operation.responded = prism::test::never;
		return operation;
	}

private:
	/** Returns true if the operation is lost unless somebody has seen the value that it wrote. */
	[[nodiscard]] bool is_lost(const Operation &operation) const
	{
		if (!has_died_(node_of_(operation.client)))
			return false;
		if (operation.kind != Kind::get)
			return true;
		const auto write = writes_.find(operation.value);
		return write != writes_.end() && node_of_(write->second.client) == node_of_(operation.client);
	}
	[[nodiscard]] static Value looked_at(const Operation &operation)
	{
		if (operation.outcome != Outcome::ok)
			return prism::test::absent;
		return operation.kind == Kind::get ? operation.value : operation.expected;
	}
	/** Marks @p value as seen. Seeing a conditional change implies that its condition was seen, too. */
	void see(Value value)
	{
		while (value != prism::test::absent && seen_.insert(value).second) {
			const auto write = writes_.find(value);
			const bool has_condition =
				write != writes_.end() && write->second.kind == Kind::conditional_put;
			value = has_condition ? write->second.expected : prism::test::absent;
		}
	}

	const NodeOf &node_of_;
	const HasDied &has_died_;
	std::unordered_map<Value, Operation> writes_;
	std::unordered_set<Value> seen_;
};

template <typename NodeOf, typename HasDied>
std::vector<prism::test::Operation> survivors(const std::vector<prism::test::Operation> &history, const NodeOf &node_of,
	const HasDied &has_died, const std::unordered_set<prism::test::Value> &kept = {})
{
	const Survivors<NodeOf, HasDied> all(history, node_of, has_died, kept);
	std::vector<prism::test::Operation> left;
	for (const prism::test::Operation &operation : history) {
		if (const auto survivor = all.survivor(operation))
			left.push_back(*survivor);
	}
	return left;
}

} // namespace gam_test
