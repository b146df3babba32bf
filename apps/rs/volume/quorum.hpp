/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rounds: the same question to the replicas of a volume, until enough of them have answered.
 */
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include "rs/volume/session.hpp"

namespace prism::rs
{

/** What an answer is worth. */
enum class Verdict : std::uint8_t {
	counts,
	again,   /* ask once more, a little later */
	useless, /* not in this round: ask another */
	fatal,   /* the round is over; the judge has recorded why */
};

struct RoundOptions {
	unsigned needed = 0; /**< answers */
	unsigned at_first =
		0; /**< replicas that are asked at once; the others if one fails, or is slower than the hedge */
	bool reads = false; /**< only replicas that serve are asked */
	Time hedge{};
	std::optional<unsigned> only = {}; /**< only this replica is asked */
};

namespace round
{

/** How soon a replica is asked again that could not do what it was asked to. */
inline constexpr Time pause = std::chrono::microseconds(100);

/** Answers that are there and count. Those of an older epoch do not any more. */
inline unsigned answered(Lane &lane, std::uint64_t epoch) noexcept
{
	unsigned count = 0;
	for (Leg &leg : lane.legs) {
		if (leg.state != Leg::State::answered)
			continue;
		if (leg.epoch == epoch)
			count++;
		else
			leg.state = Leg::State::idle;
	}
	return count;
}

inline unsigned asked(const Lane &lane, std::uint64_t epoch) noexcept
{
	unsigned count = 0;
	for (const Leg &leg : lane.legs)
		count += leg.state == Leg::State::asked && leg.epoch == epoch;
	return count;
}

/** Before a lane's next round: answers are forgotten, and what is still under way will come too late. */
inline void begin(Lane &lane) noexcept
{
	for (Leg &leg : lane.legs) {
		leg.state = leg.under_way() ? Leg::State::late : Leg::State::idle;
		leg.again = {};
	}
}

/** Whether @p replica can be asked now. */
inline bool can_ask(const VolumeSession &session, const Lane &lane, unsigned replica, const RoundOptions &options,
	Time now) noexcept
{
	const ReplicaView *const view = session.view(replica);
	const Leg &leg = lane.legs[replica];
	if (options.only && *options.only != replica)
		return false;
	return view && view->epoch == session.epoch() && (view->serving || !options.reads) &&
	       leg.state == Leg::State::idle && now >= leg.again;
}

} // namespace round

/**
 * Asks until options.needed replicas have answered: a round trip if all goes well. Legs that are Leg::State::answered
 * when it begins count as answers. @p ask (Leg &, const ReplicaView &) makes the leg's chain. @p judge (Leg &, unsigned
 * replica) says what its answer is worth; it is not called for a request that failed, which is asked again once the
 * replica is back. 0; EHOSTUNREACH: the lane's deadline has passed; ECANCELED: an answer was fatal.
 */
template <typename Ask, typename Judge>
apps::Task<int> ask_quorum(VolumeSession &session, Lane &lane, RoundOptions options, Ask ask, Judge judge)
{
	const auto replicas = static_cast<unsigned>(lane.legs.size());
	const Time begun = session.now();
	lane.round_trips++;
	for (;;) {
		const std::uint64_t epoch = session.epoch();
		const Time now = session.now();
		unsigned count = round::answered(lane, epoch);
		if (count >= options.needed)
			co_return 0;
		if (now >= lane.deadline)
			co_return EHOSTUNREACH;
		const bool hedged = now - begun >= options.hedge;
		const unsigned wanted = hedged ? replicas : options.at_first;
		count += round::asked(lane, epoch);
		/* All clients begin with the same replicas for a block, so these have what others have written.
		 * Different blocks begin with different replicas, so the load is even. */
		for (unsigned i = 0; i < replicas && count < wanted; i++) {
			const unsigned replica = static_cast<unsigned>((lane.block + i) % replicas);
			Leg &leg = lane.legs[replica];
			if (!round::can_ask(session, lane, replica, options, now))
				continue;
			const ReplicaView &view = *session.view(replica);
			ask(leg, view);
			leg.epoch = view.epoch;
			leg.state = Leg::State::asked;
			if (session.post(lane, replica))
				leg.state = Leg::State::idle;
			else
				count++;
		}
		const Time next = hedged ? now + round::pause : begun + options.hedge;
		co_await Event{lane.waiter, std::min(next, lane.deadline)};
		for (unsigned replica = 0; replica < replicas; replica++) {
			Leg &leg = lane.legs[replica];
			if (leg.state != Leg::State::answered || !leg.fresh)
				continue;
			leg.fresh = false;
			const Verdict verdict = judge(leg, replica);
			if (verdict == Verdict::fatal)
				co_return ECANCELED;
			if (verdict == Verdict::counts)
				continue;
			leg.state = Leg::State::idle;
			leg.again = verdict == Verdict::useless ? lane.deadline : session.now() + round::pause;
		}
	}
}

} // namespace prism::rs
