/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Search for one key: follows the history and keeps every possible configuration of the key. */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "history.hpp"

namespace prism::test
{

/** Effect of an operation with its answer on the key's state, values being numbered. */
struct Step {
	/** absent is 0, and any value that is never observed is 1. */
	using State = std::uint32_t;
	static constexpr State nothing = 0;
	static constexpr State something = 1;

	enum class Type : std::uint8_t {
		read,    /**< the state is `from` */
		differs, /**< the state is not `from` */
		set,     /**< becomes `to`, which may be absent if the step is certain */
		take,    /**< was not absent, becomes absent */
		swap,    /**< was `from`, becomes `to` */
	};

	Timestamp invoked = 0;
	Timestamp responded = never;
	State from = nothing;
	State to = nothing;
	Type type = Type::read;
	bool certain = true; /**< happened; otherwise it may happen at any time after its invocation, or never */
};

class KeyChecker
{
public:
	enum class Result {
		linearizable,
		violated,
		undecided
	};

	/** @param effort configurations to look at for one response */
	explicit KeyChecker(std::size_t effort) : effort_(effort) {}

	/**
	 * @param steps by invocation
	 * @param states numbers below this occur in the steps
	 * @param initial the states that the key may be in before the first step
	 */
	Result run(std::span<const Step> steps, Step::State states, std::span<const Step::State> initial);

	/** Returns the step whose response nothing explains, of a run that was violated. */
	[[nodiscard]] std::size_t culprit() const noexcept { return culprit_; }

	[[nodiscard]] std::size_t most_concurrent() const noexcept { return most_concurrent_; }
	[[nodiscard]] std::size_t most_configurations() const noexcept { return most_configurations_; }

private:
	using State = Step::State;
	using Mask = std::uint64_t; /* bit set of slots */
	static constexpr unsigned slots = 64;

	/*
	 * One possible order of the steps so far. Steps that are neither done nor optional must still be done by the
	 * time of their response. A set is optional as soon as it may have been overwritten unseen: it has happened
	 * just before the step that overwrote it, or it is still to be done, whichever turns out to be needed. So is a
	 * set to nothing, as soon as there was nothing.
	 */
	struct Configuration {
		Mask done = 0;
		Mask optional = 0;
		State state = Step::nothing;
		std::uint32_t sets_used = 0; /* of those with unknown outcome and value */
		std::uint32_t takes_used = 0;
		bool unseen = false; /* only while expanding: the last step was a set that has not been seen yet */

		bool operator==(const Configuration &) const = default;
	};
	struct Hash {
		std::size_t operator()(const Configuration &configuration) const noexcept;
	};

	bool invoke(std::size_t index);
	Result respond(unsigned slot);
	void release_slot(unsigned slot);
	bool make_room(Timestamp time);
	bool is_dead_swap(const Step &step) const;

	bool expand(const Configuration &from, unsigned slot);
	void expand_one(const Configuration &configuration, unsigned slot);
	void expand_set(const Configuration &before, Configuration after);
	void expand_unknown(const Configuration &configuration);
	void look_at(const Configuration &configuration);

	[[nodiscard]] bool possible(const Step &step, State state) const noexcept;
	void apply(Configuration &configuration, const Step &step, Mask bit) const;
	bool note_reads(Configuration &configuration) const;
	[[nodiscard]] bool swap_waits_for(const Configuration &configuration) const noexcept;
	[[nodiscard]] unsigned first_of(Mask same, const Configuration &configuration) const noexcept;
	[[nodiscard]] bool dominates(const Configuration &a, const Configuration &b) const noexcept;
	void prune();

	std::size_t effort_;
	std::span<const Step> steps_;
	std::vector<Timestamp> last_look_;           /* by state: the last response of a step that depends on it */
	std::vector<std::uint32_t> sources_left_;    /* by state: certain steps towards it that are still to end */
	std::vector<std::uint8_t> uncertain_source_; /* by state: a step towards it may happen for ever */

	Mask used_ = 0;
	Mask reads_ = 0, sets_ = 0, takes_ = 0, swaps_ = 0, uncertain_ = 0;
	Mask clears_ = 0; /* of the sets, those to nothing */
	std::array<std::size_t, slots> in_slot_{};
	std::uint32_t unknown_sets_ = 0;
	std::uint32_t unknown_takes_ = 0;

	std::vector<Configuration> configurations_, next_, stack_;
	std::unordered_set<Configuration, Hash> seen_;

	std::size_t culprit_ = 0;
	std::size_t most_concurrent_ = 0;
	std::size_t most_configurations_ = 0;
};

} // namespace prism::test
