/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Histories of a few transactions for the tests, and plain checks of them. */
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cycles.hpp"
#include "findings.hpp"
#include "history.hpp"
#include "index.hpp"
#include "random.hpp"
#include "replay.hpp"

namespace prism::serializability
{

/** The operations of one transaction, to be given to Small. */
using Operations = Draft;

/** A history made in a test. Each transaction has a client of its own unless the test sets one. */
class Small
{
public:
	explicit Small(HistoryKind kind) : kind_(kind) {}

	/** Adds a transaction. Stamps are the numbers of the transactions from 1 on, in the order of the calls; so are
	 * their times, times 10. */
	Draft &add(const Operations &operations, Outcome outcome = Outcome::committed)
	{
		Draft draft = operations;
		const std::uint64_t number = drafts_.size() + 1;
		draft.client = static_cast<std::uint32_t>(number);
		draft.sequence = number;
		draft.stamp = {number, 1};
		draft.invoked = number * 10;
		draft.outcome = outcome;
		draft.responded = outcome == Outcome::unknown ? 0 : number * 10 + 5;
		drafts_.push_back(draft);
		return drafts_.back();
	}

	[[nodiscard]] const std::vector<Draft> &drafts() const { return drafts_; }
	[[nodiscard]] std::vector<Draft> &drafts() { return drafts_; }

	[[nodiscard]] Result<History> history() const
	{
		HistoryBuilder builder(kind_);
		for (const Draft &draft : drafts_) {
			if (auto added = builder.add(draft); !added)
				return added.error();
		}
		return builder.finish();
	}

	[[nodiscard]] Findings replayed() const
	{
		Findings findings;
		const auto history = this->history();
		const auto index = Index::make(history.value());
		replay(index.value(), findings);
		return findings;
	}

	[[nodiscard]] Findings searched(const CycleOptions &options = {}) const
	{
		Findings findings;
		const auto history = this->history();
		const auto index = Index::make(history.value());
		check_cycles(index.value(), options, findings);
		return findings;
	}

	/** Returns true if every read is right when the drafts run in this order. All must be committed. */
	[[nodiscard]] bool explains(const std::vector<std::size_t> &order) const
	{
		std::map<std::uint64_t, std::vector<Value>> state;
		for (const std::size_t i : order) {
			const Draft &draft = drafts_[i];
			for (const Operation &operation : draft.operations) {
				std::vector<Value> &held = state[operation.key];
				if (operation.action == Action::append) {
					held.push_back(operation.value);
				} else if (operation.action != Action::read) {
					held.assign(operation.action == Action::write ? 1 : 0, operation.value);
				} else if (read_by(draft, operation) != held) {
					return false;
				}
			}
		}
		return true;
	}

	/** Returns true if some order of the drafts explains them. */
	[[nodiscard]] bool serializable() const
	{
		std::vector<std::size_t> order(drafts_.size());
		std::iota(order.begin(), order.end(), 0U);
		do {
			if (explains(order))
				return true;
		} while (std::ranges::next_permutation(order).found);
		return false;
	}

private:
	[[nodiscard]] std::vector<Value> read_by(const Draft &draft, const Operation &read) const
	{
		if (kind_ == HistoryKind::lists) {
			const auto first = draft.elements.begin() + static_cast<std::ptrdiff_t>(read.value);
			return {first, first + read.length};
		}
		return std::vector<Value>(read.value == absent ? 0 : 1, read.value);
	}

	HistoryKind kind_;
	std::vector<Draft> drafts_;
};

inline std::string text_of(const Findings &findings)
{
	std::string text;
	for (const Finding &finding : findings.kept())
		text += finding.check + ": " + finding.name + "\n" + finding.text + "\n";
	return text.empty() ? "no findings" : text;
}

/**
 * Returns a few transactions on two keys, some of which see old values, and a last one that reads all. A transaction
 * that changes a register has read it.
 */
inline Small random_history(HistoryKind kind, std::uint64_t seed)
{
	test::Random random(seed);
	Small small(kind);
	std::vector<std::vector<Value>> values(2); /* by key, all values that ever existed */
	const auto see = [&](Draft &draft, std::uint64_t key, double stale) {
		std::size_t length = values[key].size();
		if (random.chance(stale))
			length = random.below(length + 1);
		if (kind == HistoryKind::lists)
			draft.read_list(key, std::span(values[key]).first(length));
		else
			draft.read(key, length == 0 ? absent : values[key][length - 1]);
	};
	const std::uint64_t count = random.between(2, 5);
	for (std::uint64_t i = 1; i <= count; i++) {
		Draft draft;
		for (const std::uint64_t key : {0, 1}) {
			const bool changes = random.chance(50);
			if ((changes && kind == HistoryKind::registers) || random.chance(60))
				see(draft, key, 30);
			if (!changes)
				continue;
			const Value value =
				unique_value(static_cast<std::uint32_t>(i), i, static_cast<std::uint32_t>(key));
			if (kind == HistoryKind::lists)
				draft.append(key, value);
			else
				draft.write(key, value);
			values[key].push_back(value);
		}
		small.add(draft);
	}
	Draft last;
	see(last, 0, 0);
	see(last, 1, 0);
	small.add(last);
	return small;
}

} // namespace prism::serializability
