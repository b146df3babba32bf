/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How the replicas of a new volume agree that it is new, so that no replica counts as new once anything may have been
 * written. docs/prism-rs.md, "A new volume"; tests/apps/rs/founding_test.cpp checks it.
 */
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace prism::rs
{

/** The incarnations of all replicas that have founded the volume together, by replica. */
using Founders = std::vector<std::uint64_t>;

/**
 * One new replica's part of founding its volume, independent of the transport. A new replica asks each of the others.
 * It founds the volume when each of them has answered that it is new too, or that it has founded the volume together
 * with this incarnation. It serves when a quorum, itself included, has founded the volume: whichever f replicas are
 * lost, one is left that knows. Any thread.
 */
class Founding
{
public:
	/** @p incarnation: of this replica, random and never 0. A volume of one replica is founded by itself. */
	Founding(unsigned replica, unsigned replicas, std::uint64_t incarnation);

	[[nodiscard]] std::uint64_t incarnation() const noexcept { return incarnation_; }

	/**
	 * Replica @p asker asks, as @p incarnation (not 0). Empty: the volume is not founded yet. Nothing: it was
	 * founded with another incarnation of the asker, which has lost its memory since, or there is no such replica.
	 */
	std::optional<Founders> answer(unsigned asker, std::uint64_t incarnation);

	/** Replica @p other is new too, as @p incarnation. */
	void hear_new(unsigned other, std::uint64_t incarnation);
	/** Replica @p other has founded the volume with @p founders. */
	void hear_founded(unsigned other, const Founders &founders);
	/** Forgets all answers, before all others are asked once more. */
	void begin_round();

	/** The volume is founded. */
	[[nodiscard]] bool founded() const;
	/** A quorum has founded it: this replica may serve. */
	[[nodiscard]] bool may_serve() const;

private:
	void found_if_all_agree();

	const unsigned replica_;
	const std::uint64_t incarnation_;
	mutable std::mutex lock_;
	Founders heard_;               /* under lock_, as the others: who is new, by replica; 0: not known */
	Founders founders_;            /* empty: not founded yet */
	std::vector<Founders> theirs_; /* by replica: who has founded it, as it says */
};

} // namespace prism::rs
