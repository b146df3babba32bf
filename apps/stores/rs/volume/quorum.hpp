/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Rounds: the same question to the replicas of a volume, until enough of them have answered. */
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include "rs/volume/session.hpp"

namespace prism::rs
{

/** Value of an answer. */
enum class Verdict : std::uint8_t {
	counts,
	again,   /* ask again, a little later */
	useless, /* not in this round: ask another replica */
	fatal,   /* the round is over; the judge has recorded why */
};

struct RoundOptions {
	unsigned needed = 0; /**< answers needed */
	unsigned at_first =
		0; /**< replicas that are asked at once; the others if one fails, or is slower than the hedge */
	bool reads = false; /**< only replicas that serve are asked */
	Time hedge{};
	std::optional<unsigned> only = {}; /**< only this replica is asked */
};

namespace round
{

/** Time before a replica is asked again if it could not do its task. */
inline constexpr Time pause = std::chrono::microseconds(100);

/** Returns the number of answers that count. Those of an older epoch do not count any more. */
inline unsigned answered(Lane &lane, std::uint64_t epoch) noexcept
{
	unsigned count = 0;
	for (ReplicaRequest &request : lane.requests) {
		if (request.state != ReplicaRequest::State::answered)
			continue;
		if (request.epoch == epoch)
			count++;
		else
			request.state = ReplicaRequest::State::idle;
	}
	return count;
}

inline unsigned asked(const Lane &lane, std::uint64_t epoch) noexcept
{
	unsigned count = 0;
	for (const ReplicaRequest &request : lane.requests)
		count += request.state == ReplicaRequest::State::asked && request.epoch == epoch;
	return count;
}

/** Prepares the lane's next round: forgets answers, and marks requests still under way as late. */
inline void begin(Lane &lane) noexcept
{
	for (ReplicaRequest &request : lane.requests) {
		request.state = request.under_way() ? ReplicaRequest::State::late : ReplicaRequest::State::idle;
		request.again = {};
	}
}

/** Returns true if @p replica can be asked now. */
inline bool can_ask(const VolumeSession &session, const Lane &lane, unsigned replica, const RoundOptions &options,
	Time now) noexcept
{
	const ReplicaView *const view = session.view(replica);
	const ReplicaRequest &request = lane.requests[replica];
	if (options.only && *options.only != replica)
		return false;
	return view && view->epoch == session.epoch() && (view->serving || !options.reads) &&
	       request.state == ReplicaRequest::State::idle && now >= request.again;
}

} // namespace round

/**
 * Asks until options.needed replicas have answered: one round trip if all goes well. Requests that are State::answered
 * at the beginning count as answers. @p ask (ReplicaRequest &, const ReplicaView &) makes the chain. @p judge
 * (ReplicaRequest &, unsigned replica) returns the value of its answer; it is not called for a request that failed,
 * which is asked again once the replica is back. Returns 0; EHOSTUNREACH if the lane's deadline has passed; ECANCELED
 * if an answer was fatal.
 */
template <typename Ask, typename Judge>
apps::Task<int> ask_quorum(VolumeSession &session, Lane &lane, RoundOptions options, Ask ask, Judge judge)
{
	const auto replicas = static_cast<unsigned>(lane.requests.size());
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
		/*
		 * All clients begin with the same replicas for a block, so these have the others' writes. Different
		 * blocks begin with different replicas, so the load is even.
		 */
		for (unsigned i = 0; i < replicas && count < wanted; i++) {
			const unsigned replica = static_cast<unsigned>((lane.block + i) % replicas);
			ReplicaRequest &request = lane.requests[replica];
			if (!round::can_ask(session, lane, replica, options, now))
				continue;
			const ReplicaView &view = *session.view(replica);
			ask(request, view);
			request.epoch = view.epoch;
			request.state = ReplicaRequest::State::asked;
			if (session.post(lane, replica))
				request.state = ReplicaRequest::State::idle;
			else
				count++;
		}
		const Time next = hedged ? now + round::pause : begun + options.hedge;
		co_await Event{lane.waiter, std::min(next, lane.deadline)};
		for (unsigned replica = 0; replica < replicas; replica++) {
			ReplicaRequest &request = lane.requests[replica];
			if (request.state != ReplicaRequest::State::answered || !request.fresh)
				continue;
			request.fresh = false;
			const Verdict verdict = judge(request, replica);
			if (verdict == Verdict::fatal)
				co_return ECANCELED;
			if (verdict == Verdict::counts)
				continue;
			request.state = ReplicaRequest::State::idle;
			request.again = verdict == Verdict::useless ? lane.deadline : session.now() + round::pause;
		}
	}
}

} // namespace prism::rs
