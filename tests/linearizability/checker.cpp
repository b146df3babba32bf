/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "checker.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

#include <fmt/core.h>

#include "key_checker.hpp"

namespace prism::test
{

namespace
{

using Operations = std::span<const Operation>;

bool is_conditional(const Operation &operation)
{
	return operation.kind == Kind::conditional_put || operation.kind == Kind::conditional_erase;
}

bool writes_value(const Operation &operation)
{
	return operation.kind == Kind::put || operation.kind == Kind::conditional_put;
}

bool allowed(Kind kind, Outcome outcome)
{
	if (outcome == Outcome::unknown || outcome == Outcome::ok || outcome == Outcome::no_effect)
		return kind >= Kind::get && kind <= Kind::clear;
	if (outcome == Outcome::not_found)
		return kind >= Kind::get && kind <= Kind::conditional_erase && kind != Kind::put;
	return outcome == Outcome::mismatch && (kind == Kind::conditional_put || kind == Kind::conditional_erase);
}

/* Returns true if it changed the key, or may have. */
bool changes(const Operation &operation)
{
	return operation.kind != Kind::get && operation.outcome != Outcome::not_found &&
	       operation.outcome != Outcome::mismatch;
}

/* Returns true if nothing that is known of it constrains the others. */
bool says_nothing(const Operation &operation)
{
	return operation.outcome == Outcome::no_effect ||
	       (operation.outcome == Outcome::unknown && operation.kind == Kind::get);
}

/* Values that some operation observes, numbered: all other values are equivalent. */
class States
{
public:
	explicit States(Operations operations)
	{
		for (const Operation &operation : operations) {
			if (operation.kind == Kind::get && operation.outcome == Outcome::ok)
				values_.push_back(operation.value);
			if (is_conditional(operation) && operation.expected != absent)
				values_.push_back(operation.expected);
		}
		std::ranges::sort(values_);
		values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
	}

	[[nodiscard]] Step::State number(Value value) const
	{
		if (value == absent)
			return Step::nothing;
		const auto place = std::ranges::lower_bound(values_, value);
		if (place == values_.end() || *place != value)
			return Step::something;
		return static_cast<Step::State>(2 + (place - values_.begin()));
	}

	[[nodiscard]] Step::State count() const { return static_cast<Step::State>(2 + values_.size()); }

	[[nodiscard]] std::span<const Value> values() const { return values_; }

private:
	std::vector<Value> values_;
};

Step to_step(const Operation &operation, const States &states)
{
	Step step{.invoked = operation.invoked, .responded = operation.responded};
	if (operation.outcome == Outcome::unknown) {
		step.responded = never;
		step.certain = false;
	}
	if (!changes(operation)) {
		step.type = operation.outcome == Outcome::mismatch ? Step::Type::differs : Step::Type::read;
		if (operation.outcome == Outcome::mismatch)
			step.from = states.number(operation.expected);
		else if (operation.outcome == Outcome::ok)
			step.from = states.number(operation.value);
		return step;
	}
	if (writes_value(operation))
		step.to = states.number(operation.value);
	if (is_conditional(operation)) {
		step.type = Step::Type::swap;
		step.from = states.number(operation.expected);
	} else {
		/* A clear that may never have happened matters only if there is a value to take. */
		const bool takes = operation.kind == Kind::erase || (operation.kind == Kind::clear && !step.certain);
		step.type = takes ? Step::Type::take : Step::Type::set;
	}
	return step;
}

std::string malformation(const Operation &operation)
{
	if (!allowed(operation.kind, operation.outcome))
		return "an operation of that kind cannot end so";
	if (operation.outcome != Outcome::unknown && operation.responded == never)
		return "the outcome is known, the response time is not";
	if (operation.responded < operation.invoked)
		return "responded before it was invoked";
	if (writes_value(operation) && operation.value == absent)
		return "a put of 0, which stands for absence";
	if (operation.kind == Kind::get && operation.outcome == Outcome::ok && operation.value == absent)
		return "a get found 0, which stands for absence";
	if (operation.kind == Kind::conditional_erase && operation.expected == absent)
		return "an erase on the condition of absence";
	if (operation.kind == Kind::conditional_put && operation.expected == absent &&
		operation.outcome == Outcome::not_found)
		return "a put on the condition of absence that failed because of absence";
	return {};
}

std::optional<Finding> find_malformed(Operations operations)
{
	std::vector<Operation> puts;
	for (const Operation &operation : operations) {
		if (std::string reason = malformation(operation); !reason.empty())
			return Finding{operation.key, Verdict::malformed, std::move(reason), {operation}};
		const bool may_have_written = operation.outcome == Outcome::ok || operation.outcome == Outcome::unknown;
		if (writes_value(operation) && may_have_written)
			puts.push_back(operation);
	}
	std::ranges::sort(puts, {}, &Operation::value);
	const auto twice = std::ranges::adjacent_find(puts, {}, &Operation::value);
	if (twice == puts.end())
		return std::nullopt;
	return Finding{twice->key, Verdict::malformed, "two puts of the same value", {twice[0], twice[1]}};
}

/* Operations of one key that no order explains. */
class Window
{
public:
	Window(Operations operations, std::size_t culprit, const CheckOptions &options)
		: operations_(operations.begin(), operations.end()), options_(options)
	{
		const Timestamp end = operations[culprit].responded;
		std::erase_if(operations_, [&](const Operation &operation) { return operation.invoked > end; });
	}

