/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Protocol by which the replicas of a new volume agree that it is new, so that no replica counts as new once anything
 * may have been written. docs/prism-rs.md, "A new volume"; tests/apps/rs/founding_test.cpp checks it.
 */
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace prism::rs
{

/** The incarnations, by replica, of all replicas that have founded the volume together. */
using Founders = std::vector<std::uint64_t>;

/**
 * One new replica's part of the founding of its volume, independent of the transport. A new replica asks each of the
 * others. It founds the volume when each of them has answered that it is new too, or that it has founded the volume
 * together with this incarnation. It serves when a quorum, itself included, has founded the volume: after the loss of
 * any f replicas, one is left that knows. Any thread.
 */
class Founding
{
public:
	/** @p incarnation: of this replica, random and never 0. The only replica of a volume founds it alone. */
	Founding(unsigned replica, unsigned replicas, std::uint64_t incarnation);

	[[nodiscard]] std::uint64_t incarnation() const noexcept { return incarnation_; }

	/**
	 * Answers replica @p asker, which asks as @p incarnation (not 0). Returns an empty list if the volume is not
	 * founded yet; nothing if it was founded with another incarnation of the asker, which has lost its memory
	 * since, or if there is no such replica.
	 */
	std::optional<Founders> answer(unsigned asker, std::uint64_t incarnation);

	/** Notes that replica @p other is new too, as @p incarnation. */
	void hear_new(unsigned other, std::uint64_t incarnation);
	/** Notes that replica @p other has founded the volume with @p founders. */
	void hear_founded(unsigned other, const Founders &founders);
	/** Forgets all answers, before all others are asked again. */
	void begin_round();

	/** True if the volume is founded. */
	[[nodiscard]] bool founded() const;
	/** True if a quorum has founded it: this replica may serve. */
	[[nodiscard]] bool may_serve() const;

private:
	void found_if_all_agree();

	const unsigned replica_;
	const std::uint64_t incarnation_;
	mutable std::mutex lock_;
	Founders heard_;               /* incarnations of the new replicas, or 0; under lock_, as the others */
	Founders founders_;            /* empty: not founded yet */
	std::vector<Founders> theirs_; /* founders of the volume, as each replica says */
};

} // namespace prism::rs
