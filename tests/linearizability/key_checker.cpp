/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "key_checker.hpp"

#include <algorithm>
#include <bit>

namespace prism::test
{

namespace
{

using Type = Step::Type;

/* Calls f(slot) for every bit of the mask. */
template <typename F>
void for_each_slot(std::uint64_t mask, F f)
{
	for (; mask != 0; mask &= mask - 1)
		f(static_cast<unsigned>(std::countr_zero(mask)));
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15;
	return a ^ (a >> 31);
}

} // namespace

std::size_t KeyChecker::Hash::operator()(const Configuration &configuration) const noexcept
{
	std::uint64_t hash = mix(configuration.done, configuration.state);
	hash = mix(hash, configuration.optional);
	hash = mix(hash, (std::uint64_t{configuration.sets_used} << 32) | configuration.takes_used);
	return mix(hash, configuration.unseen);
}

bool KeyChecker::possible(const Step &step, State state) const noexcept
{
	switch (step.type) {
	case Type::read:
	case Type::swap:
		return state == step.from;
	case Type::differs:
		return state != step.from;
	case Type::set:
		return true;
	case Type::take:
		return state != Step::nothing;
	}
	return false;
}

/* Does a step that changes the state; bit 0 if it has no slot. */
void KeyChecker::apply(Configuration &configuration, const Step &step, Mask bit) const
{
	configuration.done |= bit;
	configuration.optional &= ~bit;
	configuration.state = step.to;
	/* Other sets may have come just before this one. Not before a swap: it has seen the previous value. */
	if (step.type != Type::swap)
		configuration.optional |= sets_ & ~configuration.done;
	/* And if there is no value, a set to nothing changes nothing. */
	if (configuration.state == Step::nothing)
		configuration.optional |= clears_ & ~configuration.done;
}

/* Does steps that change nothing as soon as possible: that never prevents another step. */
bool KeyChecker::note_reads(Configuration &configuration) const
{
	Mask done = 0;
	for_each_slot(reads_ & ~configuration.done, [&](unsigned slot) {
		if (possible(steps_[in_slot_[slot]], configuration.state))
			done |= Mask{1} << slot;
	});
	configuration.done |= done;
	return done != 0;
}

bool KeyChecker::swap_waits_for(const Configuration &configuration) const noexcept
{
	bool waits = false;
	for_each_slot(swaps_ & ~configuration.done,
		[&](unsigned slot) { waits = waits || steps_[in_slot_[slot]].from == configuration.state; });
	return waits;
}

/* The steps of `same` are equivalent: the most urgent one stands for all. Returns its slot, or `slots` if none is left.
 */
unsigned KeyChecker::first_of(Mask same, const Configuration &configuration) const noexcept
{
	unsigned first = slots;
	for_each_slot(same & ~configuration.done, [&](unsigned slot) {
		if (first == slots || steps_[in_slot_[slot]].responded < steps_[in_slot_[first]].responded)
			first = slot;
	});
	return first;
}

bool KeyChecker::invoke(std::size_t index)
{
	const Step &step = steps_[index];
	if (!step.certain && step.type == Type::take) {
		unknown_takes_++;
		return true;
	}
	if (!step.certain && step.type == Type::set && step.to == Step::something) {
		unknown_sets_++;
		return true;
	}
	if (std::popcount(used_) >= static_cast<int>(slots) && !make_room(step.invoked))
		return false;
	const auto slot = static_cast<unsigned>(std::countr_one(used_));
	const Mask bit = Mask{1} << slot;
	used_ |= bit;
	in_slot_[slot] = index;
	if (step.type == Type::read || step.type == Type::differs)
		reads_ |= bit;
	else if (step.type == Type::set)
		sets_ |= bit;
	else if (step.type == Type::take)
		takes_ |= bit;
	else
		swaps_ |= bit;
	if (step.type == Type::set && step.to == Step::nothing)
		clears_ |= bit;
	if (!step.certain)
		uncertain_ |= bit;
	for (Configuration &configuration : configurations_) {
		if (!step.certain || ((clears_ & bit) && configuration.state == Step::nothing))
			configuration.optional |= bit;
		if ((reads_ & bit) && possible(step, configuration.state))
			configuration.done |= bit;
	}
	most_concurrent_ = std::max(most_concurrent_, static_cast<std::size_t>(std::popcount(used_ & ~uncertain_)));
	return true;
}

void KeyChecker::release_slot(unsigned slot)
{
	const Mask bit = Mask{1} << slot;
	for (Mask *mask : {&used_, &reads_, &sets_, &clears_, &takes_, &swaps_, &uncertain_})
		*mask &= ~bit;
	for (Configuration &configuration : configurations_) {
		configuration.done &= ~bit;
		configuration.optional &= ~bit;
	}
}

/* Returns true for a swap of unknown outcome, from a value that the key cannot have again. */
bool KeyChecker::is_dead_swap(const Step &step) const
{
	if (step.type != Type::swap || step.from == Step::nothing || sources_left_[step.from] != 0 ||
		uncertain_source_[step.from] != 0)
		return false;
	return std::ranges::none_of(
		configurations_, [&](const Configuration &configuration) { return configuration.state == step.from; });
}

/* Steps of unknown outcome never respond: frees their slots once they do not need them any more. */
bool KeyChecker::make_room(Timestamp time)
{
	for_each_slot(uncertain_, [&](unsigned slot) {
		const Step &step = steps_[in_slot_[slot]];
		const Mask bit = Mask{1} << slot;
		const bool certainly_done = std::ranges::all_of(configurations_,
			[&](const Configuration &configuration) { return (configuration.done & bit) != 0; });
		if (certainly_done || is_dead_swap(step)) {
			release_slot(slot);
		} else if (step.type == Type::set && last_look_[step.to] < time) {
			/* Its value no longer matters: now the set is one of those that are only counted. */
			unknown_sets_++;
			for (Configuration &configuration : configurations_)
				configuration.sets_used += (configuration.done & bit) != 0;
			release_slot(slot);
		}
	});
	prune();
	return std::popcount(used_) < static_cast<int>(slots);
}

void KeyChecker::look_at(const Configuration &configuration)
{
	if (seen_.insert(configuration).second)
		stack_.push_back(configuration);
}

/* A set is worth doing by itself only if its value is seen; otherwise it may stay optional. */
void KeyChecker::expand_set(const Configuration &before, Configuration after)
{
	const bool noticed = note_reads(after);
	const bool erasable = before.state == Step::nothing && after.state != Step::nothing &&
			      ((takes_ & ~before.done) != 0 || before.takes_used < unknown_takes_);
	if (!noticed && !erasable && !swap_waits_for(after))
		return;
	after.unseen = !noticed;
	look_at(after);
}

/* Expands the steps that are only counted. */
void KeyChecker::expand_unknown(const Configuration &configuration)
{
	if (configuration.sets_used < unknown_sets_ && !configuration.unseen) {
		Configuration after = configuration;
		after.sets_used++;
		apply(after, Step{.to = Step::something, .type = Type::set}, 0);
		expand_set(configuration, after);
	}
	if (configuration.takes_used < unknown_takes_ && configuration.state != Step::nothing) {
		Configuration after = configuration;
		after.takes_used++;
		after.unseen = false;
		apply(after, Step{.type = Type::take}, 0);
		if (note_reads(after) || swap_waits_for(after))
			look_at(after);
	}
}

/* Expands all possible next steps towards the response of the step in `slot`. */
void KeyChecker::expand_one(const Configuration &configuration, unsigned slot)
{
	const auto stand_in = [&](Mask same) {
		return same & (Mask{1} << slot) ? slot : first_of(same, configuration);
	};
	const unsigned take = stand_in(takes_), clear = stand_in(clears_);
	for_each_slot((sets_ | takes_ | swaps_) & ~configuration.done, [&](unsigned next) {
		const Step &step = steps_[in_slot_[next]];
		const Mask bit = Mask{1} << next;
		if (!possible(step, configuration.state) || ((takes_ & bit) && next != take) ||
			((clears_ & bit) && next != clear))
			return;
		if (configuration.unseen && step.type == Type::set)
			return;
		Configuration after = configuration;
		after.unseen = false;
		apply(after, step, bit);
		if (step.type == Type::set && next != slot) {
			expand_set(configuration, after);
			return;
		}
		note_reads(after);
		look_at(after);
	});
	expand_unknown(configuration);
}

/*
 * Adds the configurations that follow from `from` by other steps and then the one in `slot` to next_. False: too much
 * work.
 */
bool KeyChecker::expand(const Configuration &from, unsigned slot)
{
	const Mask bit = Mask{1} << slot;
	look_at(from);
	while (!stack_.empty()) {
		const Configuration configuration = stack_.back();
		stack_.pop_back();
		if (configuration.done & bit) {
			next_.push_back(configuration);
			next_.back().unseen = false;
			continue;
		}
		if (seen_.size() > effort_)
			return false;
		expand_one(configuration, slot);
	}
	return true;
}

KeyChecker::Result KeyChecker::respond(unsigned slot)
{
	const Mask bit = Mask{1} << slot;
	next_.clear();
	seen_.clear();
	for (const Configuration &configuration : configurations_) {
		if ((configuration.done | configuration.optional) & bit)
			next_.push_back(configuration);
		if (!(configuration.done & bit) && !expand(configuration, slot)) {
			stack_.clear();
			return Result::undecided;
		}
	}
	most_configurations_ = std::max(most_configurations_, std::max(seen_.size(), next_.size()));
	if (next_.empty()) {
		culprit_ = in_slot_[slot];
		return Result::violated;
	}
	configurations_.swap(next_);
	const Step &step = steps_[in_slot_[slot]];
	if (step.type != Type::read && step.type != Type::differs)
		sources_left_[step.to]--;
	release_slot(slot);
	prune();
	return Result::linearizable;
}

/* Returns true if everything that can follow b can follow a too. */
bool KeyChecker::dominates(const Configuration &a, const Configuration &b) const noexcept
{
	if (a.state != b.state || a.sets_used > b.sets_used || a.takes_used > b.takes_used)
		return false;
	const Mask changes = used_ & ~reads_;
	const Mask differ = ((a.done ^ b.done) | (a.optional ^ b.optional)) & changes;
	return (differ & ~a.optional) == 0 && (reads_ & b.done & ~a.done) == 0;
}

void KeyChecker::prune()
{
	if (configurations_.size() < 2)
		return;
	constexpr std::size_t few = 512;
	if (configurations_.size() > few) { /* comparing all with all would take longer than it saves */
		seen_.clear();
		std::erase_if(configurations_,
			[&](const Configuration &configuration) { return !seen_.insert(configuration).second; });
		return;
	}
	next_.clear();
	for (const Configuration &configuration : configurations_) {
		if (std::ranges::any_of(
			    next_, [&](const Configuration &other) { return dominates(other, configuration); }))
			continue;
		std::erase_if(next_, [&](const Configuration &other) { return dominates(configuration, other); });
		next_.push_back(configuration);
	}
	configurations_.swap(next_);
}

KeyChecker::Result KeyChecker::run(std::span<const Step> steps, State states, std::span<const State> initial)
{
	steps_ = steps;
	used_ = reads_ = sets_ = clears_ = takes_ = swaps_ = uncertain_ = 0;
	unknown_sets_ = unknown_takes_ = 0;
	last_look_.assign(states, 0);
	sources_left_.assign(states, 0);
	uncertain_source_.assign(states, 0);
	for (const Step &step : steps) {
		const bool looks = step.type == Type::read || step.type == Type::differs || step.type == Type::swap;
		if (looks)
			last_look_[step.from] = std::max(last_look_[step.from], step.responded);
		if (step.type == Type::read || step.type == Type::differs)
			continue;
		sources_left_[step.to] += step.certain;
		uncertain_source_[step.to] |= !step.certain;
	}
	configurations_.clear();
	for (const State state : initial)
		configurations_.push_back({.state = state});

	std::size_t next = 0;
	while (next < steps.size() || (used_ & ~uncertain_) != 0) {
		unsigned first = slots;
		for_each_slot(used_ & ~uncertain_, [&](unsigned slot) {
			if (first == slots || steps_[in_slot_[slot]].responded < steps_[in_slot_[first]].responded)
				first = slot;
		});
		/* Operations at the same time overlap. */
		if (next < steps.size() &&
			(first == slots || steps[next].invoked <= steps[in_slot_[first]].responded)) {
			if (!invoke(next++))
				return Result::undecided;
		} else if (const Result result = respond(first); result != Result::linearizable) {
			return result;
		}
	}
	return Result::linearizable;
}

} // namespace prism::test