	/** Returns the smallest part of the history that still shows the violation. */
	std::vector<Operation> smallest()
	{
		std::size_t good = operations_.size(), bad = 0;
		for (std::size_t length = 2; length < operations_.size(); length *= 2) {
			if (is_violated(from(operations_.size() - length))) {
				bad = operations_.size() - length;
				break;
			}
			good = operations_.size() - length;
		}
		while (bad + 1 < good) {
			const std::size_t middle = bad + (good - bad) / 2;
			(is_violated(from(middle)) ? bad : good) = middle;
		}
		std::vector<Operation> window = from(bad);
		cut_at_ = operations_[bad].invoked;
		if (window.size() <= options_.shrink_below)
			drop_reads(window);
		return window;
	}

private:
	/*
	 * Returns all operations from the invocation of operations_[first] on, and those that had not responded then.
	 */
	std::vector<Operation> from(std::size_t first)
	{
		cut_at_ = operations_[first].invoked;
		std::vector<Operation> window;
		for (std::size_t i = 0; i < operations_.size(); i++) {
			Operation operation = operations_[i];
			if (i < first && operation.responded < cut_at_)
				continue;
			if (i < first) {
				if (!changes(operation))
					continue;
				operation.outcome = Outcome::unknown;
			}
			window.push_back(operation);
		}
		return window;
	}

	/* Returns the states that the key may have at the start of the window: all values put before, or being put. */
	std::vector<Step::State> initial_states(const States &states) const
	{
		std::vector<Step::State> initial{Step::nothing};
		if (operations_.front().invoked == cut_at_)
			return initial;
		initial.push_back(Step::something);
		for (const Operation &operation : operations_) {
			if (operation.invoked > cut_at_)
				break;
			if (!writes_value(operation))
				continue;
			if (const Step::State state = states.number(operation.value); state > Step::something)
				initial.push_back(state);
		}
		return initial;
	}

	bool is_violated(const std::vector<Operation> &window) const
	{
		const States states(window);
		std::vector<Step> steps;
		for (const Operation &operation : window)
			steps.push_back(to_step(operation, states));
		KeyChecker checker(options_.effort);
		return checker.run(steps, states.count(), initial_states(states)) == KeyChecker::Result::violated;
	}

	/* Reads change nothing, so those that are not needed to show the violation are dropped; the last ones stay. */
	void drop_reads(std::vector<Operation> &window) const
	{
		for (std::size_t i = 0; i < window.size();) {
			const Operation candidate = window[i];
			if (!changes(candidate)) {
				window.erase(window.begin() + static_cast<std::ptrdiff_t>(i));
				if (is_violated(window))
					continue;
				window.insert(window.begin() + static_cast<std::ptrdiff_t>(i), candidate);
			}
			i++;
		}
	}

