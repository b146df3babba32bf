/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "atomic_store.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "random.hpp"

namespace prism::test
{

namespace
{

struct Planned {
	Operation operation;
	Timestamp effect = 0;
	bool happens = true;
};

Kind pick_kind(const StoreOptions &options, Random &random)
{
	if (random.chance(options.gets))
		return Kind::get;
	if (random.chance(options.erases))
		return Kind::erase;
	if (options.clears > 0 && random.chance(options.clears))
		return Kind::clear;
	if (random.chance(options.conditionals))
		return random.chance(70) ? Kind::conditional_put : Kind::conditional_erase;
	return Kind::put;
}

std::vector<Planned> plan(const StoreOptions &options, Random &random)
{
	std::vector<Planned> plan(options.operations);
	std::vector<Timestamp> free_at(options.clients, 1);
	for (std::uint64_t i = 0; i < options.operations; i++) {
		const auto client = static_cast<std::uint32_t>(i % options.clients);
		Planned &planned = plan[i];
		Operation &operation = planned.operation;
		operation.client = client;
		operation.key = random.below(options.keys);
		operation.kind = pick_kind(options, random);
		operation.invoked = free_at[client] + random.below(options.longest);
		planned.effect = operation.invoked + random.below(options.longest);
		operation.responded = planned.effect + random.below(options.longest);
		free_at[client] = operation.responded + 1;
		if (random.chance(options.unknown)) {
			operation.responded = never;
			planned.happens = random.chance(50);
			planned.effect += random.below(options.longest_late + 1);
		}
		if (operation.kind == Kind::put || operation.kind == Kind::conditional_put)
			operation.value = i + 1;
	}
	/* In the order in which they take effect; at the same moment, in the order of the clients. */
	std::ranges::stable_sort(plan, {}, &Planned::effect);
	return plan;
}

/* Executes the operation, and stores its answer in it. */
void execute(Operation &operation, Value &held)
{
	operation.outcome = Outcome::ok;
	switch (operation.kind) {
	case Kind::get:
		operation.value = held;
		operation.outcome = held == absent ? Outcome::not_found : Outcome::ok;
		break;
	case Kind::put:
		held = operation.value;
		break;
	case Kind::clear:
		held = absent;
		break;
	case Kind::erase:
		operation.outcome = held == absent ? Outcome::not_found : Outcome::ok;
		held = absent;
		break;
	default:
		if (held != operation.expected)
			operation.outcome = Outcome::mismatch;
		else
			held = operation.kind == Kind::conditional_put ? operation.value : absent;
	}
}

/* Operations of a history that are still to be ordered. */
struct Remaining {
	std::vector<Operation> operations;
	Value held = absent;
};

bool fits(const Operation &operation, Value &held)
{
	Operation again = operation;
	execute(again, held);
	return operation.outcome == Outcome::unknown ||
	       (again.outcome == operation.outcome && again.value == operation.value);
}

bool try_all(const Remaining &remaining)
{
	const auto certain = [](const Operation &operation) { return operation.outcome != Outcome::unknown; };
	if (std::ranges::none_of(remaining.operations, certain))
		return true;
	for (std::size_t i = 0; i < remaining.operations.size(); i++) {
		const Operation &candidate = remaining.operations[i];
		const auto before = [&](const Operation &other) {
			return certain(other) && other.responded < candidate.invoked;
		};
		if (std::ranges::any_of(remaining.operations, before))
			continue;
		Remaining rest = remaining;
		rest.operations.erase(rest.operations.begin() + static_cast<std::ptrdiff_t>(i));
		if (fits(candidate, rest.held) && try_all(rest))
			return true;
	}
	return false;
}

} // namespace

std::vector<Operation> simulate_store(const StoreOptions &options, std::uint64_t seed)
{
	Random random(seed);
	std::unordered_map<std::uint64_t, Value> store;
	std::map<std::pair<std::uint32_t, std::uint64_t>, Value> known; /* by client and key: its last value */
	std::vector<Operation> history;
	history.reserve(options.operations);
	for (Planned &planned : plan(options, random)) {
		Operation &operation = planned.operation;
		Value &seen = known[{operation.client, operation.key}];
		if (operation.kind == Kind::conditional_put || operation.kind == Kind::conditional_erase) {
			if (seen == absent) /* without a handle it is a get */
				operation = {.key = operation.key,
					.invoked = operation.invoked,
					.responded = operation.responded,
					.client = operation.client,
					.kind = Kind::get};
			operation.expected = seen;
		}
		if (planned.happens)
			execute(operation, store[operation.key]);
		if (operation.responded == never)
			operation.outcome = Outcome::unknown;
		else if (operation.kind == Kind::get)
			seen = operation.value;
		history.push_back(operation);
	}
	return history;
}

bool is_linearizable_by_trying(const std::vector<Operation> &history)
{
	return try_all({history, absent});
}

std::vector<Operation> random_history(std::uint64_t operations, std::uint64_t seed)
{
	Random random(seed);
	std::vector<Operation> history(operations);
	std::vector<Value> values{absent};
	for (Operation &operation : history) {
		operation.kind = random.pick({Kind::get, Kind::get, Kind::put, Kind::put, Kind::erase, Kind::clear,
			Kind::conditional_put, Kind::conditional_erase});
		if (operation.kind == Kind::put || operation.kind == Kind::conditional_put)
			values.push_back(operation.value = values.size());
	}
	const std::uint64_t span = random.between(4, 4 * operations);
	for (Operation &operation : history) {
		operation.invoked = random.between(1, span);
		operation.responded = operation.invoked + random.below(span / 2 + 1);
		operation.outcome = Outcome::ok;
		const Value other = values[random.below(values.size())];
		switch (operation.kind) {
		case Kind::get:
			operation.value = other;
			operation.outcome = other == absent ? Outcome::not_found : Outcome::ok;
			break;
		case Kind::erase:
			operation.outcome = random.pick({Outcome::ok, Outcome::ok, Outcome::not_found});
			break;
		case Kind::conditional_erase:
			operation.expected = values[random.below(values.size())];
			if (operation.expected == absent)
				operation.expected = values.size(); /* a value that is never put */
			operation.outcome = random.pick({Outcome::ok, Outcome::mismatch});
			break;
		case Kind::conditional_put:
			operation.expected = other;
			operation.outcome = random.pick({Outcome::ok, Outcome::mismatch});
			break;
		default:
			break;
		}
		if (random.chance(15)) {
			operation.outcome = Outcome::unknown;
			operation.responded = never;
		}
	}
	return history;
}

} // namespace prism::test
