/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "workload.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace prism::tx
{

Body body_of(Program &program)
{
	return [&program](Transaction &transaction) { return program.run(transaction); };
}

void Totals::add(Outcome outcome, const Effects &effects) noexcept
{
	if (outcome != Outcome::committed && outcome != Outcome::unknown)
		return;
	const bool certain = outcome == Outcome::committed;
	for (std::size_t i = 0; i < effects.size(); i++) {
		lowest[i] += certain ? effects[i] : std::min<std::int64_t>(effects[i], 0);
		highest[i] += certain ? effects[i] : std::max<std::int64_t>(effects[i], 0);
	}
}

void Totals::merge(const Totals &other) noexcept
{
	for (std::size_t i = 0; i < lowest.size(); i++) {
		lowest[i] += other.lowest[i];
		highest[i] += other.highest[i];
	}
}

void Findings::add(std::string text)
{
	if (count_++ < most_texts)
		texts_.push_back(std::move(text));
}

Findings compare(const Workload &workload, const Survey &before, const Survey &after, const Totals &totals)
{
	Findings findings = after.findings;
	for (std::size_t i = 0; i < workload.sums().size(); i++) {
		const std::int64_t change = after.sums[i] - before.sums[i];
		if (change >= totals.lowest[i] && change <= totals.highest[i])
			continue;
		findings.add(fmt::format("{}: the store has changed by {}, its transactions by {}", workload.sums()[i],
			change,
			totals.lowest[i] == totals.highest[i]
				? fmt::format("{}", totals.lowest[i])
				: fmt::format("{} to {}", totals.lowest[i], totals.highest[i])));
	}
	return findings;
}

apps::Task<int> LoadProgram::run(Transaction &transaction)
{
	for (const Record &record : records_) {
		if (const int error = transaction.write(record.key, record.value))
			co_return error;
	}
	co_return 0;
}

} // namespace prism::tx