	std::vector<Operation> operations_;
	const CheckOptions &options_;
	Timestamp cut_at_ = 0;
};

std::string reason_of(Operations operations, const Operation &culprit)
{
	if (culprit.kind != Kind::get || culprit.outcome != Outcome::ok)
		return fmt::format("nothing explains: {}", describe(culprit));
	const auto source = std::ranges::find_if(operations, [&](const Operation &operation) {
		return writes_value(operation) && operation.value == culprit.value;
	});
	if (source == operations.end())
		return fmt::format("value from nowhere: {}", describe(culprit));
	if (source->invoked > culprit.responded)
		return fmt::format("value from the future: {}", describe(culprit));
	return fmt::format("nothing explains: {}", describe(culprit));
}

/* Checks one key; `operations` are by invocation. */
std::optional<Finding> check_key(Operations operations, const CheckOptions &options, bool explain, CheckReport &report)
{
	if (std::optional<Finding> malformed = find_malformed(operations))
		return malformed;
	std::vector<Operation> telling(operations.begin(), operations.end());
	std::erase_if(telling, says_nothing);
	for (Operation &operation : telling) {
		if (operation.outcome == Outcome::unknown)
			operation.responded = never;
	}
	const States states(telling);
	std::vector<Step> steps;
	steps.reserve(telling.size());
	for (const Operation &operation : telling)
		steps.push_back(to_step(operation, states));

	KeyChecker checker(options.effort);
	const Step::State initially = Step::nothing;
	const KeyChecker::Result result = checker.run(steps, states.count(), {&initially, 1});
	report.most_concurrent = std::max(report.most_concurrent, checker.most_concurrent());
	report.most_configurations = std::max(report.most_configurations, checker.most_configurations());
	if (result == KeyChecker::Result::linearizable)
		return std::nullopt;
	Finding finding{operations.front().key, Verdict::undecided, "too many operations at a time", {}};
	if (result == KeyChecker::Result::violated) {
		finding.verdict = Verdict::violated;
		finding.reason = reason_of(telling, telling[checker.culprit()]);
		if (explain)
			finding.window = Window(telling, checker.culprit(), options).smallest();
	}
	return finding;
}

/* Returns the verdict to report of two. */
Verdict worse(Verdict a, Verdict b)
{
	for (const Verdict verdict : {Verdict::violated, Verdict::malformed, Verdict::undecided}) {
		if (a == verdict || b == verdict)
			return verdict;
	}
	return Verdict::linearizable;
}

} // namespace

std::string describe(const Finding &finding, std::string_view place)
{
	std::string text =
		fmt::format("{} {:#x}: {}: {}", place, finding.key, name_of(finding.verdict), finding.reason);
	for (const Operation &operation : finding.window)
		text += "\n    " + describe(operation);
	return text;
}

std::string_view name_of(Verdict verdict) noexcept
{
	switch (verdict) {
	case Verdict::linearizable:
		return "linearizable";
	case Verdict::violated:
		return "not linearizable";
	case Verdict::malformed:
		return "malformed";
	case Verdict::undecided:
		return "undecided";
	}
	return "?";
}

CheckReport check(std::vector<Operation> history, const CheckOptions &options)
{
	std::ranges::sort(history, {}, [](const Operation &operation) {
		return std::tuple(operation.key, operation.invoked, operation.responded);
	});
	CheckReport report;
	report.operations = history.size();
	for (std::size_t first = 0, last = 0; first < history.size(); first = last) {
		while (last < history.size() && history[last].key == history[first].key)
			last++;
		report.keys++;
		const bool explain = report.findings.size() < options.findings;
		std::optional<Finding> finding =
			check_key(Operations(history).subspan(first, last - first), options, explain, report);
		if (!finding)
			continue;
		report.bad_keys++;
		report.verdict = worse(report.verdict, finding->verdict);
		if (explain)
			report.findings.push_back(std::move(*finding));
	}
	return report;
}

} // namespace prism::test
