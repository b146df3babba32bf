/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a history must still explain when nodes have died: docs/prism-gam.md, "Deaths". The writes of a dead node that
 * nobody has fetched are lost, so each of its writes has happened at some time or never. What it has read of them is
 * nobody's business. All else counts: what living nodes did, and what the dead had from others.
 */
#pragma once

#include <unordered_map>
#include <vector>

#include "../../linearizability/history.hpp"

namespace gam_test
{

/** @p node_of: the life of a node that a client is a thread of.  @p has_died: whether that has died. */
template <typename NodeOf, typename HasDied>
std::vector<prism::test::Operation> survivors(
	const std::vector<prism::test::Operation> &history, const NodeOf &node_of, const HasDied &has_died)
{
	using namespace prism::test;
	std::unordered_map<Value, std::uint32_t> writers; /* clients */
	for (const Operation &operation : history) {
		if (operation.kind != Kind::get)
			writers.emplace(operation.value, operation.client);
	}
	const auto is_own = [&](const Operation &get) {
		const auto writer = writers.find(get.value);
		return writer != writers.end() && node_of(writer->second) == node_of(get.client);
	};
	std::vector<Operation> kept;
	for (Operation operation : history) {
		if (has_died(node_of(operation.client))) {
			const bool took_effect =
				operation.outcome == Outcome::ok || operation.outcome == Outcome::unknown;
			if (operation.kind == Kind::get ? is_own(operation) : !took_effect)
				continue;
			if (operation.kind != Kind::get) {
				operation.outcome = Outcome::unknown;
				operation.responded = never;
			}
		}
		kept.push_back(operation);
	}
	return kept;
}

} // namespace gam_test
